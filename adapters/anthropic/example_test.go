package anthropic_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/winnowgo/winnow"
	adapter "github.com/winnowgo/winnow/adapters/anthropic"
)

// Use it with the SDK's client: the history is a list of winnow's messages.
func Example() {
	client := sdk.NewClient(localServer()...)
	history, err := converse(context.Background(), client, []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("Where is the window set?"))})
	if err != nil {
		panic(err)
	}
	fmt.Println(history[1].Parts[0].Text, history[1].Usage.Prompt(), history[1].StopReason)
	// Output: In window.go. 42 end_turn
}

func converse(ctx context.Context, client sdk.Client, messages []sdk.MessageParam) ([]winnow.Message, error) {
	// README
	m, err := winnow.New(200_000, &winnow.Options{Summarizer: adapter.NewSummarizer(client, sdk.ModelClaudeHaiku4_5, 0)})
	if err != nil {
		return nil, err
	}
	history := adapter.Import(messages)
	answer, _, err := winnow.Do(ctx, m, history, func(ctx context.Context, messages []winnow.Message) (*sdk.Message, error) {
		return client.Messages.New(ctx, sdk.MessageNewParams{
			Model: sdk.ModelClaudeOpus4_5, MaxTokens: 8_000, Messages: adapter.Export(messages),
		})
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
		_, _ = io.WriteString(w, `{"role":"assistant","content":[{"type":"text","text":"In window.go."}],"stop_reason":"end_turn","usage":{"input_tokens":42,"output_tokens":5}}`)
	}))
	return []option.RequestOption{option.WithBaseURL(server.URL), option.WithAPIKey("none")}
}
