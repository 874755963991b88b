package runes

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine returns s in one line: each run of white space in it is one space, and there is none at its ends. A text that
// is in one line already is returned as it is.
func OneLine(s string) string {
	s = strings.TrimSpace(s)
	end := lineLength(s)
	if end == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for {
		line := strings.TrimSuffix(s[:end], " ")
		b.WriteString(line)
		if end == len(s) {
			return b.String()
		}
		b.WriteByte(' ')
		s = strings.TrimLeftFunc(s[end:], unicode.IsSpace)
		end = lineLength(s)
	}
}

// lineLength returns how much of s, which has no white space at its ends, has none but single spaces.
func lineLength(s string) int {
	const ones, low = 0x0101010101010101, ^uint64(NonASCII)
	before := uint64(0) // 0x80 if the byte before was a space
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			w := LoadWord(s, i)
			x := w ^ ' '*ones
			spaces := ^((x&low + low) | x | low) // 0x80 for each
			// The first byte that is marked has to be looked at. Those above it may be marked for nothing.
			odd := (w|(w-' '*ones)&^w)&NonASCII | spaces&(spaces<<8|before)
			if odd == 0 {
				before = spaces >> 56
				i += 8
				continue
			}
			if k := bits.TrailingZeros64(odd) / 8; k > 0 {
				i += k
				before = spaces >> (8*k - 8) & 0x80
			}
		}
		c, size := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(s[i:])
		}
		isSpace := c == ' '
		if isSpace && before != 0 || !isSpace && unicode.IsSpace(c) {
			return i
		}
		before = 0
		if isSpace {
			before = 0x80
		}
		i += size
	}
	return len(s)
}
