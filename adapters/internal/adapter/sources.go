package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/winnowgo/winnow"
)

// Sources stores the values of an SDK beside winnow's messages: it is the session.Codec of an adapter for values of
// type T. It stores a value only if winnow's form alone does not export to the same bytes.
type Sources[T any] struct {
	ID     string // stored, so it must never change
	Import func([]T) []winnow.Message
	Export func([]winnow.Message) []T
	// Values returns the values that the first n messages make up completely. n is 0 if there are none.
	Values func(messages []winnow.Message) (values []T, n int)
	// Read decodes a value from a JSON text. Encoding the value gives the same bytes.
	Read func(json.RawMessage) (T, error)
	// NamesOfCalls says that a result without a source is sent with the name of its call instead of its own.
	NamesOfCalls bool
	// Made reports whether an import made up an id, from the messages before it (nil: it never does).
	Made func(id string) bool
}

// source is what is stored with a message.
type source struct {
	Values []json.RawMessage `json:"values,omitempty"` // set in their first message
	Count  int               `json:"count,omitempty"`  // number of messages made from them
	First  bool              `json:"first,omitempty"`
	Behind int               `json:"behind,omitempty"` // index of this message among them, from 1
}

// Name returns the name of the SDK.
func (s *Sources[T]) Name() string { return s.ID }

// Encode implements [session.Codec].
func (s *Sources[T]) Encode(messages []winnow.Message) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(messages))
	for i := 0; i < len(messages); {
		values, n := s.Values(messages[i:])
		if n == 0 {
			i++
			continue
		}
		group := messages[i : i+n]
		texts, err := marshalAll(values)
		if err != nil {
			return nil, fmt.Errorf("%s: message %d: %w", s.ID, i, err)
		}
		if s.needs(group, texts) {
			first := source{Values: texts, Count: n, First: isFirst(&group[0])}
			if out[i], err = json.Marshal(first); err != nil {
				return nil, fmt.Errorf("%s: message %d: %w", s.ID, i, err)
			}
			for k := 1; k < n; k++ {
				out[i+k] = json.RawMessage(fmt.Sprintf(`{"behind":%d}`, k))
			}
		}
		i += n
	}
	return out, nil
}

// needs reports whether exporting the messages alone does not give texts.
func (s *Sources[T]) needs(group []winnow.Message, texts []json.RawMessage) bool {
	if isFirst(&group[0]) && group[0].Role == winnow.RoleAssistant {
		return true // the export must put nothing in front of it
	}
	before := s.lead(group)
	n := len(s.Export(before))
	all := s.Export(append(before, bare(group)...))
	if len(all) != n+len(texts) {
		return true
	}
	alone, err := marshalAll(all[n:])
	return err != nil || !slices.EqualFunc(alone, texts, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

// lead returns messages to put before a group so that it is exported as in a conversation: a question, and the calls of
// the results.
func (s *Sources[T]) lead(group []winnow.Message) []winnow.Message {
	before := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "."}}}}
	calls := winnow.Message{Role: winnow.RoleAssistant}
	for i := range group {
		m := &group[i]
		if m.Role != winnow.RoleTool {
			continue
		}
		call := winnow.Part{Kind: winnow.KindToolCall, ID: m.ToolCallID, Name: m.ToolName,
			Arguments: json.RawMessage("{}")}
		if call.Name == "" || s.NamesOfCalls { // the name is unknown here
			call.Name = "another"
		}
		calls.Parts = append(calls.Parts, call)
	}
	if len(calls.Parts) > 0 {
		before = append(before, calls)
	}
	return before
}

// bare returns messages without their sources.
func bare(messages []winnow.Message) []winnow.Message {
	messages = slices.Clone(messages)
	for i := range messages {
		messages[i].Source = nil
		messages[i].Parts = slices.Clone(messages[i].Parts)
		for k := range messages[i].Parts {
			messages[i].Parts[k].Source = nil
		}
	}
	return messages
}

func marshalAll[T any](values []T) ([]json.RawMessage, error) {
	texts := make([]json.RawMessage, len(values))
	for i := range values {
		text, err := json.Marshal(values[i])
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return texts, nil
}

// Decode sets the sources of messages. If a message of a value is missing, or differs from the value, the messages of
// that value get no source.
func (s *Sources[T]) Decode(messages []winnow.Message, sources []json.RawMessage) error {
	if len(sources) != len(messages) {
		return fmt.Errorf("%s: %d sources for %d messages", s.ID, len(sources), len(messages))
	}
	stored := make([]source, len(sources))
	for i, text := range sources {
		if text == nil {
			continue
		}
		if err := json.Unmarshal(text, &stored[i]); err != nil {
			return fmt.Errorf("%s: the source of message %d: %w", s.ID, i, err)
		}
	}
	for i := range stored {
		if n := max(stored[i].Count, 1); len(stored[i].Values) > 0 && areTogether(stored[i:], n) {
			if err := s.restore(messages[i:i+n], &stored[i]); err != nil {
				return fmt.Errorf("%s: the source of message %d: %w", s.ID, i, err)
			}
		}
	}
	return nil
}

// areTogether reports whether the first n belong to one value.
func areTogether(stored []source, n int) bool {
	if n > len(stored) {
		return false
	}
	for k := 1; k < n; k++ {
		if stored[k].Behind != k {
			return false
		}
	}
	return true
}

// restore sets the sources of the messages of one group.
func (s *Sources[T]) restore(group []winnow.Message, of *source) error {
	values := make([]T, len(of.Values))
	for i, text := range of.Values {
		var err error
		if values[i], err = s.Read(text); err != nil {
			return err
		}
	}
	imported := s.Import(values)
	if len(imported) != len(group) {
		return nil
	}
	from := make([]int, len(group))
	used := make([]bool, len(group))
	for i := range group {
		k := s.match(&group[i], imported, used, i)
		if k < 0 {
			return nil
		}
		from[i], used[k] = k, true
	}
	for i := range group {
		m := &imported[from[i]]
		group[i].Source = m.Source
		parts := slices.Clone(group[i].Parts) // others may share them
		for k := range parts {
			parts[k].Source = m.Parts[k].Source
		}
		group[i].Parts = parts
		if p, ok := m.Source.(piece); ok {
			p.place(i, of.First)
		}
	}
	return nil
}

// match returns the index of m in imported, or -1. Results are in the order of their calls, which is unknown here, so
// match compares ids. If the value has no ids, it takes the message in the place of m, or else one with the same
// content.
func (s *Sources[T]) match(m *winnow.Message, imported []winnow.Message, used []bool, place int) int {
	for k := range imported {
		if !used[k] && m.ToolCallID != "" && imported[k].ToolCallID == m.ToolCallID && s.readsAs(m, &imported[k]) {
			return k
		}
	}
	is := func(k int) bool {
		return !used[k] && s.sameID(m.ToolCallID, imported[k].ToolCallID) && s.readsAs(m, &imported[k])
	}
	if is(place) {
		return place
	}
	for k := range imported {
		if imported[k].ToolName == m.ToolName && is(k) {
			return k
		}
	}
	return -1
}

// sameID reports whether the ids of a message or call fit. Ids that an import makes up from earlier messages fit any
// id.
func (s *Sources[T]) sameID(id, imported string) bool {
	if id == imported {
		return true
	}
	isMade := func(id string) bool { return id == "" || s.Made != nil && s.Made(id) }
	return isMade(id) && isMade(imported)
}

// readsAs reports whether m has the content of imported. It does not compare names, which an import may find in earlier
// messages.
func (s *Sources[T]) readsAs(m, imported *winnow.Message) bool {
	return m.Role == imported.Role && slices.EqualFunc(m.Parts, imported.Parts, func(a, b winnow.Part) bool {
		sameText := a.Kind == b.Kind && a.Text == b.Text && a.Signature == b.Signature
		sameData := a.MediaType == b.MediaType && a.Bytes == b.Bytes
		return sameText && sameData && s.sameID(a.ID, b.ID) && a.Name == b.Name && sameJSON(a.Arguments, b.Arguments)
	})
}

// sameJSON compares JSON texts, ignoring white space between tokens, which a store may remove.
func sameJSON(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || bytes.Equal(compact(a), compact(b))
}

func compact(text json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return text
	}
	return b.Bytes()
}

// Param is a value of an SDK that may be given as JSON, by param.Override.
type Param interface {
	Overrides() (value any, given bool)
	json.Marshaler
}

// Raw returns the JSON that is sent for v: nil if v cannot be encoded.
func Raw(v Param) json.RawMessage {
	value, _ := v.Overrides()
	switch value := value.(type) {
	case json.RawMessage:
		return value
	case Param: // a value of another API
		return Raw(value)
	}
	raw, err := v.MarshalJSON()
	if err != nil {
		return nil
	}
	return raw
}

// ReadExactly is a [Sources.Read] for types whose values may be given as JSON, by override. It gives those as JSON that
// would not encode to the same bytes, as encoding/json escapes them. mend sets what the SDK decodes into something
// else.
func ReadExactly[T any](override func(any) T, mend ...func(*T, json.RawMessage)) func(json.RawMessage) (T, error) {
	return func(text json.RawMessage) (T, error) {
		var v T
		if json.Unmarshal(text, &v) == nil {
			for _, f := range mend {
				f(&v, text)
			}
			var escaped bytes.Buffer
			json.HTMLEscape(&escaped, compact(text))
			if again, err := json.Marshal(v); err == nil && bytes.Equal(again, escaped.Bytes()) {
				return v, nil
			}
		}
		return override(text), nil
	}
}
