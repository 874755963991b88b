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

// Use it with the SDK's client: the history is a list of winnow's messages.
func Example() {
	ctx := context.Background()
	client, err := sdk.NewClient(ctx, localServer())
	if err != nil {
		panic(err)
	}
	history, err := converse(ctx, client, []*sdk.Content{sdk.NewContentFromText("Where is the window set?", sdk.RoleUser)})
	if err != nil {
		panic(err)
	}
	fmt.Println(history[1].Parts[0].Text, history[1].Usage.Prompt(), history[1].StopReason)
	// Output: In window.go. 42 STOP
}

func converse(ctx context.Context, client *sdk.Client, contents []*sdk.Content) ([]winnow.Message, error) {
	// README
	m, err := winnow.New(1_048_576, &winnow.Options{Summarizer: adapter.NewSummarizer(client, "gemini-3.5-flash", 0, nil)})
	if err != nil {
		return nil, err
	}
	history := adapter.Import(contents)
	answer, _, err := winnow.Do(ctx, m, history, func(ctx context.Context, messages []winnow.Message) (*sdk.GenerateContentResponse, error) {
		return client.Models.GenerateContent(ctx, "gemini-3.8-flash", adapter.Export(messages), nil)
	})
	if err != nil {
		return nil, err
	}
	return append(history, adapter.Response(answer)), nil
	// END
}

// localServer stands in for the API.
func localServer() *sdk.ClientConfig {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[{"text":"In window.go."}]}}],"usageMetadata":{"promptTokenCount":42,"candidatesTokenCount":5}}`)
	}))
	return &sdk.ClientConfig{APIKey: "none", Backend: sdk.BackendGeminiAPI, HTTPOptions: sdk.HTTPOptions{BaseURL: server.URL}}
}
