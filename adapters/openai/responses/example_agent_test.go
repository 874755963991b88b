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
	ask := func(ctx context.Context, messages []winnow.Message) (winnow.Message, error) {
		stream := client.Responses.NewStreaming(ctx, responses.ResponseNewParams{
			Model: model, MaxOutputTokens: openai.Int(maxTokens), Tools: tools, Instructions: openai.String(systemPrompt),
			Input: responses.ResponseNewParamsInputUnion{OfInputItemList: adapter.Export(messages)}, Store: openai.Bool(false),
			Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}, // kept by the codec
		})
		answer, err := adapter.Collect(stream, show)
		if err != nil {
			return winnow.Message{}, err
		}
		return adapter.Response(answer)[0], nil // more than one only with the API's own tools
	}
	// END
	answer, err := ask(context.Background(), []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Look."}}}})
	fmt.Println(answer.Parts[0].Name, answer.Usage.Prompt(), err)
	// Output: read 42 <nil>
}
