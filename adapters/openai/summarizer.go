package openai

import (
	"context"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// NewSummarizer returns a summarizer that asks model. maxTokens limits the answer; 0 means the limit that each request
// asks for. It sends no tools. If the model did not finish its answer, the error wraps [winnow.ErrIncomplete]. Errors
// of the SDK are wrapped.
//
// The limit is sent as max_completion_tokens. For a server that knows only max_tokens, pass
// option.WithJSONDel("max_completion_tokens") and option.WithJSONSet("max_tokens", n).
func NewSummarizer(client sdk.Client, model sdk.ChatModel, maxTokens int,
	options ...option.RequestOption) winnow.Summarizer {
	return winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		answer, err := client.Chat.Completions.New(ctx, sdk.ChatCompletionNewParams{
			Model:               model,
			MaxCompletionTokens: sdk.Int(int64(adapter.AnswerTokens(&req, maxTokens))),
			Messages:            []union{sdk.SystemMessage(req.System()), sdk.UserMessage(req.Prompt())},
		}, options...)
		if err != nil {
			return "", adapter.Failed("openai", err)
		}
		m := Response(answer)
		if len(answer.Choices) > 0 && answer.Choices[0].Message.Refusal != "" {
			m.StopReason = "refusal"
		}
		return adapter.Summary(ctx, "openai", &m, "stop") // with a call some servers say so, too
	})
}
