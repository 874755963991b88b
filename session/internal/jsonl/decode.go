package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/exact"
)

// Lines reach this code with a valid checksum: one that does not decode was written that way.

// Decode returns the entry of a line.
func (l *Line) Decode() (*entry.Entry, error) {
	if l.Sealed != "" {
		return l.decodeSealed()
	}
	e := &entry.Entry{}
	if err := json.Unmarshal(l.Data, (*entryBody)(e)); err != nil {
		return nil, fmt.Errorf("session: entry %s: %w", l.ID, err)
	}
	l.GiveHead(e)
	showErased(e)
	if err := exact.Restore(e.Message, e.Exact); err != nil {
		return e, fmt.Errorf("session: entry %s: %w", e.ID, err)
	}
	e.Exact = nil
	return e, nil
}

// DecodeCounted returns what [Counts] and [Sides] need: of a sealed line, what can be read without its key.
func (l *Line) DecodeCounted() (*entry.Entry, error) {
	if l.Sealed != "" {
		return l.decodeClear()
	}
	return l.Decode()
}

// isFullState reports whether the entry is a state with totals, or may be one.
func (l *Line) isFullState() bool {
	return l.Kind == entry.TypeState && !bytes.HasPrefix(l.body, []byte(`"delta":`))
}

// GiveHead sets in e what the head of l says.
func (l *Line) GiveHead(e *entry.Entry) {
	e.Seq, e.ID, e.ParentID, e.Type, e.Batch = l.Seq, l.ID, l.Parent, l.Kind, l.Batch
	if e.At = nil; l.at >= 0 {
		at := l.at // not l's own field, which would keep the text alive
		e.At = &at
	}
	if e.Time.IsZero() {
		e.Time = l.time()
	}
}

// time reads the time from the head of a line in our form.
func (l *Line) time() time.Time {
	const member = `"time":"`
	i := bytes.Index(l.Data[:min(len(l.Data), 2*MaxKey)], []byte(member))
	if i < 0 {
		return time.Time{}
	}
	text := l.Data[i+len(member):]
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

// erasedText is what the model sees of a message whose content was erased.
const erasedText = "[erased]"

// showErased puts the text that the model sees into a message whose content was erased.
func showErased(e *entry.Entry) {
	if e.Type != entry.TypeErased || e.Message == nil {
		return
	}
	for i := range e.Message.Parts {
		if e.Message.Parts[i].Kind == winnow.KindText {
			return
		}
	}
	e.Message.Parts = append([]winnow.Part{{Text: erasedText}}, e.Message.Parts...)
}

// CheckFormat returns an error if e is the header of a log in a newer format. Entries may have another meaning there,
// so this version must neither write to such a log nor copy from it.
func CheckFormat(e *entry.Entry) error {
	if e.Type == entry.TypeSession && e.Format > FormatVersion {
		return fmt.Errorf("%w: the log of %q has format %d", errs.ErrFormat, e.Key, e.Format)
	}
	return nil
}
