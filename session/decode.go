package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Lines reach this code with a valid checksum: one that does not decode was written that way.

// decode returns the entry of a line.
func (l *line) decode() (*Entry, error) {
	if l.sealed != "" {
		return l.decodeSealed()
	}
	e := &Entry{}
	if err := json.Unmarshal(l.data, (*entryBody)(e)); err != nil {
		return nil, fmt.Errorf("session: entry %s: %w", l.id, err)
	}
	l.giveHead(e)
	showErased(e)
	return e, restoreExact(e)
}

// decodeCounted returns what [Counts] and [sides] need: of a sealed line, what can be read without its key.
func (l *line) decodeCounted() (*Entry, error) {
	if l.sealed != "" {
		return l.decodeClear()
	}
	return l.decode()
}

// isFullState reports whether the entry is a state with totals, or may be one.
func (l *line) isFullState() bool {
	return l.kind == TypeState && !bytes.HasPrefix(l.body, []byte(`"delta":`))
}

// giveHead sets in e what the head of l says.
func (l *line) giveHead(e *Entry) {
	e.Seq, e.ID, e.ParentID, e.Type, e.Batch = l.seq, l.id, l.parent, l.kind, l.batch
	if e.At = nil; l.at >= 0 {
		at := l.at // not l's own field, which would keep the text alive
		e.At = &at
	}
	if e.Time.IsZero() {
		e.Time = l.time()
	}
}

// time reads the time from the head of a line in our form.
func (l *line) time() time.Time {
	const member = `"time":"`
	i := bytes.Index(l.data[:min(len(l.data), 2*maxKey)], []byte(member))
	if i < 0 {
		return time.Time{}
	}
	text := l.data[i+len(member):]
	end := bytes.IndexByte(text, '"')
	if end < 0 {
		return time.Time{}
	}
	var t time.Time
	if t.UnmarshalText(text[:end]) != nil {
		return time.Time{}
	}
	return t
}

// restoreExact puts back the bytes that JSON could not hold.
func restoreExact(e *Entry) error {
	for _, x := range e.Exact {
		if e.Message == nil || x.Part < 0 || x.Part >= len(e.Message.Parts) {
			return errors.New("session: entry " + e.ID + ": exact bytes of a part that there is not")
		}
		p := &e.Message.Parts[x.Part]
		if x.Text != nil {
			p.Text = string(x.Text)
		}
		if x.Arguments != nil {
			p.Arguments = x.Arguments
		}
	}
	e.Exact = nil
	return nil
}

// UnmarshalJSON reads what MarshalJSON writes, or a line of a log, whose checksum it does not check.
func (e *Entry) UnmarshalJSON(data []byte) error {
	*e = Entry{}
	if err := json.Unmarshal(data, (*entryBody)(e)); err != nil {
		return err
	}
	return restoreExact(e)
}
