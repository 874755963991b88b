package winnow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"
)

// ReadMessages reads messages in JSON: one a line (JSON Lines), any number separated by white space, or
// one array of them. The error names the line and the field; the messages before it are returned with it.
func ReadMessages(r io.Reader) ([]Message, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("winnow: reading messages: %w", err)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	d := json.NewDecoder(bytes.NewReader(data))
	array := bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("["))
	if array {
		if _, err := d.Token(); err != nil {
			return nil, readError(data, 0, err)
		}
	}
	var out []Message
	for !array || d.More() {
		start := d.InputOffset()
		var m Message
		if err := d.Decode(&m); err == io.EOF && !array {
			return out, nil
		} else if err != nil {
			return out, readError(data, start, err)
		}
		if err := checkRole(m.Role); err != nil {
			return out, readError(data, start, err)
		}
		out = append(out, m)
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return out, readError(data, d.InputOffset(), err)
	}
	if rest := bytes.TrimLeft(data[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return out, readError(data, int64(len(data)-len(rest)), errors.New("syntax: there is text behind the array"))
	}
	return out, nil
}

// WriteMessages writes messages as JSON Lines, in the form that [ReadMessages] reads. It fails on
// Arguments or Details that are not valid JSON; text that is not valid UTF-8 is written with U+FFFD in
// its place.
func WriteMessages(w io.Writer, messages []Message) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range messages {
		m := messages[i]
		m.Parts = withoutTextKind(m.Parts)
		if err := e.Encode(&m); err != nil {
			return fmt.Errorf("winnow: writing message %d: %w", i, err)
		}
	}
	return nil
}

// withoutTextKind returns parts with the text kind as it is written: absent.
func withoutTextKind(parts []Part) []Part {
	isText := func(p Part) bool { return p.Kind == "text" }
	if !slices.ContainsFunc(parts, isText) {
		return parts
	}
	parts = slices.Clone(parts)
	for i := range parts {
		if isText(parts[i]) {
			parts[i].Kind = KindText
		}
	}
	return parts
}

func checkRole(r Role) error {
	switch r {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
		return nil
	case "":
		return errors.New("role: missing")
	}
	return fmt.Errorf("role: unknown role %q", r)
}

// fieldError is an error in a JSON text with the place where it is.
type fieldError struct {
	line int // from 1
	text string
	err  error
}

func (e *fieldError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }

func (e *fieldError) Unwrap() error { return e.err }

// readError places an error of the value that the decoder read from offset start of data on.
func readError(data []byte, start int64, err error) error {
	decoded := start // the decoder counts from behind the comma, white space included
	if rest := bytes.TrimLeft(data[start:], " \t\r\n"); bytes.HasPrefix(rest, []byte(",")) {
		decoded = int64(len(data)-len(rest)) + 1
	}
	value := int64(len(data) - len(bytes.TrimLeft(data[decoded:], " \t\r\n")))
	return fmt.Errorf("winnow: reading messages: %w", describeJSON(data, decoded, value, err))
}

// describeJSON turns err into a fieldError. The value begins at offset value of data; the decoder counted the
// offsets in its errors from decoded on.
func describeJSON(data []byte, decoded, value int64, err error) error {
	at := value
	e := &fieldError{text: err.Error(), err: err}
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax): // counted from the beginning of data
		at = syntax.Offset
		e.text = "syntax: " + syntax.Error()
	case errors.As(err, &typ):
		at = decoded + typ.Offset
		field := typ.Field
		if field == "" {
			field = "message"
		}
		e.text = fmt.Sprintf("%s: want %s, got %s", field, nameInJSON(typ.Type), typ.Value)
	case timeOffset(data[value:], err) >= 0:
		at = value + timeOffset(data[value:], err)
		e.text = "time: " + err.Error()
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		at = int64(len(data))
		e.text = "syntax: the text ends in the middle of a message"
	}
	e.line = 1 + bytes.Count(data[:min(max(at, 0), int64(len(data)))], []byte("\n"))
	return e
}

// nameInJSON says what a value of type t is in JSON.
func nameInJSON(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Pointer:
		return "an object"
	case reflect.Slice:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Int:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	}
	return t.String()
}

// timeOffset returns where the time of the message in data is, if err is an error of reading it, or -1.
// Package json does not say where such an error is.
func timeOffset(data []byte, err error) int64 {
	var parse *time.ParseError
	if !errors.As(err, &parse) && !strings.HasPrefix(err.Error(), "Time.UnmarshalJSON: ") {
		return -1
	}
	d := json.NewDecoder(bytes.NewReader(data))
	for key, err := d.Token(); err == nil; key, err = d.Token() {
		if name, ok := key.(string); ok && strings.EqualFold(name, "time") {
			return d.InputOffset()
		}
		var value json.RawMessage
		if key != json.Delim('{') && d.Decode(&value) != nil {
			break
		}
	}
	return 0
}
