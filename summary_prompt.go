package winnow

import (
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/summarytext"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// System returns the system prompt of the request. It is the same for every request.
func (r SummaryRequest) System() string { return summarytext.System }

// Prompt returns the one user message of the request: the messages and the previous summary as escaped data, and then
// the instructions. Text of the history cannot close the data, forge a role or pass as an instruction: whatever in it a
// lenient reader could take for one of the library's tags, for a role or for a control token of a chat template has its
// bracket written as &lt; or &#91;. Tool output is labelled untrusted. Of Details only exitCode and status are named;
// images and opaque parts are named and not shown; signatures are left out. Invalid UTF-8 becomes U+FFFD. It takes time
// linear in the text.
func (r SummaryRequest) Prompt() string {
	var b summarytext.Prompt
	b.Grow(r.promptSize())
	b.Begin()
	for i := range r.Messages {
		writeMessage(&b, &r.Messages[i])
	}
	b.Instruct(r.Previous, r.Instructions, r.MaxTokens)
	return b.String()
}

// promptSize is about the length of the prompt, to allocate it once.
func (r *SummaryRequest) promptSize() int {
	n := 3_000 + len(r.Previous) + len(r.Instructions)
	for i := range r.Messages {
		n += 100
		for k := range r.Messages[i].Parts {
			p := &r.Messages[i].Parts[k]
			n += 50 + len(p.Text) + len(p.Arguments)
		}
	}
	return n + n/16 // for what escaping makes longer
}

// writeMessage writes m in tags that say whom it is from. What a tool or the host wrote is marked as untrusted.
func writeMessage(b *summarytext.Prompt, m *Message) {
	switch {
	case m.Summary:
		b.From("summary")
	case m.Role == RoleUser && m.Injected && !isLaterResult(m):
		b.FromHost()
	case m.Role == RoleUser && !m.Injected, m.Role == RoleAssistant, m.Role == RoleSystem:
		b.From(string(m.Role))
	default:
		exit, status := toolcall.Outcome(m.Details)
		b.FromTool(m.ToolName, m.IsError, exit, status)
	}
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case KindText:
			b.Text(p.Text)
		case KindThinking:
			b.Thinking(p.Text)
		case KindToolCall:
			b.Call(p.Name, jsontext.Unquote(p.Arguments))
		default:
			b.Text(partLabel(p))
		}
	}
	b.End()
}

// partLabel returns the text that stands for a part without one.
func partLabel(p *Part) string {
	if p.Kind == KindImage {
		return summarytext.Image
	}
	return summarytext.Attachment(p.MediaType)
}
