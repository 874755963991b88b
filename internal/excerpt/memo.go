package excerpt

import "github.com/winnowgo/winnow/internal/identifier"

// Memo remembers the names in long texts, so that each text is read once however many drafts are made of one request.
// Without a Memo, a record that gets leaner and a draft that follows a discarded one would read the same results again.
// A Memo holds the texts, so it must not outlive the call that it is for. The zero value is empty.
type Memo struct {
	texts map[int][]namedText // by their lengths
	names int                 // how many are remembered
	short bool                // the names of shorter texts are remembered too
}

// RememberShort has m remember the names of shorter texts too, from now on. It is for a request in which most texts are
// read again, because the records of them do not fit. It returns m.
func (m *Memo) RememberShort() *Memo {
	m.short = true
	return m
}

// namedText is a text with its names, in the order of their first mentions.
type namedText struct {
	text  string
	names []mentioned
}

// mentioned is a name of a text.
type mentioned struct {
	id       string
	hash     identifier.NameHash
	mentions int32
	kind     identifier.Kind
}

const (
	// leastRemembered is the least length of a text whose names are remembered, in bytes. A shorter text is read in a
	// fifth of a millisecond, and mostly once: to remember its names as well would make a first request 2 % slower.
	leastRemembered = 64 << 10
	// leastShort is leastRemembered where most texts are read twice.
	leastShort = 1 << 10
	// mostRemembered is how many names are remembered. They take about 16 MB.
	mostRemembered = 1 << 19
)

// of returns the names in text. If they are not remembered, s searches text for them. ok is false for a short text, and
// if m is nil or has no more room.
func (m *Memo) of(text string, s *nameSearch) (names []mentioned, ok bool) {
	if m == nil || len(text) < leastShort || len(text) < leastRemembered && !m.short {
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
	s.scan(text)
	names = make([]mentioned, s.ids.Len())
	for k, id := range s.ids.IDs() {
		names[k] = mentioned{id, s.seen[k].hash, s.seen[k].mentions, s.seen[k].kind}
	}
	if m.texts == nil {
		m.texts = map[int][]namedText{}
	}
	m.texts[len(text)] = append(m.texts[len(text)], namedText{text, names})
	m.names += len(names)
	return names, true
}
