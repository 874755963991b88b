package jsontext

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/mem"
)

// Value returns the length of the JSON value that in begins with, without white space behind it. Depth is how many
// lists and objects it lies in. 0: there is no value that package json would accept.
func Value(in []byte, depth int) int {
	if len(in) == 0 || depth >= maxDepth {
		return 0
	}
	v := validator{in: mem.String(in)}
	if !v.value(depth) {
		return 0
	}
	return len(bytes.TrimRight(in[:v.at], " \t\r\n"))
}

// String reads the JSON string that in begins with into memory of its own. It returns the length of the string in the
// text too. The length is 0 if there is no string, or one that package json would change, as it does with invalid
// UTF-8.
func String(in []byte) (s string, length int) {
	if len(in) == 0 || in[0] != '"' {
		return "", 0
	}
	text := mem.String(in)
	saved := 0 // the text is shorter by at least this number of bytes without escapes
	end := 1
	for ; ; saved++ {
		if end = plainEnd(text, end); end >= len(text) || text[end] < ' ' {
			return "", 0
		}
		if text[end] == '"' {
			break
		}
		n := escapeLength(text[end:])
		if n == 0 {
			return "", 0
		}
		if n > 2 {
			if utf16.IsSurrogate(hex4(text[end+2:])) {
				return "", 0
			}
			saved += 2 // 6 bytes stand for 3 at most
		}
		end += n
	}
	raw := in[1:end]
	if !utf8.Valid(raw) {
		return "", 0
	}
	if saved == 0 {
		return string(raw), end + 1
	}
	return mem.String(appendUnescaped(make([]byte, 0, len(raw)-saved), raw)), end + 1
}

// appendUnescaped appends the text of a string whose escapes are known to be good.
func appendUnescaped(out, raw []byte) []byte {
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			return append(out, raw...)
		}
		out = append(out, raw[:at]...)
		if c := raw[at+1]; c != 'u' {
			out = append(out, unescaped[c])
			raw = raw[at+2:]
			continue
		}
		out = utf8.AppendRune(out, hex4(mem.String(raw[at+2:])))
		raw = raw[at+6:]
	}
}
