package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/winnowgo/winnow"
)

// Lines reach this code with a valid checksum: one that does not decode was written that way.

const messageMember = `"message":`

// decode returns the entry of a line.
func (l *line) decode() (*Entry, error) {
	if l.sealed != "" {
		return l.decodeSealed()
	}
	e := &Entry{}
	if message := l.bareMessage(e); message != nil && e.takeMessage(message) {
		l.giveHead(e)
		return e, nil
	}
	if delta := l.bareDelta(); delta != nil {
		e.Delta = delta
		l.giveHead(e)
		return e, nil
	}
	*e = Entry{}
	if err := json.Unmarshal(l.data, (*entryBody)(e)); err != nil {
		return nil, fmt.Errorf("session: entry %s: %w", l.id, err)
	}
	l.giveHead(e)
	e.showErased()
	return e, e.restoreExact()
}

// bareMessage returns the JSON of a message if only its model and its source stand before it, and sets these in e.
// Otherwise it returns nil and leaves e unchanged.
func (l *line) bareMessage(e *Entry) []byte {
	if l.body == nil || l.kind != TypeMessage {
		return nil
	}
	p := messageParser{headParser: headParser{text: l.body}}
	model, source := "", (*Source)(nil)
	if p.has(`"model":`) {
		model = string(p.quoted())
		p.literal(`,`)
	}
	if p.has(`"source":{"codec":`) {
		source = &Source{Codec: p.string()}
		p.literal(`,"data":`)
		source.Data = p.raw(depthOfSource)
		p.literal(`},`)
	}
	p.literal(messageMember)
	if p.bad {
		return nil
	}
	e.Model, e.Source = model, source
	return p.text
}

// takeMessage sets the message of e, and reports whether text is a message and nothing else: a newer version may have
// put another member behind it.
func (e *Entry) takeMessage(text []byte) bool {
	if e.Message = readMessage(text); e.Message == nil {
		e.Message = &winnow.Message{}
		return json.Unmarshal(text, e.Message) == nil
	}
	return true
}

// bareDelta returns the delta of a state entry that holds nothing else, or nil.
func (l *line) bareDelta() json.RawMessage {
	p := messageParser{headParser: headParser{text: l.body}}
	if l.kind != TypeState || !p.has(`"delta":`) {
		return nil
	}
	delta := p.raw(depthOfDelta)
	if p.bad || len(p.text) > 0 {
		return nil
	}
	return delta
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
func (e *Entry) restoreExact() error {
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
	return e.restoreExact()
}
