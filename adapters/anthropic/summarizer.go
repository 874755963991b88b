package anthropic

import (
	"context"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// maxAnswerTokens is the longest answer that the SDK accepts without streaming: it refuses requests that may take more
// than ten minutes, at 128 000 tokens per hour.
const maxAnswerTokens = 21_333

// NewSummarizer returns a summarizer that asks model. maxTokens limits the answer; 0 means the limit that each request
// asks for. It sends no tools. If the answer ended for another reason than the end of the turn, the error wraps
// [winnow.ErrIncomplete]. Errors of the SDK are wrapped.
func NewSummarizer(client sdk.Client, model sdk.Model, maxTokens int,
	options ...option.RequestOption) winnow.Summarizer {
	return winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		answer, err := client.Messages.New(ctx, sdk.MessageNewParams{
			Model:     model,
			MaxTokens: int64(min(adapter.AnswerTokens(&req, maxTokens), maxAnswerTokens)),
			System:    []sdk.TextBlockParam{{Text: req.System()}},
			Messages:  []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(req.Prompt()))},
		}, options...)
		if err != nil {
			return "", adapter.Failed("anthropic", err)
		}
		m := Response(answer)
		return adapter.Summary(ctx, "anthropic", &m, string(sdk.StopReasonEndTurn))
	})
}
