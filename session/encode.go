package session

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
)

// encoder writes entries as lines. It keeps its memory from one append to the next.
type encoder struct {
	buf   bytes.Buffer
	json  *json.Encoder
	lines []byte
	seal  Sealer // nil: entries are not sealed
}

// append adds e, whose head is complete, to the lines.
func (x *encoder) append(e *Entry) error { return x.appendCopy(e, original{}) }

// appendCopy is append for the copy of an entry.
func (x *encoder) appendCopy(e *Entry, o original) error {
	start := len(x.lines)
	x.lines = appendHead(x.lines, e)
	key, err := x.key(e)
	if key != "" {
		x.lines = appendKey(x.lines, key)
		err = x.appendSealed(e, key, o)
	} else if err == nil {
		err = x.appendBody(e, o)
	}
	if err == nil {
		x.lines = appendSum(x.lines, start)
		if len(x.lines)-start > maxLine {
			err = ErrTooLarge
		}
	}
	if err != nil {
		x.lines = x.lines[:start]
	}
	return err
}

// appendBody adds the members after the head. If the message is the only long one, it comes last, so that a reader
// finds it without parsing what precedes it.
func (x *encoder) appendBody(e *Entry, o original) error {
	switch {
	case o.verbatim != nil:
		x.lines = append(append(x.lines, ','), o.verbatim...)
		return nil
	case e.Type == TypeState && e.Delta != nil:
		x.lines = append(append(x.lines, `,"delta":`...), e.Delta...)
		return nil
	case e.Type == TypeMessage && e.Message != nil:
		return x.appendMessage(e)
	}
	rest := *e
	rest.Seq, rest.ID, rest.ParentID, rest.Type, rest.Time = 0, "", "", "", time.Time{}
	rest.At, rest.Batch = nil, [2]int64{}
	if rest.Message != nil {
		m, exact := exactly(rest.Message)
		rest.Message, rest.Exact = m, exact
	}
	text, err := x.marshal((*entryBody)(&rest))
	if err != nil {
		return err
	}
	// The members of the head are empty: {"seq":0,"id":"","type":"",…}
	text = bytes.TrimPrefix(text, []byte(`{"seq":0,"id":"","type":""`))
	x.lines = append(x.lines, text[:len(text)-1]...)
	if len(o.unknown) > 0 {
		x.lines = append(append(x.lines, ','), o.unknown...)
	}
	return nil
}

// entryBody is Entry without its methods.
type entryBody Entry

func (x *encoder) appendMessage(e *Entry) error {
	m, exact := exactly(e.Message)
	if e.Model != "" {
		x.lines = appendString(append(x.lines, `,"model":`...), e.Model)
	}
	if e.Source != nil {
		x.lines = appendString(append(x.lines, `,"source":{"codec":`...), e.Source.Codec)
		x.lines = append(append(append(x.lines, `,"data":`...), e.Source.Data...), '}')
	}
	if len(exact) > 0 {
		text, err := json.Marshal(exact)
		if err != nil {
			return err
		}
		x.lines = append(append(x.lines, `,"exact":`...), text...)
	}
	x.lines = append(x.lines, `,"message":`...)
	text, err := x.marshal(m)
	if err != nil {
		return fmt.Errorf("session: a message: %w", err)
	}
	x.lines = append(x.lines, text...)
	return nil
}

// marshal returns v as JSON, valid until the next call. HTML is not escaped, and raw JSON keeps its bytes.
func (x *encoder) marshal(v any) ([]byte, error) {
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

// canonical returns m as it would come back from a log, except for the bytes that [exactly] preserves: the host's
// Source is gone, invalid UTF-8 in strings is U+FFFD, and Time has no monotonic clock.
func canonical(m winnow.Message) (winnow.Message, error) {
	m.Time = m.Time.Round(0)
	for _, s := range []*string{&m.ID, (*string)(&m.Role), &m.ToolCallID, &m.ToolName, &m.StopReason} {
		toUTF8(s)
	}
	if len(m.Details) > 0 && !isOneLineJSON(m.Details) {
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
			toUTF8(s)
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

func toUTF8(s *string) {
	if !utf8.ValidString(*s) {
		*s = strings.ToValidUTF8(*s, "\ufffd")
	}
}

// exactly returns m in a form that JSON can hold, and the bytes that JSON cannot hold.
func exactly(m *winnow.Message) (*winnow.Message, []exactBytes) {
	var exact []exactBytes
	for i := range m.Parts {
		p := &m.Parts[i]
		x := exactBytes{Part: i}
		if !utf8.ValidString(p.Text) {
			x.Text = []byte(p.Text)
		}
		if len(p.Arguments) > 0 && !isOneLineJSON(p.Arguments) {
			x.Arguments = p.Arguments
		}
		if x.Text != nil || x.Arguments != nil {
			exact = append(exact, x)
		}
	}
	if exact == nil {
		return m, nil
	}
	out := *m
	out.Parts = slices.Clone(m.Parts)
	for _, x := range exact {
		p := &out.Parts[x.Part]
		if x.Text != nil {
			p.Text = ""
		}
		if x.Arguments != nil {
			p.Arguments = nil
		}
	}
	return &out, exact
}

// isOneLineJSON reports whether package json writes b unchanged: b is valid JSON in valid UTF-8, without white space.
func isOneLineJSON(b []byte) bool {
	inString := false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			i++
		case !inString && isSpace(c):
			return false
		}
	}
	return json.Valid(b) && utf8.Valid(b)
}

// isSpace reports whether c is white space of JSON.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// compactJSON returns b without white space, and with valid UTF-8.
func compactJSON(b json.RawMessage) (json.RawMessage, error) {
	var out bytes.Buffer
	err := json.Compact(&out, bytes.ToValidUTF8(b, []byte("\ufffd")))
	return out.Bytes(), err
}

// rawJSON returns b as one JSON value without line breaks: b itself, or its bytes in a string.
func rawJSON(b []byte) json.RawMessage {
	if json.Valid(b) && bytes.IndexByte(b, '\n') < 0 && b[0] != '"' {
		return b
	}
	out := append(make([]byte, 0, base64.StdEncoding.EncodedLen(len(b))+2), '"')
	out = base64.StdEncoding.AppendEncode(out, b)
	return append(out, '"')
}

// bytesOfJSON undoes rawJSON.
func bytesOfJSON(raw json.RawMessage) ([]byte, error) {
	if len(raw) == 0 || raw[0] != '"' {
		return raw, nil
	}
	var b []byte
	err := json.Unmarshal(raw, &b)
	return b, err
}

// MarshalJSON writes e in the form of a log, without its checksum.
func (e *Entry) MarshalJSON() ([]byte, error) {
	body := entryBody(*e)
	if e.Message != nil {
		body.Message, body.Exact = exactly(e.Message)
	}
	var x encoder
	return x.marshal(&body)
}
