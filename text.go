package winnow

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/ascii"
)

// charCount returns what utf8.RuneCountInString does, many times as fast on the runs of ASCII that tools print.
func charCount(s string) int {
	const step, stretch = 32, 64 // bytes looked at together, and those read one by one where some are not ASCII
	n := 0
	for len(s) >= step {
		w := s[:step]
		if (ascii.LoadWord(w, 0)|ascii.LoadWord(w, 8)|ascii.LoadWord(w, 16)|ascii.LoadWord(w, 24))&ascii.NonASCII == 0 {
			n, s = n+step, s[step:]
			continue
		}
		end := min(stretch, len(s))
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end++ // no character begins in one stretch and ends in the next
		}
		n, s = n+utf8.RuneCountInString(s[:end]), s[end:]
	}
	return n + utf8.RuneCountInString(s)
}

// charsAtLeast says whether s has n characters or more. It reads no further than it must.
func charsAtLeast(s string, n int) bool {
	if n <= 0 {
		return true
	}
	if len(s) < n {
		return false
	}
	if len(s)/utf8.UTFMax >= n {
		return true
	}
	return headEnd(s, n-1) < len(s)
}

// headEnd returns the length in bytes of the first n characters of s, or len(s) if there are fewer.
func headEnd(s string, n int) int {
	i := 0
	for n >= 8 && i+8 <= len(s) && ascii.LoadWord(s, i)&ascii.NonASCII == 0 {
		i, n = i+8, n-8
	}
	for ; n > 0 && i < len(s); n-- {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// tailStart returns the index of the last n characters of s, or 0 if there are fewer.
func tailStart(s string, n int) int {
	i := len(s)
	for n >= 8 && i >= 8 && ascii.LoadWord(s, i-8)&ascii.NonASCII == 0 {
		i, n = i-8, n-8
	}
	for ; n > 0 && i > 0; n-- {
		if s[i-1] < utf8.RuneSelf {
			i--
			continue
		}
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}

// charCounter counts the characters of a text and its parts. It does not read them where every byte of the
// whole is a character (it is ASCII, or not valid).
type charCounter struct{ single bool }

// counterOf returns the counter for s and its parts, which has so many characters.
func counterOf(s string, chars int) charCounter { return charCounter{single: chars == len(s)} }

func (c charCounter) count(s string) int {
	if c.single {
		return len(s)
	}
	return charCount(s)
}

func (c charCounter) headEnd(s string, n int) int {
	if c.single {
		return min(max(0, n), len(s))
	}
	return headEnd(s, n)
}

func (c charCounter) tailStart(s string, n int) int {
	if c.single {
		return len(s) - min(max(0, n), len(s))
	}
	return tailStart(s, n)
}

// isBlank says that s shows its reader nothing: it has no visible character. Providers refuse texts of white space.
func isBlank(s string) bool {
	for _, r := range s {
		if isVisible(r) {
			return false
		}
	}
	return true
}

// isVisible says that r is neither white space nor a character that Unicode draws nothing for: control and format
// characters, such as a zero width space, a byte order mark or a soft hyphen, and fillers.
func isVisible(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r != 0x7F
	}
	const brailleBlank = 0x2800
	return r != brailleBlank && !unicode.IsSpace(r) &&
		!unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// cutAtLast is strings.Cut at the last sep.
func cutAtLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
