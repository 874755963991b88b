package genai

import (
	"context"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// NewSummarizer returns a summarizer that asks model. maxTokens limits the answer; 0 means the limit that each request
// asks for. config may be nil; its system instruction, its limit of the answer and its tools are replaced. If the model
// did not finish its answer, the error wraps [winnow.ErrIncomplete]. Errors of the SDK are wrapped.
//
// Thinking counts against the same limit: give thinking models a ThinkingConfig that leaves room for the answer.
func NewSummarizer(client *sdk.Client, model string, maxTokens int,
	config *sdk.GenerateContentConfig) winnow.Summarizer {
	var own sdk.GenerateContentConfig
	if config != nil {
		own = *config
	}
	return winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		config := own
		config.SystemInstruction = sdk.NewContentFromText(req.System(), sdk.RoleUser)
		config.MaxOutputTokens = int32(min(adapter.AnswerTokens(&req, maxTokens), 1<<30))
		config.Tools, config.ToolConfig = nil, nil
		prompt := []*sdk.Content{sdk.NewContentFromText(req.Prompt(), sdk.RoleUser)}
		answer, err := client.Models.GenerateContent(ctx, model, prompt, &config)
		if err != nil {
			return "", adapter.Failed("genai", err)
		}
		m := Response(answer)
		return adapter.Summary(ctx, "genai", &m, string(sdk.FinishReasonStop))
	})
}
