package histories

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
)

// Properties of a history that can be checked without the library.

// IsSound reports whether a repair has no reason to change message i, whatever happens to the others.
func IsSound(h []winnow.Message, i int) bool {
	m := &h[i]
	if len(m.Parts) == 0 || m.StopReason == "error" || m.StopReason == "aborted" {
		return false
	}
	var ids []string
	content := false
	for _, p := range m.Parts {
		if p.Kind == winnow.KindText && p.Text == "" || len(p.Arguments) > 0 && !json.Valid(p.Arguments) {
			return false
		}
		if p.Kind == winnow.KindToolCall {
			ids = append(ids, p.ID)
		}
		content = content || p.Kind != winnow.KindThinking
	}
	if last := m.Parts[len(m.Parts)-1]; last.Kind == winnow.KindThinking || !content {
		return false
	}
	if m.Role == winnow.RoleTool { // directly after its call, among its results
		ids = append(ids, m.ToolCallID)
		k := i
		for k >= 0 && h[k].Role == winnow.RoleTool {
			k--
		}
		if k < 0 || Failed(&h[k]) || !slices.ContainsFunc(h[k].Parts,
			func(p winnow.Part) bool { return p.Kind == winnow.KindToolCall && p.ID == m.ToolCallID }) {
			return false
		}
	}
	for _, id := range ids {
		if calls, results := countID(h, id); id == "" || calls != 1 || m.Role == winnow.RoleTool && results != 1 {
			return false
		}
	}
	return true
}

// Failed reports whether m is a failed turn: its calls may be incomplete.
func Failed(m *winnow.Message) bool { return m.StopReason == "error" || m.StopReason == "aborted" }

func countID(h []winnow.Message, id string) (calls, results int) {
	for i := range h {
		if h[i].Role == winnow.RoleTool && h[i].ToolCallID == id {
			results++
		}
		for _, p := range h[i].Parts {
			if p.Kind == winnow.KindToolCall && p.ID == id && h[i].Role == winnow.RoleAssistant {
				calls++
			}
		}
	}
	return calls, results
}

// Leads reports whether an assistant message comes before any user message with content.
func Leads(h []winnow.Message) bool {
	for i := range h {
		m := h[i]
		switch {
		case m.Role == winnow.RoleSystem || m.Role == winnow.RoleTool:
			continue
		case m.Role == winnow.RoleAssistant && Failed(&m):
			m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p winnow.Part) bool {
				return p.Kind == winnow.KindToolCall
			})
		}
		if HasContent(&m) {
			return m.Role == winnow.RoleAssistant && !m.Summary
		}
	}
	return false
}

// HasContent reports whether m holds something besides thinking and empty texts.
func HasContent(m *winnow.Message) bool {
	for _, p := range m.Parts {
		if p.Kind != winnow.KindThinking && (p.Kind != winnow.KindText || p.Text != "") {
			return true
		}
	}
	return false
}

// ValidText reports whether all texts of h are valid UTF-8.
func ValidText(h []winnow.Message) bool {
	for i := range h {
		for _, p := range h[i].Parts {
			if !utf8.ValidString(p.Text) {
				return false
			}
		}
	}
	return true
}
