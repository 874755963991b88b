package jsontext

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
)

// Quote writes s as a JSON string, without the escapes for HTML that would make it longer and cost tokens.
func Quote(s string) json.RawMessage {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return AppendString(nil, s)
}

// Wrap makes an object of what a model wrote in the place of JSON, without losing it.
func Wrap(raw json.RawMessage) json.RawMessage {
	b, err := json.Marshal(map[string]string{"invalidJson": string(raw)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}

// AppendString appends s as package json writes it without escapes for HTML. It is several times as fast: most of a
// transcript is long strings, in which few characters are escaped.
func AppendString(b []byte, s string) []byte {
	if !runes.Only(s) && isRare(s) {
		return append(b, quoteRare(s)...)
	}
	b = append(slices.Grow(b, len(s)+2), '"')
	for {
		i := plainEnd(s, 0)
		b = append(b, s[:i]...)
		if i == len(s) {
			return append(b, '"')
		}
		b = appendEscape(b, s[i])
		s = s[i+1:]
	}
}

// isRare reports whether package json escapes more of s than ASCII.
func isRare(s string) bool {
	return !utf8.ValidString(s) || strings.Contains(s, "\u2028") || strings.Contains(s, "\u2029")
}

// appendEscape appends a quote, a backslash or a control character.
func appendEscape(b []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	if i := strings.IndexByte("\"\\\b\f\n\r\t", c); i >= 0 {
		return append(b, '\\', `"\bfnrt`[i])
	}
	return append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// quoteRare leaves a string to package json, which escapes some characters that are not ASCII, and bytes that are no
// UTF-8.
func quoteRare(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return []byte(`""`) // a string never fails
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
