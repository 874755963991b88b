package openai

import (
	"context"
	"testing"

	sdk "github.com/openai/openai-go/v3"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

func TestRecall(t *testing.T) {
	adaptertest.CheckRecall(t, adaptertest.Recall{
		Answer: `{"id":"chatcmpl-1","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":null,
			"tool_calls":[{"id":"call_x","type":"function","function":{"name":"recall","arguments":"{\"handle\":\"HANDLE\",\"pattern\":\"limit\"}"}}]}}]}`,
		Tool: func(body map[string]any) map[string]any {
			return body["tools"].([]any)[0].(map[string]any)["function"].(map[string]any)
		},
		Ask: func(ctx context.Context, url string, messages []winnow.Message, tool winnow.Tool) (winnow.Message, error) {
			return asMessage(clientOf(url).Chat.Completions.New(ctx, sdk.ChatCompletionNewParams{Model: "gpt", Messages: Export(messages), Tools: []sdk.ChatCompletionToolUnionParam{Tool(tool)}}))
		},
	})
}
