package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/winnowgo/winnow"
)

// An entry whose content was erased keeps what the conversation needs to continue: its place in the tree, the role of a
// message, and which call a result answers.

// erasedText is what the model sees of a message whose content was erased.
const erasedText = "[erased]"

// leastQuote is how long a text must be, in bytes, to be searched for in other entries. Shorter ones match by accident.
const leastQuote = 16

// leftOf returns what stays of an entry. nil means that all of it stays.
func (v *erasure) leftOf(e *Entry) *Entry {
	left := &Entry{Type: TypeErased}
	switch e.Type {
	case TypeMessage:
		left.Model, left.Message = e.Model, emptied(e.Message)
	case TypeCustomMessage:
		left.Name, left.Message = e.Name, emptied(e.Message)
	case TypeEdit:
		left.Target, left.Omit, left.Message = e.Target, e.Omit, emptied(e.Message)
	case TypeCompaction:
		left.Was, left.Degraded = e.Type, e.Degraded
	case TypeReset: // it ends a log
		left.Type = e.Type
	case TypeState, TypeStatus:
		if e.Full != nil {
			left.Type, left.Full = e.Type, v.withoutErased(e.Full)
		}
	case TypeLeaf, TypeUsage, TypeFlush, TypeErased:
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

// showErased puts the text that the model sees into a message whose content was erased.
func showErased(e *Entry) {
	if e.Type != TypeErased || e.Message == nil {
		return
	}
	for i := range e.Message.Parts {
		if e.Message.Parts[i].Kind == winnow.KindText {
			return
		}
	}
	e.Message.Parts = append([]winnow.Part{{Text: erasedText}}, e.Message.Parts...)
}

// countedAs returns the type that an entry counts as.
func countedAs(e *Entry) Type {
	switch {
	case e.Type != TypeErased:
		return e.Type
	case e.Was != "":
		return e.Was
	case e.Target != "":
		return TypeEdit
	case e.Message != nil && e.Name == "":
		return TypeMessage
	}
	return TypeErased
}

// overwritten returns a line as long as l that holds what is left of its entry.
func overwritten(l *line, left *Entry) ([]byte, error) {
	x := encoder{seal: l.seal}
	sealsIt := l.sealed != "" && isSealed(left.Type)
	if sealsIt { // with its old key: the room suffices
		left.Seq, left.ID, left.ParentID = l.seq, l.id, l.parent
		if err := x.appendSealed(left, l.sealed, original{}); err != nil {
			return nil, err
		}
	} else if err := x.appendBody(left, original{}); err != nil {
		return nil, err
	}
	body := x.lines
	if l.body == nil {
		return overwrittenAny(l, left.Type, body)
	}
	// The head keeps its bytes, except for the type. No id in it has a quote.
	head := l.data[:len(l.data)-crcTail-len(l.body)]
	head = bytes.TrimSuffix(head, []byte(","))
	member := func(t Type) []byte { return appendString([]byte(`,"type":`), string(t)) }
	text := bytes.Replace(head, member(l.kind), member(left.Type), 1)
	if l.sealed != "" && !sealsIt {
		text = bytes.TrimSuffix(text, appendKey(nil, l.sealed))
	}
	text = append(bytes.Clone(text), body...)
	room := len(l.data) - crcTail - len(text)
	if room < 0 {
		return nil, fmt.Errorf("%w: entry %s has no room for what is left of it", ErrTooLarge, l.id)
	}
	text = append(text, bytes.Repeat([]byte(" "), room)...)
	text = appendSum(text, 0)
	return text[:len(text)-1], nil // without the newline
}

// overwrittenAny is overwritten for a line that another program wrote in its own form. It gets no checksum.
func overwrittenAny(l *line, kind Type, body []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(l.data, &members); err != nil {
		return nil, err
	}
	var x encoder
	quoted := func(s string) []byte {
		text, _ := x.marshal(s) // a string never fails
		return text
	}
	text := strconv.AppendInt([]byte(`{"seq":`), l.seq, 10)
	text = append(append(text, `,"id":`...), quoted(l.id)...)
	if l.parent != "" {
		text = append(append(text, `,"parentId":`...), quoted(l.parent)...)
	}
	text = append(append(text, `,"type":`...), quoted(string(kind))...)
	if at, ok := members["time"]; ok {
		text = append(append(text, `,"time":`...), at...)
	}
	if l.at >= 0 {
		text = strconv.AppendInt(append(text, `,"at":`...), l.at, 10)
	}
	if l.batch != [2]int64{} {
		text = strconv.AppendInt(append(text, `,"batch":[`...), l.batch[0], 10)
		text = append(strconv.AppendInt(append(text, ','), l.batch[1], 10), ']')
	}
	text = append(append(text, body...), '}')
	room := len(l.data) - len(text)
	if room < 0 {
		return nil, fmt.Errorf("%w: entry %s has no room for what is left of it", ErrTooLarge, l.id)
	}
	return append(text, bytes.Repeat([]byte(" "), room)...), nil
}

// textsOf returns the texts of an entry, escaped as in a line.
func textsOf(e *Entry) (texts [][]byte) {
	var x encoder
	add := func(text string) {
		if len(text) < leastQuote {
			return
		}
		if quoted, err := x.marshal(text); err == nil {
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
