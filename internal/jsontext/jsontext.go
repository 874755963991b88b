// Package jsontext reads JSON without decoding it: whether it is valid, where its strings are.
package jsontext

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
	"unicode/utf8"
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

// Quote writes s as a JSON string, without the escapes for HTML that would make it longer and cost tokens.
func Quote(s string) json.RawMessage {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return json.RawMessage(`""`) // no string of valid UTF-8 fails
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Unquote returns the text of a JSON string. Any other JSON is returned as it is.
func Unquote(raw json.RawMessage) string {
	if t := bytes.TrimSpace(raw); len(t) > 0 && t[0] == '"' {
		var s string
		if json.Unmarshal(t, &s) == nil {
			return s
		}
	}
	return string(raw)
}
