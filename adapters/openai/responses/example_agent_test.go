package responses_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/winnowgo/winnow"
	adapter "github.com/winnowgo/winnow/adapters/openai/responses"
	"github.com/winnowgo/winnow/session"
)

const (
	model        = "gpt-6-sol"
	maxTokens    = 8_000
	systemPrompt = "You are a careful engineer."
)

var tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("read", map[string]any{"type": "object"}, false)}

func show(responses.ResponseStreamEventUnion) {}

// An agent's call of its model, streaming and with tools, and the store that keeps its conversations.
func Example_agent() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":"{}"}],"usage":{"input_tokens":42,"output_tokens":5}}}`+"\n\n")
	}))
	defer server.Close()
	dir, err := os.MkdirTemp("", "winnow")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	client := openai.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("none"))
	// README
	ask := func(ctx context.Context, messages []winnow.Message) ([]winnow.Message, error) {
		stream := client.Responses.NewStreaming(ctx, responses.ResponseNewParams{
			Model: model, MaxOutputTokens: openai.Int(maxTokens), Tools: tools, Instructions: openai.String(systemPrompt),
			Input: responses.ResponseNewParamsInputUnion{OfInputItemList: adapter.Export(messages)}, Store: openai.Bool(false),
			Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}, // kept by the codec
		})
		answer, err := adapter.Collect(stream, show)
		if err != nil {
			return nil, err
		}
		return adapter.Response(answer), nil // more than one message only with the API's own tools
	}
	store, err := session.OpenDirectory(dir, &session.Options{
		Codec: adapter.Codec(), // keeps the encrypted reasoning, which the next request sends back
		Manager: func(key string) (int, *winnow.Options) {
			return 0, &winnow.Options{
				Model: model, Reserve: maxTokens, Overhead: 2_000, Summarizer: adapter.NewSummarizer(client, "gpt-6-luna", 0),
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
	answer, err := s.DoMessages(context.Background(), ask)
	fmt.Println(answer.Calls()[0].Name, answer.Usage.Prompt(), err)
	// Output: read 42 <nil>
}
