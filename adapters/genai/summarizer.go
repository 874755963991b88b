package genai

import (
	"context"
	"strings"

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
	if config == nil {
		config = &sdk.GenerateContentConfig{}
	}
	return &summarizer{client, model, maxTokens, *config}
}

type summarizer struct {
	client    *sdk.Client
	model     string
	maxTokens int
	config    sdk.GenerateContentConfig
}

// Summarize implements [winnow.Summarizer].
func (s *summarizer) Summarize(ctx context.Context, req winnow.SummaryRequest) (string, error) {
	config := s.config
	config.SystemInstruction = sdk.NewContentFromText(req.System(), sdk.RoleUser)
	config.MaxOutputTokens = int32(min(adapter.AnswerTokens(&req, s.maxTokens), 1<<30))
	config.Tools, config.ToolConfig = nil, nil
	answer, err := s.client.Models.GenerateContent(ctx, s.model,
		[]*sdk.Content{sdk.NewContentFromText(req.Prompt(), sdk.RoleUser)}, &config)
	if err != nil {
		return "", adapter.Failed("genai", err)
	}
	m := Response(answer)
	if m.Usage != nil {
		winnow.ReportUsage(ctx, *m.Usage)
	}
	if m.StopReason != string(sdk.FinishReasonStop) {
		return "", adapter.Incomplete("genai", m.StopReason)
	}
	var text strings.Builder
	for _, p := range m.Parts {
		switch p.Kind {
		case winnow.KindToolCall:
			return "", adapter.Incomplete("genai", "a function call")
		case winnow.KindText:
			text.WriteString(p.Text)
		}
	}
	return text.String(), nil
}
