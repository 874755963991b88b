package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
)

// maxNameChars is how much of a name or a path is shown. File systems limit a name to 255 bytes; a path of 4 096 bytes
// would be too long for a heading.
const maxNameChars = 256

// cleanName returns a name that is safe in a line of the prompt: without control and format characters, line separators
// and invalid UTF-8, and not too long.
func cleanName(s string) string {
	s = withoutControls(s[:min(len(s), 16*maxNameChars)])
	return strings.TrimSpace(clip(s, maxNameChars))
}

// oneLine returns a description as one line of the prompt, cleaned like a name.
func oneLine(s string) string { return withoutControls(strings.Join(strings.Fields(s), " ")) }

func withoutControls(s string) string {
	return strings.Map(func(r rune) rune {
		if isPlain := r >= ' ' && r <= '~'; !isPlain && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, valid(s))
}

// clip returns s, or its first n-1 characters and an ellipsis.
func clip(s string, n int) string {
	if !runes.AtLeast(s, n+1) {
		return s
	}
	if n <= 0 {
		return ""
	}
	return head(s, n-1) + "…"
}

// chars counts code points, which this package calls characters.
func chars(s string) int { return runes.Count(s) }

// head returns the first n characters of s.
func head(s string, n int) string { return s[:runes.Head(s, n)] }

// valid returns s with U+FFFD in place of invalid UTF-8.
func valid(s string) string {
	if utf8.ValidString(s) { // many times faster than searching for what to replace
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
