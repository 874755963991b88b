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
	return winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		answer, err := client.Responses.New(ctx, responses.ResponseNewParams{
			Model:           model,
			MaxOutputTokens: sdk.Int(int64(adapter.AnswerTokens(&req, maxTokens))),
			Instructions:    sdk.String(req.System()),
			Input:           responses.ResponseNewParamsInputUnion{OfString: sdk.String(req.Prompt())},
			Store:           sdk.Bool(false),
		}, options...)
		if err != nil {
			return "", adapter.Failed("openai", err)
		}
		m := summaryOf(answer)
		text, err := adapter.Summary(ctx, "openai", &m, string(responses.ResponseStatusCompleted))
		if _, failed := Check(answer, nil); failed != nil {
			return "", fmt.Errorf("%w: %w", adapter.Incomplete("openai", "error"), failed)
		}
		return text, err
	})
}

// summaryOf returns an answer as one message. With a refusal, or an item that no summary has, it ends with that.
func summaryOf(answer *responses.Response) winnow.Message {
	m := winnow.Message{StopReason: stopReason(answer), Usage: usage(&answer.Usage)}
	for _, of := range Response(answer) {
		m.Parts = append(m.Parts, of.Parts...)
	}
	for i := range answer.Output {
		item := &answer.Output[i]
		if item.Type != "message" && item.Type != "reasoning" {
			m.StopReason = item.Type
		}
		for k := range item.Content {
			if item.Content[k].Type == "refusal" {
				m.StopReason = "refusal"
			}
		}
	}
	return m
}
