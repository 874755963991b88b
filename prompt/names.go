package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNameChars is how much of a name or a path is shown. File systems limit a name to 255 bytes; a path of 4 096 bytes
// would be too long for a heading.
const maxNameChars = 256

// cleanName returns a name that is safe in a line of the prompt: without control and format characters, line separators
// and invalid UTF-8, and not too long.
func cleanName(s string) string {
	if isPlainName(s) {
		return s
	}
	s = withoutControls(s[:min(len(s), 16*maxNameChars)])
	return strings.TrimSpace(clip(s, maxNameChars))
}

// oneLine returns a description as one line of the prompt, cleaned like a name.
func oneLine(s string) string { return withoutControls(strings.Join(strings.Fields(s), " ")) }

func withoutControls(s string) string {
	if isPlain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if !isNameRune(r) {
			return -1
		}
		return r
	}, valid(s))
}

func isPlainName(s string) bool { return len(s) <= maxNameChars && isPlain(s) }

// isPlain reports whether s is printable ASCII.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

func isNameRune(r rune) bool {
	return !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// clip returns s, or its first n-1 characters and an ellipsis.
func clip(s string, n int) string {
	if chars(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	return head(s, n-1) + "…"
}

// chars counts code points, which this package calls characters.
func chars(s string) (n int) {
	for len(s) >= 8 {
		if word := s[:8]; word[0]|word[1]|word[2]|word[3]|word[4]|word[5]|word[6]|word[7] < utf8.RuneSelf {
			n, s = n+8, s[8:] // ASCII, the most frequent case
			continue
		}
		_, size := utf8.DecodeRuneInString(s)
		n, s = n+1, s[size:]
	}
	return n + utf8.RuneCountInString(s)
}

// head returns the first n characters of s.
func head(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// tail returns the last n characters of s.
func tail(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}

// valid returns s with U+FFFD in place of invalid UTF-8.
func valid(s string) string {
	if utf8.ValidString(s) { // many times faster than searching for what to replace
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
