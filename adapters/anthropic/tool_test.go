package anthropic

import (
	"context"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

const recallAnswer = `{"id":"msg_1","type":"message","role":"assistant","model":"claude","stop_reason":"tool_use","content":[
	{"type":"tool_use","id":"toolu_1","name":"recall","input":{"handle":"HANDLE","pattern":"limit"}}],"usage":{"input_tokens":10,"output_tokens":4}}`

func sentTool(body map[string]any) map[string]any {
	tool := body["tools"].([]any)[0].(map[string]any)
	return map[string]any{"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]}
}

func TestRecall(t *testing.T) {
	adaptertest.CheckRecall(t, adaptertest.Recall{Answer: recallAnswer, Tool: sentTool, Ask: func(ctx context.Context, url string, messages []winnow.Message, tool winnow.Tool) (winnow.Message, error) {
		return asMessage(clientOf(url).Messages.New(ctx, sdk.MessageNewParams{Model: "claude", MaxTokens: 1, Messages: Export(messages), Tools: []sdk.ToolUnionParam{Tool(tool)}}))
	}})
}

func TestRecallBeta(t *testing.T) {
	adaptertest.CheckRecall(t, adaptertest.Recall{Answer: recallAnswer, Tool: sentTool, Ask: func(ctx context.Context, url string, messages []winnow.Message, tool winnow.Tool) (winnow.Message, error) {
		return asBetaMessage(clientOf(url).Beta.Messages.New(ctx, sdk.BetaMessageNewParams{Model: "claude", MaxTokens: 1, Messages: ExportBeta(messages), Tools: []sdk.BetaToolUnionParam{ToolBeta(tool)}}))
	}})
}

// A schema keeps what the SDK has no field for, and the names of the arguments that are required.
func TestToolSchema(t *testing.T) {
	tool := Tool(winnow.Tool{Name: "x", Schema: []byte(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)})
	assert.JSONEq(t, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, jsonOf(t, tool.OfTool.InputSchema))
	assert.JSONEq(t, `{"type":"object"}`, jsonOf(t, Tool(winnow.Tool{Name: "x"}).OfTool.InputSchema), "no arguments")
}
