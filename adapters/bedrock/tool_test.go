package bedrock

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

func TestRecall(t *testing.T) {
	adaptertest.CheckRecall(t, adaptertest.Recall{
		Answer: `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"recall","input":{"handle":"HANDLE","pattern":"limit"}}}]}},"stopReason":"tool_use","usage":{}}`,
		Tool: func(body map[string]any) map[string]any {
			tool := body["toolConfig"].(map[string]any)["tools"].([]any)[0].(map[string]any)["toolSpec"].(map[string]any)
			return map[string]any{"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"].(map[string]any)["json"]}
		},
		Ask: func(ctx context.Context, url string, messages []winnow.Message, tool winnow.Tool) (winnow.Message, error) {
			return asMessage(clientOf(url).Converse(ctx, &bedrockruntime.ConverseInput{
				ModelId: aws.String("m"), Messages: Export(messages), ToolConfig: &types.ToolConfiguration{Tools: []types.Tool{Tool(tool)}},
			}))
		},
	})
}
