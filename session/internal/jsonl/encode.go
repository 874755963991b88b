package jsonl

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
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
	Seal  sealer // nil: entries are not sealed
}

// Append adds e, whose head is complete, to the lines.
func (x *Encoder) Append(e *entry.Entry) error { return x.AppendCopy(e, Original{}) }

// AppendCopy is append for the copy of an entry.
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
	text, err := x.Marshal((*entryBody)(&rest))
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
	text, err := x.Marshal(m)
	if err != nil {
		return fmt.Errorf("session: a message: %w", err)
	}
	x.Lines = append(x.Lines, text...)
	return nil
}

// Marshal returns v as JSON, valid until the next call. HTML is not escaped, and raw JSON keeps its bytes.
func (x *Encoder) Marshal(v any) ([]byte, error) {
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

// Canonical returns m as it would come back from a log, except for the bytes that [exactly] preserves: the host's
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

// BytesOfJSON undoes rawJSON.
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
