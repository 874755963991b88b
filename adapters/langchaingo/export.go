package langchaingo

import (
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Export returns messages in LangChainGo's form. Those that were not changed since [Import] are the caller's own.
func Export(messages []winnow.Message) []llms.MessageContent {
	v := adapter.Values[llms.MessageContent]{Hollow: isHollow, Results: exportResults, Message: message}
	return v.Export(messages)
}

func isHollow(m *llms.MessageContent) bool {
	for _, p := range m.Parts {
		if t, ok := p.(llms.TextContent); ok && adapter.IsBlank(t.Text) && len(m.Parts) > 1 {
			return true
		}
	}
	return false
}

// exportResults makes a message of each, as OpenAI wants them, or one of all, where the caller had several in one.
func exportResults(results []winnow.Message, ids []string) (out []llms.MessageContent) {
	together := slices.ContainsFunc(results, func(m winnow.Message) bool {
		p := adapter.PieceOf[llms.MessageContent](&m)
		return p != nil && p.Count > 1
	})
	for i := range results {
		m := &results[i]
		r := llms.ToolCallResponse{ToolCallID: ids[i], Name: m.ToolName, Content: adapter.Text(m.Parts)}
		if together && len(out) > 0 {
			out[0].Parts = append(out[0].Parts, r)
			continue
		}
		out = append(out, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{r}})
	}
	return out
}

// message returns a message with the parts of m that are shown, and its calls. It is nothing if there are none.
func message(m *winnow.Message, ids []string) []llms.MessageContent {
	out := llms.MessageContent{Role: llms.ChatMessageTypeHuman}
	switch {
	case ids != nil:
		out.Role = llms.ChatMessageTypeAI
	case m.Role == winnow.RoleSystem:
		out.Role = llms.ChatMessageTypeSystem
	}
	for k := range m.Parts {
		p := &m.Parts[k]
		own, _ := p.Source.(llms.ContentPart)
		switch {
		case p.Kind == winnow.KindToolCall && ids != nil:
			call, isOwn := own.(llms.ToolCall)
			if !isOwn {
				call = llms.ToolCall{Type: "function", FunctionCall: &llms.FunctionCall{
					Name: adapter.Name(p.Name, 64, adapter.Letters), Arguments: string(adapter.Object(p.Arguments))}}
			}
			call.ID = ids[k]
			out.Parts = append(out.Parts, call)
		case !adapter.IsShown(p):
		case own != nil:
			out.Parts = append(out.Parts, own)
		default:
			out.Parts = append(out.Parts, llms.TextContent{Text: adapter.TextOf(p)})
		}
	}
	if len(out.Parts) == 0 {
		return nil
	}
	return []llms.MessageContent{out}
}
