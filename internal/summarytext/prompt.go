package summarytext

import (
	"fmt"
	"strings"
	"time"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/runes"
)

// Prompt writes messages into the prompt of a request: each in tags, and all that stands between them escaped.
type Prompt struct{ strings.Builder }

// Begin begins the conversation.
func (p *Prompt) Begin() { p.WriteString("<conversation>\n") }

// Instruct ends the conversation and says what to write of it: previous is the summary so far, said is what stands in
// front of it, and instructions are the host's. A summary of more than maxTokens is too long; 0 says nothing of its
// length.
func (p *Prompt) Instruct(previous, said, instructions string, maxTokens int) {
	p.WriteString("</conversation>\n\n")
	instruct := Initial
	if !runes.IsBlank(previous) {
		p.data("previous-summary", previous)
		instruct = Update
	}
	if !runes.IsBlank(said) {
		p.data("already-quoted", said)
	}
	p.WriteString(instruct)
	p.WriteString("\n\n")
	if !runes.IsBlank(said) {
		p.WriteString(Quoted)
		p.WriteString("\n\n")
	}
	p.WriteString(Sections)
	if maxTokens > 0 {
		fmt.Fprintf(p, "\n\nThe summary must be shorter than %d tokens.", maxTokens)
	}
	if extra := strings.TrimSpace(instructions); extra != "" {
		p.WriteString("\n\nAdditional focus:\n")
		markup.Write(&p.Builder, extra)
	}
}

// data writes a text that is no message.
func (p *Prompt) data(tag, text string) {
	p.WriteString("<" + tag + ">\n")
	markup.Write(&p.Builder, strings.TrimSpace(text))
	p.WriteString("\n</" + tag + ">\n\n")
}

// FromPerson begins a message of a person, who may have a name. The zero time is not known.
func (p *Prompt) FromPerson(name string, when time.Time) {
	p.WriteString(`<message from="user`)
	p.attribute("name", name)
	if !when.IsZero() {
		p.attribute("time", when.Format("2006-01-02 15:04"))
	}
	p.WriteString("\">\n")
}

// From begins a message of the user, the model or the system, or an earlier summary.
func (p *Prompt) From(who string) {
	p.WriteString(`<message from="` + who + "\">\n")
}

// FromHost begins a message that the host put in a person's place: it may come from anywhere.
func (p *Prompt) FromHost() { p.From(`host" untrusted="true`) }

// FromTool begins the result of a tool.
func (p *Prompt) FromTool(tool string, failed bool, exit, status string) {
	p.WriteString(`<message from="tool" untrusted="true`)
	p.attribute("tool", tool)
	if failed {
		p.WriteString(`" failed="true`)
	}
	p.attribute("exit-code", exit)
	p.attribute("status", status)
	p.WriteString("\">\n")
}

// End ends a message.
func (p *Prompt) End() { p.WriteString("</message>\n") }

// Text writes a text, and ends its line.
func (p *Prompt) Text(s string) {
	if s == "" {
		return
	}
	markup.Write(&p.Builder, s)
	if !strings.HasSuffix(s, "\n") {
		p.WriteByte('\n')
	}
}

// Thinking writes what the model thought.
func (p *Prompt) Thinking(s string) {
	if !runes.IsBlank(s) {
		p.WriteString("<thinking>\n")
		p.Text(s)
		p.WriteString("</thinking>\n")
	}
}

// Call writes a call of a tool.
func (p *Prompt) Call(tool, arguments string) {
	p.WriteString("<tool-call name=\"")
	markup.Write(&p.Builder, markup.Attribute(tool))
	p.WriteString("\">")
	markup.Write(&p.Builder, arguments)
	p.WriteString("</tool-call>\n")
}

// attribute continues an open attribute list with name="value, the closing quote left out.
func (p *Prompt) attribute(name, value string) {
	if value = markup.Attribute(value); value == "" {
		return
	}
	p.WriteString(`" ` + name + `="`)
	markup.Write(&p.Builder, value)
}

// Image stands for an image, which a summarizer does not see.
const Image = "[image]"

// Attachment stands for a part that has no text.
func Attachment(mediaType string) string {
	if mediaType != "" {
		return "[attachment: " + markup.Attribute(mediaType) + "]"
	}
	return "[attachment]"
}

// Outcome says how a command ended, in front of its output. "" says nothing.
func Outcome(exit, status string) string {
	var fields []string
	if exit != "" {
		fields = append(fields, "exit code "+exit)
	}
	if status != "" {
		fields = append(fields, "status "+markup.Attribute(status))
	}
	if fields == nil {
		return ""
	}
	return "[" + strings.Join(fields, ", ") + "]"
}
