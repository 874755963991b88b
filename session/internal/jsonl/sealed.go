package jsonl

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/errs"
)

// Sealer is a session.Sealer.
type Sealer interface {
	Current() (id string, err error)
	Seal(id string, text, context []byte) (sealed []byte, err error)
	Open(id string, sealed, context []byte) (text []byte, err error)
}

// isSealed reports whether entries of the type have content to seal.
func isSealed(t entry.Type) bool {
	switch t {
	case entry.TypeSession, entry.TypeLeaf, entry.TypeUsage, entry.TypeErased:
		return false
	}
	return true
}

// inTheClear returns the part of e that stays readable: what is counted.
func inTheClear(e *entry.Entry) *entry.Entry {
	clear := &entry.Entry{Type: e.Type, Degraded: e.Degraded, TokensAfter: e.TokensAfter}
	if e.Type == entry.TypeMessage && e.Message != nil {
		m := e.Message
		clear.Model = e.Model
		clear.Message = &winnow.Message{Role: m.Role, Injected: m.Injected, Summary: m.Summary, Usage: m.Usage}
	}
	if e.Full != nil {
		clear.Full = &entry.FullState{Counts: e.Full.Counts}
	}
	if e.Info != nil {
		clear.Info = &entry.Info{Pinned: e.Info.Pinned, Archived: e.Info.Archived}
	}
	return clear
}

const payloadMember = `,"payload":"`

// appendSealed adds the members after the head of an entry that is sealed with key.
func (x *Encoder) appendSealed(e *entry.Entry, key string, o Original) error {
	start := len(x.Lines)
	if err := x.appendBody(e, o); err != nil {
		return err
	}
	context := sealContext(&Head{Seq: e.Seq, ID: e.ID, Parent: e.ParentID, Kind: e.Type}, key)
	sealed, err := x.Seal.Seal(key, x.Lines[start:], context)
	if err != nil {
		return &entry.SealedError{Entry: e.ID, Key: key, Cause: err}
	}
	x.Lines = x.Lines[:start]
	if err := x.appendBody(inTheClear(e), Original{}); err != nil {
		return err
	}
	x.Lines = base64.StdEncoding.AppendEncode(append(x.Lines, payloadMember...), sealed)
	x.Lines = append(x.Lines, '"')
	return nil
}

// key returns the id of the key to seal e with, "" if e is not sealed.
func (x *Encoder) key(e *entry.Entry) (string, error) {
	if x.Seal == nil || !isSealed(e.Type) {
		return "", nil
	}
	id, err := x.Seal.Current()
	if err == nil && !isKeyID(id) {
		err = errors.New("the id of a key is 1 to 64 bytes of ASCII without quotes and backslashes")
	}
	if err != nil {
		return "", &entry.SealedError{Entry: e.ID, Key: id, Cause: err}
	}
	return id, nil
}

func isKeyID(id string) bool {
	isOther := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
	return id != "" && len(id) <= maxKeyID && !strings.ContainsFunc(id, isOther)
}

// sealContext binds what is sealed to its entry and key.
func sealContext(h *Head, key string) []byte {
	b := strconv.AppendInt(nil, h.Seq, 10)
	for _, s := range []string{h.ID, h.Parent, string(h.Kind), key} {
		b = strconv.AppendQuote(append(b, ' '), s)
	}
	return b
}

// Text returns the members after the head of a sealed line. If there are any, they begin with a comma.
func (l *Line) Text() ([]byte, error) {
	if l.seal == nil {
		return nil, &entry.SealedError{Entry: l.ID, Key: l.Sealed}
	}
	var in struct {
		Payload []byte `json:"payload"`
	}
	if err := json.Unmarshal(l.Data, &in); err != nil {
		return nil, err
	}
	text, err := l.seal.Open(l.Sealed, in.Payload, sealContext(&l.Head, l.Sealed))
	if err != nil {
		return nil, &entry.SealedError{Entry: l.ID, Key: l.Sealed, Cause: err}
	}
	return text, nil
}

// decodeSealed returns the entry of a sealed line.
func (l *Line) decodeSealed() (*entry.Entry, error) {
	text, err := l.Text()
	if err != nil {
		return nil, err
	}
	inner := Line{Head: l.Head, Data: []byte("{}")}
	inner.Sealed = ""
	if len(text) > 1 {
		inner.Data = append(append([]byte("{"), text[1:]...), '}')
		inner.body = inner.Data[1 : len(inner.Data)-1]
	}
	e, err := inner.Decode()
	if err != nil {
		return nil, err
	}
	e.Time = l.time()
	return e, nil
}

// decodeShown returns an entry; if it is sealed, only what can be read without its key.
func (l *Line) decodeShown() (*entry.Entry, error) {
	if l.Sealed != "" {
		return l.decodeClear()
	}
	return l.Decode()
}

// decodeClear returns what can be read of a sealed line without its key.
func (l *Line) decodeClear() (*entry.Entry, error) {
	e := &entry.Entry{}
	if err := json.Unmarshal(l.Data, (*entryBody)(e)); err != nil {
		return nil, fmt.Errorf("session: entry %s: %w", l.ID, err)
	}
	l.GiveHead(e)
	return e, nil
}

// maxKeyID is how long the id of a key may be, in bytes.
const maxKeyID = 64

// Overwritten returns a line as long as l that holds what is left of its entry.
func Overwritten(l *Line, left *entry.Entry) ([]byte, error) {
	x := Encoder{Seal: l.seal}
	sealsIt := l.Sealed != "" && isSealed(left.Type)
	if sealsIt { // with its old key: the room suffices
		left.Seq, left.ID, left.ParentID = l.Seq, l.ID, l.Parent
		if err := x.appendSealed(left, l.Sealed, Original{}); err != nil {
			return nil, err
		}
	} else if err := x.appendBody(left, Original{}); err != nil {
		return nil, err
	}
	head := entry.Entry{Time: left.Time}
	l.GiveHead(&head)
	head.Type = left.Type
	text := appendHead(nil, &head)
	if sealsIt {
		text = appendKey(text, l.Sealed)
	}
	text = append(text, x.Lines...)
	room := len(l.Data) - len(text) - crcTail
	hasSum := l.body != nil
	if !hasSum { // another program wrote it, perhaps without room for a checksum
		text = append(text, '}')
		room = len(l.Data) - len(text)
	}
	if room < 0 {
		return nil, fmt.Errorf("%w: entry %s has no room for what is left of it", errs.ErrTooLarge, l.ID)
	}
	text = append(text, bytes.Repeat([]byte(" "), room)...)
	if !hasSum {
		return text, nil
	}
	text = appendSum(text, 0)
	return text[:len(text)-1], nil // without the newline
}

// Redacted returns m in the form in which it is stored: as the host's function returns it, which may be nil. A message
// that it changes loses its Source, which has the old text.
func Redacted(m winnow.Message, by func(winnow.Message) (winnow.Message, error)) (
	out winnow.Message, isChanged bool, err error,
) {
	if by == nil {
		return m, false, nil
	}
	own := m // it may change it in place without touching the caller's message
	own.Parts, own.Details = slices.Clone(m.Parts), slices.Clone(m.Details)
	for i := range own.Parts {
		own.Parts[i].Arguments = slices.Clone(m.Parts[i].Arguments)
	}
	if out, err = by(own); err != nil {
		return m, false, fmt.Errorf("session: redacting a message: %w", err)
	}
	if isChanged = !isSame(&m, &out); isChanged {
		out.Source = nil
	}
	return out, isChanged, nil
}

// isSame reports whether nothing was redacted.
func isSame(a, b *winnow.Message) bool {
	head, other := *a, *b
	head.Parts, other.Parts = nil, nil
	return reflect.DeepEqual(head, other) && slices.EqualFunc(a.Parts, b.Parts, func(p, q winnow.Part) bool {
		sameArguments := bytes.Equal(p.Arguments, q.Arguments)
		p.Arguments, q.Arguments = nil, nil
		return sameArguments && reflect.DeepEqual(p, q)
	})
}
