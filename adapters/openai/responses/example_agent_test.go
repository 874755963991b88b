package responses_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/winnowgo/winnow"
	adapter "github.com/winnowgo/winnow/adapters/openai/responses"
	"github.com/winnowgo/winnow/session"
)

func show(responses.ResponseStreamEventUnion) {}

// The call of the model for the loop of the README, streaming and with tools.
func Example_agent() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":"{}"}],"usage":{"input_tokens":42,"output_tokens":5}}}`+"\n\n")
	}))
	defer server.Close()
	client := openai.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("none"))
	model, systemPrompt, maxTokens := "gpt-6-sol", "You are a careful engineer.", int64(8_000)
	tools := []responses.ToolUnionParam{responses.ToolParamOfFunction("read", map[string]any{"type": "object"}, false)}
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
	// END
	s, err := session.NewMemory(&session.Options{Codec: adapter.Codec()}).Open(context.Background(), "key")
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
