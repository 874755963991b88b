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

// inTheClear returns the part of e that stays readable: its head, and what is counted.
func inTheClear(e *entry.Entry) *entry.Entry {
	clear := headOf(e)
	clear.Degraded, clear.TokensAfter = e.Degraded, e.TokensAfter
	if e.Type == entry.TypeMessage && e.Message != nil {
		m := e.Message
		clear.Model = e.Model
		clear.Message = &winnow.Message{Role: m.Role, Injected: m.Injected, Summary: m.Summary, Usage: m.Usage}
	}
	if e.Full != nil {
		clear.Full = &entry.FullState{Counts: e.Full.Counts, Info: e.Full.Info}
		clear.Full.Info.Title = nil
	}
	if e.Info != nil {
		clear.Info = &entry.Info{Pinned: e.Info.Pinned, Archived: e.Info.Archived}
	}
	return clear
}

// seal seals the members behind the head of e, which is at the end of the lines, from start on.
func (x *Encoder) seal(e *entry.Entry, start int, key string) error {
	head, err := object(headOf(e))
	if err != nil {
		return err
	}
	body := start + len(head)
	sealed, err := x.Seal.Seal(key, x.Lines[body:], sealContext(e, key))
	if err != nil {
		return &entry.SealedError{Entry: e.ID, Key: key, Cause: err}
	}
	clear, err := object(inTheClear(e))
	if err != nil {
		return err
	}
	x.Lines = append(append(append(x.Lines[:body], `,"sealed":"`...), key...), '"')
	x.Lines = append(append(x.Lines, clear[len(head):]...), `,"payload":"`...)
	x.Lines = append(base64.StdEncoding.AppendEncode(x.Lines, sealed), '"')
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
func sealContext(head *entry.Entry, key string) []byte {
	b := strconv.AppendInt(nil, head.Seq, 10)
	for _, s := range []string{head.ID, head.ParentID, string(head.Type), key} {
		b = strconv.AppendQuote(append(b, ' '), s)
	}
	return b
}

// opened returns what is sealed in a line: an object of the members behind its head.
func (l *Line) opened() ([]byte, error) {
	if l.seal == nil {
		return nil, &entry.SealedError{Entry: l.ID, Key: l.Sealed}
	}
	var in struct {
		Payload []byte `json:"payload"`
	}
	if err := json.Unmarshal(l.Data, &in); err != nil {
		return nil, err
	}
	var head entry.Entry
	l.GiveHead(&head)
	text, err := l.seal.Open(l.Sealed, in.Payload, sealContext(&head, l.Sealed))
	if err != nil {
		return nil, &entry.SealedError{Entry: l.ID, Key: l.Sealed, Cause: err}
	}
	return slices.Concat([]byte("{"), bytes.TrimPrefix(text, []byte(",")), []byte("}")), nil
}

// maxKeyID is how long the id of a key may be, in bytes.
const maxKeyID = 64

// Overwritten returns a line as long as l that holds what is left of its entry.
func Overwritten(l *Line, left *entry.Entry) ([]byte, error) {
	x, key, kind := Encoder{Seal: l.seal}, l.Sealed, left.Type
	if !isSealed(kind) {
		key = ""
	}
	l.GiveHead(left)
	left.Type = kind
	if err := x.open(left, Original{}, key); err != nil { // with its old key: the room suffices
		return nil, err
	}
	end := crcTail
	if !l.summed { // another program wrote it, perhaps without room for a checksum
		end = len("}")
	}
	room := len(l.Data) - len(x.Lines) - end
	if room < 0 {
		return nil, fmt.Errorf("%w: entry %s has no room for what is left of it", errs.ErrTooLarge, l.ID)
	}
	text := append(x.Lines, bytes.Repeat([]byte(" "), room)...)
	if !l.summed {
		return append(text, '}'), nil
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
