package genai

import (
	"context"
	"strings"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// NewSummarizer returns a summarizer that asks model. maxTokens is the longest answer; with 0 it is what
// each request asks for. config may be nil; of it nothing but the system instruction, the room for the
// answer and the tools is replaced. The error wraps [winnow.ErrIncomplete] unless the model stopped by
// itself; an error of the SDK is wrapped.
//
// Models that think use the room for the answer for that as well: give a ThinkingConfig that leaves some.
func NewSummarizer(client *sdk.Client, model string, maxTokens int, config *sdk.GenerateContentConfig) winnow.Summarizer {
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
	answer, err := s.client.Models.GenerateContent(ctx, s.model, []*sdk.Content{sdk.NewContentFromText(req.Prompt(), sdk.RoleUser)}, &config)
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
