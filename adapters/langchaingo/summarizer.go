package langchaingo

import (
	"context"
	"errors"

	"github.com/tmc/langchaingo/llms"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// NewSummarizer returns a summarizer that asks a model. maxTokens limits the answer; 0 means the limit that each
// request asks for. If the stop reason does not say that the model finished, the error wraps [winnow.ErrIncomplete].
func NewSummarizer(llm llms.Model, maxTokens int, o ...llms.CallOption) winnow.Summarizer {
	return winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		o := append([]llms.CallOption{llms.WithMaxTokens(adapter.AnswerTokens(&req, maxTokens))}, o...)
		answer, err := llm.GenerateContent(ctx, []llms.MessageContent{
			llms.TextParts(llms.ChatMessageTypeSystem, req.System()),
			llms.TextParts(llms.ChatMessageTypeHuman, req.Prompt()),
		}, o...)
		if err != nil && ctx.Err() != nil { // some models say it in their own words
			err = errors.Join(err, context.Cause(ctx))
		}
		if err != nil || answer == nil {
			return "", adapter.Failed("langchaingo", err)
		}
		m := Response(answer)
		return adapter.Summary(ctx, "langchaingo", &m, "stop", "end_turn", "STOP", "FinishReasonStop")
	})
}
