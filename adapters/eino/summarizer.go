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
	return &summarizer{chat, maxTokens, options}
}

type summarizer struct {
	chat      model.BaseChatModel
	maxTokens int
	options   []model.Option
}

// Summarize implements [winnow.Summarizer].
func (s *summarizer) Summarize(ctx context.Context, req winnow.SummaryRequest) (string, error) {
	options := append([]model.Option{model.WithMaxTokens(adapter.AnswerTokens(&req, s.maxTokens))}, s.options...)
	answer, err := s.chat.Generate(ctx,
		[]*schema.Message{schema.SystemMessage(req.System()), schema.UserMessage(req.Prompt())}, options...)
	if err != nil || answer == nil {
		return "", adapter.Failed("eino", err)
	}
	stop, usage := outcome(answer.ResponseMeta)
	if usage != nil {
		winnow.ReportUsage(ctx, *usage)
	}
	switch {
	case !isNatural(stop):
		return "", adapter.Incomplete("eino", stop)
	case len(answer.ToolCalls) > 0: // some models say "stop" then
		return "", adapter.Incomplete("eino", "tool_calls")
	}
	m := Response(answer)
	return adapter.Text(textsOf(&m)), nil
}

// isNatural reports whether a model finished its answer, in the words of Eino's models: most say "stop", Gemini "STOP",
// Claude "end_turn".
func isNatural(stop string) bool {
	return strings.EqualFold(stop, "stop") || strings.EqualFold(stop, "end_turn")
}

// textsOf returns the parts of m that are text.
func textsOf(m *winnow.Message) []winnow.Part {
	var texts []winnow.Part
	for _, p := range m.Parts {
		if p.Kind == winnow.KindText {
			texts = append(texts, p)
		}
	}
	return texts
}
