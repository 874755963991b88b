package upkeep

import (
	"bytes"
	"encoding/json"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// An entry whose content was erased keeps what the conversation needs to continue: its place in the tree, the role of a
// message, and which call a result answers.

// leastQuote is how long a text must be, in bytes, to be searched for in other entries. Shorter ones match by accident.
const leastQuote = 16

// leftOf returns what stays of an entry. nil means that all of it stays.
func (v *erasure) leftOf(e *entry.Entry) *entry.Entry {
	left := &entry.Entry{Type: entry.TypeErased}
	switch e.Type {
	case entry.TypeMessage:
		left.Model, left.Message = e.Model, emptied(e.Message)
	case entry.TypeCustomMessage:
		left.Name, left.Message = e.Name, emptied(e.Message)
	case entry.TypeEdit:
		left.Target, left.Omit, left.Message = e.Target, e.Omit, emptied(e.Message)
	case entry.TypeCompaction:
		left.Was, left.Degraded = e.Type, e.Degraded
	case entry.TypeReset: // it ends a log
		left.Type = e.Type
	case entry.TypeState, entry.TypeStatus:
		if e.Full != nil {
			left.Type, left.Full = e.Type, v.withoutErased(e.Full)
		}
	case entry.TypeLeaf, entry.TypeUsage, entry.TypeFlush, entry.TypeErased:
		return nil // it has no text
	}
	return left
}

// emptied returns a message without its content.
func emptied(m *winnow.Message) *winnow.Message {
	if m == nil {
		return nil
	}
	out := &winnow.Message{
		Role: m.Role, Parts: []winnow.Part{}, ToolCallID: m.ToolCallID, ToolName: m.ToolName, IsError: m.IsError,
		StopReason: m.StopReason, Usage: m.Usage, Pinned: m.Pinned, Injected: m.Injected, Summary: m.Summary,
		Transient: m.Transient,
	}
	for _, p := range m.Parts {
		if p.Kind == winnow.KindToolCall {
			call := winnow.Part{Kind: p.Kind, ID: p.ID, Name: p.Name}
			if len(p.Arguments) > 0 {
				call.Arguments = json.RawMessage("{}")
			}
			out.Parts = append(out.Parts, call)
		}
	}
	return out
}

// textsOf returns the texts of an entry, escaped as in a line.
func textsOf(e *entry.Entry) (texts [][]byte) {
	var x jsonl.Encoder
	add := func(text string) {
		if len(text) < leastQuote {
			return
		}
		if quoted, err := x.Marshal(text); err == nil {
			texts = append(texts, bytes.Clone(quoted[1:len(quoted)-1]))
		}
	}
	if e.Message != nil {
		for _, p := range e.Message.Parts {
			add(p.Text)
			if len(p.Arguments) >= leastQuote {
				texts = append(texts, p.Arguments)
			}
		}
	}
	add(e.Summary)
	add(e.Label)
	if e.Info != nil && e.Info.Title != nil {
		add(*e.Info.Title)
	}
	if len(e.Data) >= leastQuote {
		texts = append(texts, e.Data)
	}
	return texts
}
