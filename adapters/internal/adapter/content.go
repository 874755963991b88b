package adapter

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/winnowgo/winnow"
)

// IsBlank reports whether s holds only white space.
func IsBlank(s string) bool { return strings.TrimSpace(s) == "" }

// Marker returns a part that matters to one provider but has no content, such as a cache point. Requests to other
// providers leave it out.
func Marker(source any) winnow.Part {
	return winnow.Part{Kind: winnow.KindOpaque, Tokens: markerTokens, Source: source}
}

// markerTokens is the smallest count that replaces an estimate.
const markerTokens = 1

// IsSilent reports whether p has no text and needs no placeholder: a blank text, a marker, or a signature without text.
func IsSilent(p *winnow.Part) bool {
	switch p.Kind {
	case winnow.KindText:
		return IsBlank(p.Text)
	case winnow.KindOpaque:
		return p.MediaType == "" && (p.Signature != "" || p.Bytes == 0 && p.Tokens == markerTokens)
	}
	return false
}

// Placeholder returns the text for a part whose payload is missing or not allowed in its place. For a summary that
// another provider wrote, that is the summary.
func Placeholder(p *winnow.Part) string {
	if p.MediaType == winnow.MediaCompaction && p.Text != "" {
		return p.Text
	}
	what := "attachment"
	if p.Kind == winnow.KindImage {
		what = "image"
	}
	switch {
	case p.MediaType != "" && p.Bytes > 0:
		return fmt.Sprintf("[%s: %s, %d bytes]", what, p.MediaType, p.Bytes)
	case p.MediaType != "":
		return fmt.Sprintf("[%s: %s]", what, p.MediaType)
	}
	return "[" + what + "]"
}

// Opening is the text of a user's message in front of a conversation that begins with the model.
const Opening = "[The beginning of the conversation is not shown.]"

// TextOf returns the text of a part, or a placeholder if it has none.
func TextOf(p *winnow.Part) string {
	if p.Kind == winnow.KindText {
		return p.Text
	}
	return Placeholder(p)
}

// IsShown reports whether p is sent in a message that is not the model's: only the model thinks and calls.
func IsShown(p *winnow.Part) bool {
	return !IsSilent(p) && p.Kind != winnow.KindThinking && p.Kind != winnow.KindToolCall
}

// Name returns a tool's name in a form that a provider accepts: other bytes become _, and longer names are cut to
// limit.
func Name(name string, limit int, ok func(byte) bool) string {
	if name == "" {
		return "unknown"
	}
	name = name[:min(len(name), limit)]
	for i := range len(name) {
		if !ok(name[i]) {
			b := []byte(name)
			for k := range b {
				if !ok(b[k]) {
					b[k] = '_'
				}
			}
			return string(b)
		}
	}
	return name
}

// IsAssistant reports whether m is sent as the model's. A summary is sent as the user's, whatever its role.
func IsAssistant(m *winnow.Message) bool { return m.Role == winnow.RoleAssistant && !m.Summary }

// Runs yields each message of the model alone, and those between two of them together.
func Runs(messages []winnow.Message) iter.Seq[[]winnow.Message] {
	return func(yield func([]winnow.Message) bool) {
		for begin, end := 0, 0; begin < len(messages); begin = end {
			end = begin + 1
			for !IsAssistant(&messages[begin]) && end < len(messages) && !IsAssistant(&messages[end]) {
				end++
			}
			if !yield(messages[begin:end]) {
				return
			}
		}
	}
}

// Text returns the texts of parts that are not blank, one per line.
func Text(parts []winnow.Part) string {
	if len(parts) == 1 && parts[0].Kind == winnow.KindText {
		return parts[0].Text
	}
	var b strings.Builder
	for i := range parts {
		p := &parts[i]
		if p.Kind != winnow.KindText || IsBlank(p.Text) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// ToolNames remembers the tool of each call, for results that name only the id. The zero value is ready.
type ToolNames struct{ byID map[string]string }

// Add remembers the calls in parts. Those without an id cannot be told apart.
func (n *ToolNames) Add(parts []winnow.Part) {
	for k := range parts {
		if p := &parts[k]; p.Kind == winnow.KindToolCall && p.ID != "" {
			if n.byID == nil {
				n.byID = map[string]string{}
			}
			n.byID[p.ID] = p.Name
		}
	}
}

// Of returns the tool that the newest call with an id called, or "".
func (n *ToolNames) Of(id string) string { return n.byID[id] }

// Size returns how many bytes are sent for v, as JSON. It is only for content that is rare in a long history.
func Size(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(b)
}
