package genai

import (
	"context"
	"testing"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

func TestRecall(t *testing.T) {
	adaptertest.CheckRecall(t, adaptertest.Recall{
		Answer: `{"responseId":"r1","candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[{"functionCall":{"name":"recall","args":{"handle":"HANDLE","pattern":"limit"}}}]}}]}`,
		Tool: func(body map[string]any) map[string]any {
			tool := body["tools"].([]any)[0].(map[string]any)["functionDeclarations"].([]any)[0].(map[string]any)
			return map[string]any{"name": tool["name"], "description": tool["description"], "parameters": tool["parametersJsonSchema"]}
		},
		Ask: func(ctx context.Context, url string, messages []winnow.Message, tool winnow.Tool) (winnow.Message, error) {
			return asMessage(clientOf(url).Models.GenerateContent(ctx, "gemini", Export(messages), withTool(Tool(tool))))
		},
	})
}
