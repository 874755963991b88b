package eino

import (
	"context"
	"strings"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// NewSummarizer returns a summarizer that asks a chat model without bound tools. maxTokens limits the answer; 0 means
// the limit that each request asks for. If ResponseMeta.FinishReason does not say that the model finished, the error
// wraps [winnow.ErrIncomplete]. Errors of the model are wrapped.
func NewSummarizer(chat model.BaseChatModel, maxTokens int, options ...model.Option) winnow.Summarizer {
	return winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		options := append([]model.Option{model.WithMaxTokens(adapter.AnswerTokens(&req, maxTokens))}, options...)
		prompt := []*schema.Message{schema.SystemMessage(req.System()), schema.UserMessage(req.Prompt())}
		answer, err := chat.Generate(ctx, prompt, options...)
		if err != nil || answer == nil {
			return "", adapter.Failed("eino", err)
		}
		m := Response(answer)
		// Most of Eino's models say "stop", some of them with a call. Gemini says "STOP", and Claude "end_turn".
		m.StopReason = strings.ToLower(m.StopReason)
		return adapter.Summary(ctx, "eino", &m, "stop", "end_turn")
	})
}
