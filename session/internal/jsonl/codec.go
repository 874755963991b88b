package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/exact"
)

// Encoder writes entries as lines. It keeps its memory from one append to the next.
type Encoder struct {
	Lines []byte
	Seal  Sealer // nil: entries are not sealed
}

// Append adds e, whose head is complete, to the lines.
func (x *Encoder) Append(e *entry.Entry) error { return x.AppendCopy(e, Original{}) }

// AppendCopy is Append for the copy of an entry.
func (x *Encoder) AppendCopy(e *entry.Entry, o Original) error {
	start := len(x.Lines)
	key, err := x.key(e)
	if err == nil {
		err = x.open(e, o, key)
	}
	if err == nil {
		x.Lines = appendSum(x.Lines, start)
		if len(x.Lines)-start > maxLine {
			err = errs.ErrTooLarge
		}
	}
	if err != nil {
		x.Lines = x.Lines[:start]
	}
	return err
}

// open adds e without its checksum and closing brace. It is sealed with key unless that is "".
func (x *Encoder) open(e *entry.Entry, o Original, key string) error {
	start := len(x.Lines)
	whole := e
	if o.isWhole {
		whole = headOf(e)
	}
	text, err := object(whole)
	x.Lines = append(append(x.Lines, text...), o.members...)
	if err == nil && key != "" {
		err = x.seal(e, start, key)
	}
	return err
}

// headOf returns what all entries have.
func headOf(e *entry.Entry) *entry.Entry {
	return &entry.Entry{
		Seq: e.Seq, ID: e.ID, ParentID: e.ParentID, Type: e.Type, Time: e.Time, At: e.At, Batch: e.Batch,
	}
}

// object returns e as JSON without its closing brace.
func object(e *entry.Entry) ([]byte, error) {
	text, err := e.MarshalJSON()
	return bytes.TrimSuffix(text, []byte("}")), err
}

// Canonical returns m as it would come back from a log, except for the bytes that package exact preserves: the host's
// Source is gone, invalid UTF-8 in strings is U+FFFD, and Time has no monotonic clock.
func Canonical(m winnow.Message) (winnow.Message, error) {
	m.Time = m.Time.Round(0)
	for _, s := range []*string{&m.ID, (*string)(&m.Role), &m.ToolCallID, &m.ToolName, &m.StopReason} {
		ToUTF8(s)
	}
	if len(m.Details) > 0 {
		details, err := OneLine(m.Details)
		if err != nil {
			return m, fmt.Errorf("session: Details of a message: %w", err)
		}
		m.Details = details
	}
	m.Source = nil
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind == "text" {
			p.Kind = winnow.KindText
		}
		for _, s := range []*string{(*string)(&p.Kind), &p.Signature, &p.ID, &p.Name, &p.MediaType} {
			ToUTF8(s)
		}
		if len(p.Arguments) == 0 {
			p.Arguments = nil
		}
		p.Source = nil
	}
	return m, nil
}

func ToUTF8(s *string) {
	if !utf8.ValidString(*s) {
		*s = strings.ToValidUTF8(*s, "\ufffd")
	}
}

// OneLine returns raw without white space, and with valid UTF-8.
func OneLine(raw json.RawMessage) (json.RawMessage, error) {
	if exact.IsOneLineJSON(raw) {
		return raw, nil
	}
	var out bytes.Buffer
	err := json.Compact(&out, bytes.ToValidUTF8(raw, []byte("\ufffd")))
	return out.Bytes(), err
}

// Lines reach this code with a valid checksum: one that does not decode was written that way.

// Decode returns the entry of a line.
func (l *Line) Decode() (*entry.Entry, error) {
	if l.Sealed == "" {
		return l.DecodeClear()
	}
	object, err := l.opened()
	if err != nil {
		return nil, err
	}
	return l.decode(object)
}

// DecodeClear is Decode without keys: of a sealed entry it returns what is counted.
func (l *Line) DecodeClear() (*entry.Entry, error) { return l.decode(l.Data) }

func (l *Line) decode(object []byte) (*entry.Entry, error) {
	e := &entry.Entry{}
	if err := e.UnmarshalJSON(object); err != nil {
		return nil, fmt.Errorf("session: entry %s: %w", l.ID, err)
	}
	l.GiveHead(e)
	showErased(e)
	return e, nil
}

// GiveHead sets in e what the head of l says.
func (l *Line) GiveHead(e *entry.Entry) {
	e.Seq, e.ID, e.ParentID, e.Type, e.Time, e.Batch = l.Seq, l.ID, l.Parent, l.Kind, l.Time, l.Batch
	if e.At = nil; l.at >= 0 {
		at := l.at // not l's own field, which would keep the text alive
		e.At = &at
	}
}

// erasedText is what the model sees of a message whose content was erased.
const erasedText = "[erased]"

// showErased puts the text that the model sees into a message whose content was erased.
func showErased(e *entry.Entry) {
	isText := func(p winnow.Part) bool { return p.Kind == winnow.KindText }
	if e.Type == entry.TypeErased && e.Message != nil && !slices.ContainsFunc(e.Message.Parts, isText) {
		e.Message.Parts = slices.Insert(e.Message.Parts, 0, winnow.Part{Text: erasedText})
	}
}

// CheckFormat returns an error if e is the header of a log in a newer format. Entries may have another meaning there,
// so this version must neither write to such a log nor copy from it.
func CheckFormat(e *entry.Entry) error {
	if e.Type == entry.TypeSession && e.Format > FormatVersion {
		return fmt.Errorf("%w: the log of %q has format %d", errs.ErrFormat, e.Key, e.Format)
	}
	return nil
}

// A newer version may have written members that this one does not know, at any depth. A fork keeps them: it copies the
// members of an entry unchanged, except for offsets and counts, which differ in the fork.

// Original is what the copy of an entry keeps: members as the original has them, each behind a comma.
type Original struct {
	members []byte
	isWhole bool // they are all there are behind the head; else this version does not know them
}

// entryNames are the members that this version knows.
var entryNames = func() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[entry.Entry]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}()

// originalOf returns what a copy of e keeps, which was decoded from l.
func originalOf(e *entry.Entry, l *Line) (o Original, err error) {
	object := l.Data
	if l.Sealed != "" {
		object, err = l.opened()
	}
	o.isWhole = e.Type != entry.TypeCompaction && e.Full == nil
	jsontext.Members(object, func(key string, value []byte) {
		isKnown := slices.Contains(headNames, key) || !o.isWhole && slices.Contains(entryNames, key)
		if !isKnown {
			o.members = append(append(append(append(o.members, `,"`...), key...), `":`...), value...)
		}
	})
	return o, err
}
