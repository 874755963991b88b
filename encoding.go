package winnow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/winnowgo/winnow/internal/jsontext"
)

// ReadMessages reads messages in JSON: one a line (JSON Lines), any number separated by white space, or
// one array of them. The error names the line and the field; the messages before it are returned with it.
func ReadMessages(r io.Reader) ([]Message, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("winnow: reading messages: %w", err)
	}
	// Some editors put a byte order mark in front of UTF-8. encoding/json takes it for an error.
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
			return out, nil // an array that ends here has lost its closing bracket
		} else if err != nil {
			return out, readError(data, start, err)
		}
		if e := cmp.Or(faultOf(&m), roleFault(m.Role)); e != nil {
			e.Index = len(out)
			return out, readError(data, start, e)
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
		if err := e.Encode(&messages[i]); err != nil {
			return fmt.Errorf("winnow: writing message %d: %w", i, err)
		}
	}
	return nil
}

// readError adds to err where it is in data: in the value that the decoder read from offset start on.
func readError(data []byte, start int64, err error) error {
	return fmt.Errorf("winnow: reading messages: %w", jsontext.Place(err, data, start))
}
