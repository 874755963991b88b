package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/winnowgo/winnow"
	adapter "github.com/winnowgo/winnow/adapters/openai"
)

// Use it with the SDK's client: the history is a list of winnow's messages.
func Example() {
	client := sdk.NewClient(localServer()...)
	history, err := converse(context.Background(), client, []sdk.ChatCompletionMessageParamUnion{sdk.UserMessage("Where is the window set?")})
	if err != nil {
		panic(err)
	}
	fmt.Println(history[1].Parts[0].Text, history[1].Usage.Prompt(), history[1].StopReason)
	// Output: In window.go. 42 stop
}

func converse(ctx context.Context, client sdk.Client, messages []sdk.ChatCompletionMessageParamUnion) ([]winnow.Message, error) {
	// README
	m, err := winnow.New(272_000, &winnow.Options{Summarizer: adapter.NewSummarizer(client, "gpt-6-luna", 0)})
	if err != nil {
		return nil, err
	}
	history := adapter.Import(messages)
	answer, _, err := winnow.Do(ctx, m, history, func(ctx context.Context, messages []winnow.Message) (*sdk.ChatCompletion, error) {
		return client.Chat.Completions.New(ctx, sdk.ChatCompletionNewParams{Model: "gpt-6-sol", Messages: adapter.Export(messages)})
	})
	if err != nil {
		return nil, err
	}
	return append(history, adapter.Response(answer)), nil
	// END
}

// localServer stands in for the API.
func localServer() []option.RequestOption {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"In window.go."}}],"usage":{"prompt_tokens":42,"completion_tokens":5}}`)
	}))
	return []option.RequestOption{option.WithBaseURL(server.URL), option.WithAPIKey("none")}
}
