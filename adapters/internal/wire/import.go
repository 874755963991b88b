package wire

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// Given is a value of an SDK: its JSON, and a pointer to it, nil for one that is new.
type Given struct {
	JSON value
	Of   any
	api  API // that it was read by; nil: it is new
}

// Values are those that a message was read from: one, or the items of an answer.
type Values []Given

// Piece is the Source of an imported message. Its Block is the JSON of a result that is a block among others.
type Piece = adapter.Piece[Values]

// Import reads values of an SDK, whose JSON raw returns.
func Import[T any](api API, values []T, raw func(*T) []byte) []winnow.Message {
	h := &History{api: api}
	r := &h.reader
	r.history = h
	elements := make([]value, len(values))
	for i := range values {
		elements[i] = bytes.TrimSpace(raw(&values[i]))
	}
	h.begin(elements)
	for i, of := range elements {
		h.elements = append(h.elements, element{raw: of})
		api.read(r, of)
		if len(h.elements[i].pieces) == 0 && r.turn == nil { // the API does not show it, and wants it back
			r.part(adapter.Marker(nil), Block{raw: of, isWhole: true})
			r.message(winnow.Message{Role: winnow.RoleSystem}, piece{})
		}
	}
	h.end()
	isFirst := slices.ContainsFunc(h.Messages, isAsked)
	for i := 0; i < len(h.Messages); {
		from, to := h.Messages[i].Source.(*piece).from, h.Messages[i].Source.(*piece).to
		group := h.Messages[i:]
		if n := slices.IndexFunc(group, func(m winnow.Message) bool { return m.Source.(*piece).from != from }); n > 0 {
			group = group[:n]
		}
		of := make(Values, to-from)
		for k := range of {
			of[k] = Given{elements[from+k], &values[from+k], api}
		}
		for k := range group {
			m := &group[k]
			for _, b := range m.Source.(*piece).blocks {
				b.values = &of
			}
			p := &Piece{Of: &of, Index: k, Count: len(group), First: isFirst}
			if raw := m.Source.(*piece).raw; len(raw) > 0 {
				p.Block = raw
			}
			m.ID, m.Source = "", p
			m.Parts, p.Hollow = withoutEmpty(m.Parts)
			isFirst = isFirst && m.Role == winnow.RoleSystem
		}
		i += len(group)
	}
	adapter.EnsureImported(h.Messages)
	return h.Messages
}

// IsFrom reports whether m was imported by api, and not changed.
func IsFrom(api API, m *winnow.Message) bool {
	p := adapter.PieceOf[Values](m)
	return p != nil && len(*p.Of) > 0 && (*p.Of)[0].api == api
}

// ownOf returns messages without what another API gave: a conversation may go on with another provider.
func ownOf(api API, messages []winnow.Message) []winnow.Message {
	isForeign := func(m winnow.Message) bool {
		return adapter.PieceOf[Values](&m) != nil && !IsFrom(api, &m) ||
			slices.ContainsFunc(m.Parts, func(p winnow.Part) bool { return isForeignBlock(api, &p) })
	}
	if !slices.ContainsFunc(messages, isForeign) {
		return messages
	}
	out := slices.Clone(messages)
	for i := range out {
		if m := &out[i]; isForeign(*m) {
			m.Source, m.Parts = nil, slices.Clone(m.Parts)
			for k := range m.Parts {
				if isForeignBlock(api, &m.Parts[k]) {
					m.Parts[k].Source = nil
				}
			}
		}
	}
	return out
}

func isForeignBlock(api API, p *winnow.Part) bool {
	block, ok := p.Source.(*Block)
	return ok && block.api != nil && block.api != api
}

// isAsked reports whether something of m is sent in the role of a user. Without such a message, those that are imported
// are an answer alone, and not a conversation that begins with it.
func isAsked(m winnow.Message) bool {
	isSaid := func(p winnow.Part) bool { return !adapter.IsSilent(&p) }
	return m.Role == winnow.RoleTool || m.Role == winnow.RoleUser && slices.ContainsFunc(m.Parts, isSaid)
}

// withoutEmpty returns parts without empty texts, which make no difference.
func withoutEmpty(parts []winnow.Part) (kept []winnow.Part, found bool) {
	kept = slices.DeleteFunc(parts, func(p winnow.Part) bool { return p.Kind == winnow.KindText && p.Text == "" })
	return kept, len(kept) < len(parts)
}

// ValueOf is [adapter.Sources.Values] for imported messages.
func ValueOf[T any](typed func(json.RawMessage) (T, error)) func([]winnow.Message) ([]T, int) {
	return func(messages []winnow.Message) ([]T, int) {
		of, n := adapter.Whole[Values](messages)
		if n == 0 {
			return nil, 0
		}
		return Export(*of, typed), n
	}
}

// Export returns values in the form of an SDK: the caller's own, or what typed makes of new ones.
func Export[T any](values Values, typed func(json.RawMessage) (T, error)) []T {
	out := make([]T, len(values))
	for i, v := range values {
		if own, ok := v.Of.(*T); ok {
			out[i] = *own
		} else {
			out[i], _ = typed(json.RawMessage(v.JSON)) // it is JSON, and given as it is at worst
		}
	}
	return out
}

// ownElement returns the caller's element of a list of content for a part, or nil. given returns the JSON of one that a
// host keeps in the Source of a part.
func ownElement(api API, p *winnow.Part, given func(source any) []byte) value {
	block, ok := p.Source.(*Block)
	switch {
	case !ok:
		return given(p.Source)
	case block.api == api && block.list != nil:
		return block.raw
	}
	return nil
}

// contentOf returns the content of a message that is not the model's: a text if it is one that is new, because every
// server takes that, else a list, nil for nothing. own returns the caller's element for a part, and typ is that of a
// new text.
func contentOf(m *winnow.Message, typ string, isSent func(*winnow.Part) bool, own func(*winnow.Part) value) []byte {
	var list [][]byte
	text, plain := "", true
	for k := range m.Parts {
		p := &m.Parts[k]
		if !isSent(p) {
			continue
		}
		if given := own(p); given != nil {
			list, plain = append(list, given), false
		} else {
			text = adapter.TextOf(p)
			list = append(list, jsonedit.Object("text", text, "type", typ))
		}
	}
	switch {
	case len(list) == 0:
		return nil
	case len(list) == 1 && plain:
		return jsonedit.Quote(text)
	}
	return jsonedit.List(list...)
}
