package responses

import (
	"context"
	"testing"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

func TestRecall(t *testing.T) {
	adaptertest.CheckRecall(t, adaptertest.Recall{
		Answer: `{"id":"resp_1","status":"completed","output":[{"id":"fc_1","type":"function_call","call_id":"call_x","name":"recall","arguments":"{\"handle\":\"HANDLE\",\"pattern\":\"limit\"}","status":"completed"}]}`,
		Tool: func(body map[string]any) map[string]any {
			tool := body["tools"].([]any)[0].(map[string]any)
			return map[string]any{"name": tool["name"], "description": tool["description"], "parameters": tool["parameters"]}
		},
		Ask: func(ctx context.Context, url string, messages []winnow.Message, tool winnow.Tool) (winnow.Message, error) {
			return asMessage(clientOf(url).Responses.New(ctx, input(Export(messages), Tool(tool))))
		},
	})
}
