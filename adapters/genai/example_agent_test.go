package genai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	adapter "github.com/winnowgo/winnow/adapters/genai"
)

func show(*sdk.GenerateContentResponse) {}

// The call of the model for the loop of the README, streaming and with tools.
func Example_agent() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[{"functionCall":{"name":"read"}}]}}],"usageMetadata":{"promptTokenCount":42}}`+"\n\n")
	}))
	defer server.Close()
	client, err := sdk.NewClient(context.Background(), &sdk.ClientConfig{APIKey: "none", Backend: sdk.BackendGeminiAPI, HTTPOptions: sdk.HTTPOptions{BaseURL: server.URL}})
	if err != nil {
		panic(err)
	}
	model, config := "gemini-3.8-flash", &sdk.GenerateContentConfig{
		Tools: []*sdk.Tool{{FunctionDeclarations: []*sdk.FunctionDeclaration{{Name: "read"}}}},
	}
	// README
	ask := func(ctx context.Context, messages []winnow.Message) (winnow.Message, error) {
		stream := client.Models.GenerateContentStream(ctx, model, adapter.Export(messages), config)
		answer, err := adapter.Collect(stream, show) // config has Tools, SystemInstruction and MaxOutputTokens
		if err != nil {
			return winnow.Message{}, err
		}
		return adapter.Response(answer), nil
	}
	// END
	answer, err := ask(context.Background(), []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Look."}}}})
	fmt.Println(answer.Parts[0].Name, answer.Usage.Prompt(), err)
	// Output: read 42 <nil>
}
