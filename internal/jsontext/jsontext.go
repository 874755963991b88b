// Package jsontext looks at JSON as text: where its strings and members are, how long a text is in it, in which line an
// error is. It also writes a text as JSON.
package jsontext

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/mem"
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
	if len(literal) < 2 || literal[0] != '"' {
		return "", false
	}
	if last := len(literal) - 1; literal[last] == '"' {
		if s, ok = unescape(literal[1:last]); ok {
			return s, true
		}
	}
	ok = json.Unmarshal(literal, &s) == nil
	return s, ok
}

// unescape returns what stands between the quotes of a string, and leaves to package json, which takes four times as
// long, what it replaces: halves of pairs, and what is not UTF-8.
func unescape(text []byte) (s string, ok bool) {
	if !utf8.Valid(text) {
		return "", false
	}
	out, from := make([]byte, 0, len(text)), 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c < ' ' || c == '"':
			return "", false
		case c == '\\':
			r, n := escape(text[i:])
			if n == 0 || utf16.IsSurrogate(r) {
				return "", false
			}
			out = utf8.AppendRune(append(out, text[from:i]...), r)
			i += n - 1
			from = i + 1
		}
	}
	return mem.String(append(out, text[from:]...)), true
}
