package winnow

import (
	"fmt"
	"strings"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/runes"
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
	var b strings.Builder
	b.Grow(r.promptSize())
	b.WriteString("<conversation>\n")
	for i := range r.Messages {
		writeMessage(&b, &r.Messages[i])
	}
	b.WriteString("</conversation>\n\n")
	instruct := summarytext.Initial
	if !runes.IsBlank(r.Previous) {
		b.WriteString("<previous-summary>\n")
		markup.Write(&b, r.Previous)
		b.WriteString("\n</previous-summary>\n\n")
		instruct = summarytext.Update
	}
	b.WriteString(instruct)
	b.WriteString("\n\n")
	b.WriteString(summarytext.Sections)
	if r.MaxTokens > 0 {
		fmt.Fprintf(&b, "\n\nThe summary must be shorter than %d tokens.", r.MaxTokens)
	}
	if extra := strings.TrimSpace(r.Instructions); extra != "" {
		b.WriteString("\n\nAdditional focus:\n")
		markup.Write(&b, extra)
	}
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
	return n + n/16
}

func writeMessage(b *strings.Builder, m *Message) {
	b.WriteString("<message from=\"")
	switch {
	case m.Summary:
		b.WriteString("summary")
	case m.Role == RoleUser && m.Injected:
		b.WriteString("host\" untrusted=\"true")
	case m.Role == RoleUser, m.Role == RoleAssistant, m.Role == RoleSystem:
		b.WriteString(string(m.Role))
	default:
		b.WriteString("tool\" untrusted=\"true")
		writeAttribute(b, "tool", m.ToolName)
		if m.IsError {
			b.WriteString(`" failed="true`)
		}
		exit, status := toolcall.Outcome(m.Details)
		writeAttribute(b, "exit-code", exit)
		writeAttribute(b, "status", status)
	}
	b.WriteString("\">\n")
	for i := range m.Parts {
		writePart(b, &m.Parts[i])
	}
	b.WriteString("</message>\n")
}

func writePart(b *strings.Builder, p *Part) {
	switch p.Kind {
	case KindText:
		writeLine(b, p.Text)
	case KindThinking:
		if !runes.IsBlank(p.Text) {
			b.WriteString("<thinking>\n")
			writeLine(b, p.Text)
			b.WriteString("</thinking>\n")
		}
	case KindToolCall:
		b.WriteString("<tool-call name=\"")
		markup.Write(b, markup.Attribute(p.Name))
		b.WriteString("\">")
		markup.Write(b, jsontext.Unquote(p.Arguments))
		b.WriteString("</tool-call>\n")
	default:
		writeLine(b, placeholder(p))
	}
}

func writeLine(b *strings.Builder, s string) {
	if s == "" {
		return
	}
	markup.Write(b, s)
	if !strings.HasSuffix(s, "\n") {
		b.WriteByte('\n')
	}
}

// placeholder stands for a part that has no text.
func placeholder(p *Part) string {
	if p.Kind == KindImage {
		return "[image]"
	}
	if p.MediaType != "" {
		return "[attachment: " + markup.Attribute(p.MediaType) + "]"
	}
	return "[attachment]"
}

// writeAttribute continues an open attribute list with name="value, the closing quote left out.
func writeAttribute(b *strings.Builder, name, value string) {
	if value = markup.Attribute(value); value == "" {
		return
	}
	b.WriteString("\" ")
	b.WriteString(name)
	b.WriteString("=\"")
	markup.Write(b, value)
}
