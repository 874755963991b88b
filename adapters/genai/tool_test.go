package genai

import (
	"context"
	"testing"

	sdk "google.golang.org/genai"

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
			client, err := sdk.NewClient(ctx, &sdk.ClientConfig{APIKey: "none", Backend: sdk.BackendGeminiAPI, HTTPOptions: sdk.HTTPOptions{BaseURL: url}})
			if err != nil {
				return winnow.Message{}, err
			}
			config := &sdk.GenerateContentConfig{Tools: []*sdk.Tool{{FunctionDeclarations: []*sdk.FunctionDeclaration{Tool(tool)}}}}
			answer, err := client.Models.GenerateContent(ctx, "gemini", Export(messages), config)
			if err != nil {
				return winnow.Message{}, err
			}
			return Response(answer), nil
		},
	})
}
