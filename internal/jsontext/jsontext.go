// Package jsontext looks at JSON as text: whether it is valid, where its strings are, in which line an error is.
package jsontext

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Strings yields where the strings in a JSON text, keys included, begin and end.
func Strings(raw []byte) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for to := 0; ; {
			n := bytes.IndexByte(raw[to:], '"')
			if n < 0 {
				return
			}
			from := to + n
			if to = stringEnd(raw, from); !yield(from, to) {
				return
			}
		}
	}
}

// stringEnd returns the end of the string that begins at start.
func stringEnd(raw []byte, start int) int {
	for i := start + 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
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
