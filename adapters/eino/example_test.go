package eino_test

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/winnowgo/winnow"
	adapter "github.com/winnowgo/winnow/adapters/eino"
)

// Use it with any chat model: the history is a list of winnow's messages.
func Example() {
	history, err := converse(context.Background(), localModel{}, []*schema.Message{schema.UserMessage("Where is the window set?")})
	if err != nil {
		panic(err)
	}
	fmt.Println(history[1].Parts[0].Text, history[1].Usage.Prompt(), history[1].StopReason)
	// Output: In window.go. 42 stop
}

func converse(ctx context.Context, chat model.BaseChatModel, messages []*schema.Message) ([]winnow.Message, error) {
	// README
	m, err := winnow.New(128_000, &winnow.Options{Summarizer: adapter.NewSummarizer(chat, 0)})
	if err != nil {
		return nil, err
	}
	history := adapter.Import(messages)
	answer, _, err := winnow.Do(ctx, m, history, func(ctx context.Context, messages []winnow.Message) (*schema.Message, error) {
		return chat.Generate(ctx, adapter.Export(messages))
	})
	if err != nil {
		return nil, err
	}
	return append(history, adapter.Response(answer)), nil
	// END
}

// localModel stands in for a model.
type localModel struct{}

func (localModel) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	m := schema.AssistantMessage("In window.go.", nil)
	m.ResponseMeta = &schema.ResponseMeta{FinishReason: "stop", Usage: &schema.TokenUsage{PromptTokens: 42, CompletionTokens: 5}}
	return m, nil
}

func (localModel) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return schema.StreamReaderFromArray([]*schema.Message{}), nil
}
