package genai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	adapter "github.com/winnowgo/winnow/adapters/genai"
	"github.com/winnowgo/winnow/session"
)

const (
	model        = "gemini-3.8-flash"
	maxTokens    = 8_000
	systemPrompt = "You are a careful engineer."
)

var functions = []*sdk.FunctionDeclaration{{Name: "read"}}

func show(*sdk.GenerateContentResponse) {}

// An agent's call of its model, streaming and with tools, and the store that keeps its conversations.
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
	dir, err := os.MkdirTemp("", "winnow")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	// README
	config := &sdk.GenerateContentConfig{
		SystemInstruction: sdk.NewContentFromText(systemPrompt, sdk.RoleUser), MaxOutputTokens: maxTokens,
		Tools: []*sdk.Tool{{FunctionDeclarations: functions}},
	}
	ask := func(ctx context.Context, messages []winnow.Message) (winnow.Message, error) {
		stream := client.Models.GenerateContentStream(ctx, model, adapter.Export(messages), config)
		answer, err := adapter.Collect(stream, show)
		if err != nil {
			return winnow.Message{}, err
		}
		return adapter.Response(answer), nil
	}
	store, err := session.OpenDirectory(dir, &session.Options{
		Codec: adapter.Codec(), // keeps thought signatures, and calls as the API made them: without ids
		Manager: func(key string) (int, *winnow.Options) {
			return 0, &winnow.Options{
				Model: model, Reserve: maxTokens, Overhead: 2_000, Summarizer: adapter.NewSummarizer(client, "gemini-3.5-flash", 0, nil),
			}
		},
	})
	// END
	if err != nil {
		panic(err)
	}
	defer store.Close()
	s, err := store.Open(context.Background(), "user:42")
	if err != nil {
		panic(err)
	}
	defer s.Close()
	if err := s.Append(context.Background(), session.User("Look.")); err != nil {
		panic(err)
	}
	answer, err := s.Do(context.Background(), ask)
	fmt.Println(answer.Calls()[0].Name, answer.Usage.Prompt(), err)
	// Output: read 42 <nil>
}
