package winnow

import (
	"fmt"
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/summarytext"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// System returns the system prompt, the same for every request.
func (r SummaryRequest) System() string { return summarytext.System }

// Prompt returns the user message: the messages and the previous summary as escaped data, and then the instructions.
// Text of the history cannot close the data, forge a role or pass as an instruction. Tool output is labelled untrusted.
// Images, opaque parts and signatures are not shown.
func (r SummaryRequest) Prompt() string {
	var b summarytext.Prompt
	b.Begin()
	for i := range r.Messages {
		writeMessage(&b, &r.Messages[i])
	}
	b.Instruct(r.Previous, r.Said, r.Instructions, r.MaxTokens)
	return b.String()
}

// writeMessage writes m in tags that say whom it is from. What a tool or the host wrote is marked as untrusted.
func writeMessage(b *summarytext.Prompt, m *Message) {
	switch {
	case m.Summary:
		b.From("summary")
	case m.Role == RoleUser && m.Injected && !isLaterResult(m):
		b.FromHost()
	case m.Role == RoleUser && !m.Injected:
		b.FromPerson(m.Speaker, m.Time)
	case m.Role == RoleAssistant, m.Role == RoleSystem:
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

const (
	// What the prompt puts around a message, and around a call, in estimated tokens: the longest label with its
	// attributes is about 110 characters without the name of the tool, which is counted with the call.
	labelOverhead = 28
	// A text is never clipped below this, so that every message says something.
	minClipTokens = 12
)

// forSummary returns history as a summarizer is shown it: without Details, Signature, Source, images and opaque parts.
// Only the arguments of calls share memory with history.
func forSummary(history []Message) []Message {
	out, calls := make([]Message, len(history)), answered{messages: listed(history)}
	for i := range history {
		m := &history[i]
		out[i] = summaryMessage(m, calls.tool(i), make([]Part, 0, len(m.Parts)+1))
	}
	return out
}

// summaryMessage returns m as a summarizer is shown it, with its parts appended to parts. tool is the tool of m, if m
// is a result.
func summaryMessage(m *Message, tool string, parts []Part) Message {
	if outcome := summarytext.Outcome(toolcall.Outcome(m.Details)); outcome != "" { // how the call ended
		parts = append(parts, Part{Text: outcome})
	}
	for k := range m.Parts {
		if p := summaryPart(&m.Parts[k]); p.Kind == KindToolCall || p.Text != "" {
			parts = append(parts, p)
		}
	}
	return Message{
		ID: m.ID, Role: m.Role, Parts: parts, ToolCallID: m.ToolCallID, ToolName: tool, IsError: m.IsError,
		StopReason: m.StopReason, Speaker: m.Speaker, Time: m.Time,
		Pinned: m.Pinned, Injected: m.Injected, Summary: m.Summary,
	}
}

// summaryPart returns what a summarizer may see of a part. An image, an opaque part and data in a text become their
// names.
func summaryPart(p *Part) Part {
	switch p.Kind {
	case KindText, KindThinking:
		return Part{Kind: p.Kind, Text: minify.WithoutData(p.Text, "")}
	case KindToolCall:
		args := p.Arguments
		if !validArguments(args) { // a summarizer may marshal what it gets
			args = jsontext.Quote(string(args))
		}
		return Part{Kind: KindToolCall, ID: p.ID, Name: p.Name, Arguments: args}
	}
	return Part{Text: partLabel(p)}
}

// renderedTokens estimates what m costs in a prompt.
func renderedTokens(e Estimator, m *Message) int {
	return count.Add(estimateWith(e, *m), frameTokens(m))
}

// frameTokens returns the part of renderedTokens that clipping does not change.
func frameTokens(m *Message) int {
	n := labelOverhead
	for range callsOf(m) {
		n += labelOverhead
	}
	return n
}

// fitMessages returns messages clipped to about limit estimated tokens as rendered. The longest texts and
// arguments lose most: all are cut to one height, from their middle. Every message keeps something, even
// where limit is too small for that. The input is not written.
func fitMessages(e Estimator, messages []Message, limit int) []Message {
	// Labels are not clipped: they may take half of the room at most.
	messages = thinMessages(messages, limit/(2*labelOverhead))
	fixed := 0
	var sizes []int // of all parts, in their order
	for i := range messages {
		fixed += frameTokens(&messages[i])
		for k := range messages[i].Parts {
			sizes = append(sizes, partTokens(e, &messages[i], k))
		}
	}
	if count.Add(count.Sum(sizes), fixed) <= limit {
		return messages
	}
	// All texts are cut to one height: short ones stay whole, and long ones keep the same amount.
	height := max(minClipTokens, count.Fair(sizes, max(0, limit-fixed)))
	out := copyMessages(messages)
	for i := range out {
		for k := range out[i].Parts {
			cutMiddle(&out[i].Parts[k], sizes[0], height)
			sizes = sizes[1:]
		}
	}
	return out
}

// cutMiddle cuts the text or the arguments of p, which has `tokens` tokens, from its middle to about limit.
func cutMiddle(p *Part, tokens, limit int) {
	switch {
	case tokens <= limit:
	case p.Kind == KindToolCall:
		p.Arguments = excerpt.MiddleOfJSON(p.Arguments, tokens, limit)
	default:
		p.Text = excerpt.Middle(p.Text, tokens, limit)
	}
}

// thinMessages drops parts from the middle of messages that have more than limit parts: each part has a label, which
// clipping does not shorten.
func thinMessages(messages []Message, limit int) []Message {
	limit = max(4, limit) // a beginning, an end, and the note between them
	var out []Message
	for i := range messages {
		parts := messages[i].Parts
		if len(parts) <= limit {
			continue
		}
		if out == nil {
			out = slices.Clone(messages)
		}
		head, tail := limit/2, limit-limit/2-1
		kept := slices.Clone(parts[:head])
		kept = append(kept, Part{Text: fmt.Sprintf("[… %d parts left out …]", len(parts)-head-tail)})
		out[i].Parts = append(kept, parts[len(parts)-tail:]...)
	}
	if out == nil {
		return messages
	}
	return out
}
