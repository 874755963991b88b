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

// Use it with the SDK's client: the history is a list of winnow's messages.
func Example() {
	client := openai.NewClient(localServer()...)
	history, err := converse(context.Background(), client, []adapter.Item{responses.ResponseInputItemParamOfMessage("Where is the window set?", "user")})
	if err != nil {
		panic(err)
	}
	fmt.Println(history[1].Parts[0].Text, history[1].Usage.Prompt(), history[1].StopReason)
	// Output: In window.go. 42 completed
}

func converse(ctx context.Context, client openai.Client, items []adapter.Item) ([]winnow.Message, error) {
	// README
	m, err := winnow.New(272_000, &winnow.Options{Summarizer: adapter.NewSummarizer(client, "gpt-6-luna", 0)})
	if err != nil {
		return nil, err
	}
	history := adapter.Import(items)
	answer, _, err := winnow.Do(ctx, m, history, func(ctx context.Context, messages []winnow.Message) (*responses.Response, error) {
		input := responses.ResponseNewParamsInputUnion{OfInputItemList: adapter.Export(messages)}
		return adapter.Check(client.Responses.New(ctx, responses.ResponseNewParams{
			Model: "gpt-6-sol", Input: input, Store: openai.Bool(false),
			Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}, // sent back
		}))
	})
	if err != nil {
		return nil, err
	}
	return append(history, adapter.Response(answer)...), nil
	// END
}

// localServer stands in for the API.
func localServer() []option.RequestOption {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"completed","output":[{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"In window.go."}]}],"usage":{"input_tokens":42,"output_tokens":5}}`)
	}))
	return []option.RequestOption{option.WithBaseURL(server.URL), option.WithAPIKey("none")}
}
