package responses

import (
	"context"
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// NewSummarizer returns a summarizer that asks model. maxTokens limits the answer; 0 means the limit that each request
// asks for. It sends no tools, and the server keeps nothing. If the model did not finish its answer, the error wraps
// [winnow.ErrIncomplete]. Errors of the SDK are wrapped.
func NewSummarizer(client sdk.Client, model sdk.ResponsesModel, maxTokens int,
	options ...option.RequestOption) winnow.Summarizer {
	return &summarizer{client, model, maxTokens, options}
}

type summarizer struct {
	client    sdk.Client
	model     sdk.ResponsesModel
	maxTokens int
	options   []option.RequestOption
}

// Summarize implements [winnow.Summarizer].
func (s *summarizer) Summarize(ctx context.Context, req winnow.SummaryRequest) (string, error) {
	answer, err := s.client.Responses.New(ctx, responses.ResponseNewParams{
		Model:           s.model,
		MaxOutputTokens: sdk.Int(int64(adapter.AnswerTokens(&req, s.maxTokens))),
		Instructions:    sdk.String(req.System()),
		Input:           responses.ResponseNewParamsInputUnion{OfString: sdk.String(req.Prompt())},
		Store:           sdk.Bool(false),
	}, s.options...)
	if err != nil {
		return "", adapter.Failed("openai", err)
	}
	if u := usage(&answer.Usage); u != nil {
		winnow.ReportUsage(ctx, *u)
	}
	if answer, err = Check(answer, nil); err != nil {
		return "", fmt.Errorf("%w: %w", adapter.Incomplete("openai", "error"), err)
	}
	if answer.Status != responses.ResponseStatusCompleted {
		return "", adapter.Incomplete("openai", stopReason(answer))
	}
	for i := range answer.Output {
		item := &answer.Output[i]
		if item.Type != "message" && item.Type != reasoning {
			return "", adapter.Incomplete("openai", item.Type)
		}
		for k := range item.Content {
			if item.Content[k].Type == "refusal" {
				return "", adapter.Incomplete("openai", "refusal")
			}
		}
	}
	return answer.OutputText(), nil
}
