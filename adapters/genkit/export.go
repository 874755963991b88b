package genkit

import (
	"github.com/firebase/genkit/go/ai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Export returns messages in Genkit's form. Those that were not changed since [Import] are the caller's own.
func Export(messages []winnow.Message) []*ai.Message {
	v := adapter.Values[*ai.Message]{Hollow: isHollow, Results: results, Message: message}
	return v.Export(messages)
}

func isHollow(m **ai.Message) bool {
	for _, p := range (*m).Content {
		if p == nil || p.IsText() && adapter.IsBlank(p.Text) && len((*m).Content) > 1 {
			return true
		}
	}
	return false
}

// results makes one message of them, as Gemini wants them.
func results(list []winnow.Message, ids []string) []*ai.Message {
	out := &ai.Message{Role: ai.RoleTool}
	for i := range list {
		m, r := &list[i], &ai.ToolResponse{Name: list[i].ToolName, Ref: ids[i], Output: ""}
		made := &ai.Part{Kind: ai.PartToolResponse, ToolResponse: r}
		var texts []winnow.Part
		for k := range m.Parts {
			p := &m.Parts[k]
			own, _ := p.Source.(*ai.Part)
			switch {
			case own.IsToolResponse(): // its output stays
				r.Output, made.Metadata = own.ToolResponse.Output, own.Metadata
			case own != nil:
				r.Content = append(r.Content, own)
			case adapter.IsShown(p):
				texts = append(texts, winnow.Part{Text: adapter.TextOf(p)})
			}
		}
		if len(texts) > 0 {
			r.Output = adapter.Text(texts)
		}
		out.Content = append(out.Content, made)
	}
	return []*ai.Message{out}
}

// message returns a message with the parts of m that are shown, and, of the model's, its own thinking and its calls. It
// is nothing if there are none.
func message(m *winnow.Message, ids []string) []*ai.Message {
	out := &ai.Message{Role: ai.RoleUser}
	switch {
	case ids != nil:
		out.Role = ai.RoleModel
	case m.Role == winnow.RoleSystem:
		out.Role = ai.RoleSystem
	}
	for k := range m.Parts {
		p := &m.Parts[k]
		own, _ := p.Source.(*ai.Part)
		switch {
		case p.Kind == winnow.KindToolCall && ids != nil:
			call := &ai.Part{Kind: ai.PartToolRequest}
			if own != nil {
				copied, request := *own, *own.ToolRequest
				call, copied.ToolRequest = &copied, &request
			} else {
				name := adapter.Name(p.Name, 64, adapter.Letters)
				call.ToolRequest = &ai.ToolRequest{Name: name, Input: decoded(p.Arguments)}
			}
			call.ToolRequest.Ref = ids[k]
			out.Content = append(out.Content, call)
		case p.Kind == winnow.KindThinking && own != nil && ids != nil:
			out.Content = append(out.Content, own)
		case !adapter.IsShown(p):
		case own != nil:
			out.Content = append(out.Content, own)
		default:
			out.Content = append(out.Content, ai.NewTextPart(adapter.TextOf(p)))
		}
	}
	if len(out.Content) == 0 {
		return nil
	}
	return []*ai.Message{out}
}
