package anthropic

import (
	"context"
	"strings"

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
	return &summarizer{client, model, maxTokens, options}
}

type summarizer struct {
	client    sdk.Client
	model     sdk.Model
	maxTokens int
	options   []option.RequestOption
}

// Summarize implements [winnow.Summarizer].
func (s *summarizer) Summarize(ctx context.Context, req winnow.SummaryRequest) (string, error) {
	answer, err := s.client.Messages.New(ctx, sdk.MessageNewParams{
		Model:     s.model,
		MaxTokens: int64(min(adapter.AnswerTokens(&req, s.maxTokens), maxAnswerTokens)),
		System:    []sdk.TextBlockParam{{Text: req.System()}},
		Messages:  []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(req.Prompt()))},
	}, s.options...)
	if err != nil {
		return "", adapter.Failed("anthropic", err)
	}
	winnow.ReportUsage(ctx, usage(&answer.Usage))
	if answer.StopReason != sdk.StopReasonEndTurn {
		return "", adapter.Incomplete("anthropic", string(answer.StopReason))
	}
	var text strings.Builder
	for i := range answer.Content {
		if answer.Content[i].Type == "text" {
			text.WriteString(answer.Content[i].Text)
		}
	}
	return text.String(), nil
}
