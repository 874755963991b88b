package runes

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/ascii"
)

// OneLine returns s in one line: each run of white space in it is one space, and there is none at its ends. A text that
// is in one line already is returned as it is.
func OneLine(s string) string {
	s = strings.TrimSpace(s)
	if isOneLine(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for word := range strings.FieldsSeq(s) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

// isOneLine says that s, which has no white space at its ends, has none but single spaces.
func isOneLine(s string) bool {
	const ones, low = 0x0101010101010101, ^uint64(ascii.NonASCII)
	before := uint64(0) // 0x80 if the byte before was a space
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			w := ascii.LoadWord(s, i)
			x := w ^ ' '*ones
			spaces := ^((x&low + low) | x | low) // 0x80 for each
			isPlain := (w|(w-' '*ones)&^w)&ascii.NonASCII == 0
			if isPlain && spaces&(spaces<<8|before) == 0 {
				before = spaces >> 56
				i += 8
				continue
			}
		}
		c, size := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(s[i:])
		}
		isSpace := c == ' '
		if isSpace && before != 0 || !isSpace && unicode.IsSpace(c) {
			return false
		}
		before = 0
		if isSpace {
			before = 0x80
		}
		i += size
	}
	return true
}
