// Package jsontext looks at JSON as text: where its strings and members are, how long a text is in it, in which line an
// error is. It also writes a text as JSON.
package jsontext

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Strings yields where the strings in a JSON text, keys included, begin and end.
func Strings(raw []byte) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		s := scan{in: raw}
		for to := 0; ; {
			n := bytes.IndexByte(raw[to:], '"')
			if n < 0 {
				return
			}
			from := to + n
			if to = s.text(from); to < 0 || !yield(from, to) {
				return
			}
		}
	}
}

// Unquote returns the text of a JSON string. Any other JSON is returned as it is.
func Unquote(raw json.RawMessage) string {
	if s, ok := Decode(bytes.TrimSpace(raw)); ok {
		return s
	}
	return string(raw)
}

// Decode returns the text of a JSON string, as encoding/json reads it. ok is false for anything else.
func Decode(literal []byte) (s string, ok bool) {
	if len(literal) == 0 || literal[0] != '"' {
		return "", false
	}
	ok = json.Unmarshal(literal, &s) == nil
	return s, ok
}
