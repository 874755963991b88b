package minify

import (
	"strings"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/mem"
)

// isWholeJSON reports whether s is a JSON object or list in several lines, and nothing else.
func isWholeJSON(s string) bool {
	t := strings.TrimSpace(s)
	if t == "" || t[0] != '{' && t[0] != '[' || strings.IndexByte(t, '\n') < 0 {
		return false
	}
	return jsontext.Valid(mem.Bytes(t))
}

// lineBytes is the least length of a line of compacted JSON. The text is still searched, and its errors are still
// found, line by line; a line feed in 200 bytes costs next to nothing.
const lineBytes = 200

// compactJSON leaves out the white space of valid JSON that is outside of strings.
func compactJSON(s string) string {
	out := make([]byte, 0, len(s))
	line := 0 // where the last line begins in out
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case ' ', '\n', '\t', '\r':
			i++
		case '"':
			end := i + 1
			for s[end] != '"' {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			out = append(out, s[i:end+1]...)
			i = end + 1
		default:
			out = append(out, c)
			i++
			if c == ',' && len(out)-line >= lineBytes {
				out = append(out, '\n')
				line = len(out)
			}
		}
	}
	return string(out)
}
