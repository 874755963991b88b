package jsonl

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/exact"
)

// Encoder writes entries as lines. It keeps its memory from one append to the next.
type Encoder struct {
	buf   bytes.Buffer
	json  *json.Encoder
	Lines []byte
	Seal  Sealer // nil: entries are not sealed
}

// Append adds e, whose head is complete, to the lines.
func (x *Encoder) Append(e *entry.Entry) error { return x.AppendCopy(e, Original{}) }

// AppendCopy is Append for the copy of an entry.
func (x *Encoder) AppendCopy(e *entry.Entry, o Original) error {
	start := len(x.Lines)
	x.Lines = appendHead(x.Lines, e)
	key, err := x.key(e)
	if key != "" {
		x.Lines = appendKey(x.Lines, key)
		err = x.appendSealed(e, key, o)
	} else if err == nil {
		err = x.appendBody(e, o)
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

// appendBody adds the members after the head. If the message is the only long one, it comes last, so that a reader
// finds it without parsing what precedes it.
func (x *Encoder) appendBody(e *entry.Entry, o Original) error {
	switch {
	case o.verbatim != nil:
		x.Lines = append(append(x.Lines, ','), o.verbatim...)
		return nil
	case e.Type == entry.TypeState && e.Delta != nil:
		x.Lines = append(append(x.Lines, `,"delta":`...), e.Delta...)
		return nil
	case e.Type == entry.TypeMessage && e.Message != nil:
		return x.appendMessage(e)
	}
	rest := *e
	rest.Seq, rest.ID, rest.ParentID, rest.Type, rest.Time = 0, "", "", "", time.Time{}
	rest.At, rest.Batch = nil, [2]int64{}
	if rest.Message != nil {
		m, exact := exact.Of(rest.Message)
		rest.Message, rest.Exact = m, exact
	}
	text, err := x.marshal((*entryBody)(&rest))
	if err != nil {
		return err
	}
	// The members of the head are empty: {"seq":0,"id":"","type":"",…}
	text = bytes.TrimPrefix(text, []byte(`{"seq":0,"id":"","type":""`))
	x.Lines = append(x.Lines, text[:len(text)-1]...)
	if len(o.unknown) > 0 {
		x.Lines = append(append(x.Lines, ','), o.unknown...)
	}
	return nil
}

// entryBody is Entry without its methods.
type entryBody entry.Entry

func (x *Encoder) appendMessage(e *entry.Entry) error {
	m, exact := exact.Of(e.Message)
	if e.Model != "" {
		x.Lines = appendString(append(x.Lines, `,"model":`...), e.Model)
	}
	if e.Source != nil {
		x.Lines = appendString(append(x.Lines, `,"source":{"codec":`...), e.Source.Codec)
		x.Lines = append(append(append(x.Lines, `,"data":`...), e.Source.Data...), '}')
	}
	if len(exact) > 0 {
		text, err := json.Marshal(exact)
		if err != nil {
			return err
		}
		x.Lines = append(append(x.Lines, `,"exact":`...), text...)
	}
	x.Lines = append(x.Lines, `,"message":`...)
	text, err := x.marshal(m)
	if err != nil {
		return fmt.Errorf("session: a message: %w", err)
	}
	x.Lines = append(x.Lines, text...)
	return nil
}

// marshal returns v as JSON, valid until the next call. HTML is not escaped, and raw JSON keeps its bytes.
func (x *Encoder) marshal(v any) ([]byte, error) {
	if x.json == nil {
		x.json = json.NewEncoder(&x.buf)
		x.json.SetEscapeHTML(false)
	}
	x.buf.Reset()
	if err := x.json.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(x.buf.Bytes(), []byte("\n")), nil
}

// Canonical returns m as it would come back from a log, except for the bytes that package exact preserves: the host's
// Source is gone, invalid UTF-8 in strings is U+FFFD, and Time has no monotonic clock.
func Canonical(m winnow.Message) (winnow.Message, error) {
	m.Time = m.Time.Round(0)
	for _, s := range []*string{&m.ID, (*string)(&m.Role), &m.ToolCallID, &m.ToolName, &m.StopReason} {
		ToUTF8(s)
	}
	if len(m.Details) > 0 && !exact.IsOneLineJSON(m.Details) {
		details, err := compactJSON(m.Details)
		if err != nil {
			return m, fmt.Errorf("session: Details of a message: %w", err)
		}
		m.Details = details
	}
	m.Source = nil
	if !slices.ContainsFunc(m.Parts, func(p winnow.Part) bool { return needsCare(&p) }) {
		return m, nil
	}
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

func needsCare(p *winnow.Part) bool {
	if p.Source != nil || p.Kind == "text" || p.Arguments != nil && len(p.Arguments) == 0 {
		return true
	}
	return !utf8.ValidString(string(p.Kind)) || !utf8.ValidString(p.Signature) || !utf8.ValidString(p.ID) ||
		!utf8.ValidString(p.Name) || !utf8.ValidString(p.MediaType)
}

func ToUTF8(s *string) {
	if !utf8.ValidString(*s) {
		*s = strings.ToValidUTF8(*s, "\ufffd")
	}
}

// compactJSON returns b without white space, and with valid UTF-8.
func compactJSON(b json.RawMessage) (json.RawMessage, error) {
	var out bytes.Buffer
	err := json.Compact(&out, bytes.ToValidUTF8(b, []byte("\ufffd")))
	return out.Bytes(), err
}

// RawJSON returns b as one JSON value without line breaks: b itself, or its bytes in a string.
func RawJSON(b []byte) json.RawMessage {
	if json.Valid(b) && bytes.IndexByte(b, '\n') < 0 && b[0] != '"' {
		return b
	}
	out := append(make([]byte, 0, base64.StdEncoding.EncodedLen(len(b))+2), '"')
	out = base64.StdEncoding.AppendEncode(out, b)
	return append(out, '"')
}

// BytesOfJSON undoes RawJSON.
func BytesOfJSON(raw json.RawMessage) ([]byte, error) {
	if len(raw) == 0 || raw[0] != '"' {
		return raw, nil
	}
	var b []byte
	err := json.Unmarshal(raw, &b)
	return b, err
}

// OneLine returns raw without line breaks.
func OneLine(raw json.RawMessage) (json.RawMessage, error) {
	if exact.IsOneLineJSON(raw) {
		return raw, nil
	}
	return compactJSON(raw)
}

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

// DecodeCounted returns what counts and [Sides] need: of a sealed line, what can be read without its key.
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

// A newer version may have written members that this one does not know, at any depth. A fork keeps them: it copies the
// members of an entry unchanged, except for offsets and counts, which differ in the fork.

// Original is what the copy of an entry keeps: members as the original has them, without braces. verbatim has all
// members after the head, and unknown has those that this version does not know.
type Original struct{ verbatim, unknown []byte }

// originalOf returns what a copy of e keeps, which was decoded from l.
func originalOf(e *entry.Entry, l *Line) (o Original, err error) {
	members, err := l.members()
	if err != nil || len(members) == 0 { // of an erased entry nothing may be left
		return o, err
	}
	if e.Type != entry.TypeCompaction && e.Full == nil {
		o.verbatim = members
		return o, nil
	}
	all, err := splitMembers(slices.Concat([]byte("{"), members, []byte("}")))
	if err != nil {
		return o, err
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[entry.Entry]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		delete(all, name)
	}
	o.unknown = joinMembers(all)
	return o, nil
}

// members returns the members after the head of l, opened if they are sealed, without braces. They are valid until the
// next line is read; nil means that there are none.
func (l *Line) members() ([]byte, error) {
	switch {
	case l.Sealed != "":
		text, err := l.Text()
		return bytes.TrimPrefix(text, []byte(",")), err
	case l.body != nil:
		return bytes.TrimRight(l.body, " "), nil // an entry that was erased ends in spaces
	}
	all, err := splitMembers(l.Data) // another program wrote it
	if err != nil {
		return nil, err
	}
	for _, name := range [...]string{"seq", "id", "parentId", "type", "time", "at", "batch", "sealed", "crc"} {
		delete(all, name)
	}
	return joinMembers(all), nil
}

func splitMembers(object []byte) (all map[string]json.RawMessage, err error) {
	err = json.Unmarshal(object, &all)
	return all, err
}

// joinMembers undoes splitMembers. The members come in the order of their names, without braces.
func joinMembers(all map[string]json.RawMessage) []byte {
	if len(all) == 0 {
		return nil
	}
	var x Encoder
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(all)) {
		quoted, _ := x.marshal(name) // a string never fails
		out = append(append(append(out, quoted...), ':'), all[name]...)
		out = append(out, ',')
	}
	return out[:len(out)-1]
}
