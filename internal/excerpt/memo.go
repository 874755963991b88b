package excerpt

import "github.com/winnowgo/winnow/internal/identifier"

// Memo remembers the names of long texts, so that each is read once however many drafts are made of one request: a
// record that gets leaner, or a draft that is thrown away, reads the same results again. It holds the texts, so it must
// not outlive the call that it is for. The zero value is empty.
type Memo struct {
	texts map[int][]namedText // by their lengths
	names int                 // how many are remembered
}

// namedText is a text with its names, in the order of their first mentions.
type namedText struct {
	text  string
	names []mentioned
}

// mentioned is a name of a text.
type mentioned struct {
	id       string
	hash     identifier.SetHash
	mentions int32
	kind     identifier.Kind
}

const (
	// leastRemembered is the least length of a text whose names are remembered, in bytes. Shorter ones are read in a
	// fifth of a millisecond, and mostly once: to remember their names as well costs 2 % of a first request.
	leastRemembered = 64 << 10
	// mostRemembered is how many names are remembered: 16 MB.
	mostRemembered = 1 << 19
)

// of returns the names of text, which s searches if they are not remembered. ok is false for a short text, and if m is
// nil or has no more room.
func (m *Memo) of(text string, s *nameSearch) (names []mentioned, ok bool) {
	if m == nil || len(text) < leastRemembered {
		return nil, false
	}
	for _, t := range m.texts[len(text)] {
		if t.text == text { // at once where both are the same memory
			return t.names, true
		}
	}
	if m.names >= mostRemembered {
		return nil, false
	}
	s.scan(nil, text)
	names = make([]mentioned, s.ids.Len())
	for k, id := range s.ids.IDs() {
		names[k] = mentioned{id, identifier.HashOf(id), s.seen[k].mentions, s.seen[k].kind}
	}
	if m.texts == nil {
		m.texts = map[int][]namedText{}
	}
	m.texts[len(text)] = append(m.texts[len(text)], namedText{text, names})
	m.names += len(names)
	return names, true
}
