// Package exact keeps the bytes of a message that JSON cannot hold.
package exact

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
)

// Bytes are bytes of a message that JSON cannot hold: invalid UTF-8, and arguments that are not JSON or have line
// breaks.
type Bytes struct {
	Part      int    `json:"part"`
	Text      []byte `json:"text,omitempty"`
	Arguments []byte `json:"arguments,omitempty"`
}

// Of returns m in a form that JSON can hold, and the bytes that JSON cannot hold.
func Of(m *winnow.Message) (*winnow.Message, []Bytes) {
	var exact []Bytes
	out := *m
	for i := range m.Parts {
		x, p := Bytes{Part: i}, m.Parts[i]
		if !utf8.ValidString(p.Text) {
			x.Text, p.Text = []byte(p.Text), ""
		}
		if len(p.Arguments) > 0 && !IsOneLineJSON(p.Arguments) {
			x.Arguments, p.Arguments = p.Arguments, nil
		}
		if x.Text == nil && x.Arguments == nil {
			continue
		}
		if exact == nil {
			out.Parts = slices.Clone(m.Parts)
		}
		exact, out.Parts[i] = append(exact, x), p
	}
	return &out, exact
}

// IsOneLineJSON reports whether package json writes b unchanged: b is valid JSON in valid UTF-8, without white space.
func IsOneLineJSON(b []byte) bool {
	var compact bytes.Buffer
	return json.Compact(&compact, b) == nil && bytes.Equal(compact.Bytes(), b) && utf8.Valid(b)
}

// Restore puts back into m the bytes that JSON could not hold.
func Restore(m *winnow.Message, exact []Bytes) error {
	for _, x := range exact {
		if m == nil || x.Part < 0 || x.Part >= len(m.Parts) {
			return errors.New("exact bytes of a part that there is not")
		}
		p := &m.Parts[x.Part]
		if x.Text != nil {
			p.Text = string(x.Text)
		}
		if x.Arguments != nil {
			p.Arguments = x.Arguments
		}
	}
	return nil
}
