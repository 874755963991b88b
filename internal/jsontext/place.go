package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
)

// placedError is an error in a JSON text with the place where it is.
type placedError struct {
	line int // from 1
	text string
	err  error
}

func (e *placedError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }

func (e *placedError) Unwrap() error { return e.err }

// Place names the line in which an error of package json is, and the field. Of a time that cannot be read, it is the
// line in which the message begins. The error is of the value that a decoder read from offset start of data on: a
// message, or what stands in its place.
func Place(err error, data []byte, start int64) error {
	decoded := start // the decoder counts from behind the comma, white space included
	if rest := bytes.TrimLeft(data[start:], " \t\r\n"); bytes.HasPrefix(rest, []byte(",")) {
		decoded = int64(len(data)-len(rest)) + 1
	}
	at := int64(len(data) - len(bytes.TrimLeft(data[decoded:], " \t\r\n")))
	e := &placedError{text: err.Error(), err: err}
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
	case isOfTime(err):
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

// isOfTime reports whether err is an error of reading the time of a message.
func isOfTime(err error) bool {
	var parse *time.ParseError
	return errors.As(err, &parse) || strings.HasPrefix(err.Error(), "Time.UnmarshalJSON: ")
}
