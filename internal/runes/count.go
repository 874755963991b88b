package runes

import (
	"math/bits"
	"unicode/utf8"
)

// Count returns what utf8.RuneCountInString does, many times as fast: a character has one byte that does not continue
// another, and those are counted eight at a time. Text that may not be UTF-8 at a glance is read character by
// character.
func Count(s string) int {
	const step, stretch = 32, 128 // bytes of ASCII looked at together, and bytes that are read one by one
	const long = 256              // bytes that are worth the call of plainLength
	n := 0
	for len(s) >= step {
		w := s[:step]
		if (LoadWord(w, 0)|LoadWord(w, 8)|LoadWord(w, 16)|LoadWord(w, 24))&NonASCII == 0 {
			n, s = n+step, s[step:]
			if len(s) >= long {
				plain := plainLength(s)
				n, s = n+plain, s[plain:]
			}
			continue
		}
		if chars, bytes := countWords(s); bytes > 0 {
			n, s = n+chars, s[bytes:]
			continue
		}
		end := min(stretch, len(s))
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end++ // no character begins in one stretch and ends in the next
		}
		n, s = n+utf8.RuneCountInString(s[:end]), s[end:]
	}
	for ; len(s) >= 8 && LoadWord(s, 0)&NonASCII == 0; s = s[8:] {
		n += 8
	}
	return n + utf8.RuneCountInString(s)
}

// plainLength returns how many bytes of ASCII s begins with, in steps of 64: half as many steps as of 32 take little
// more than half the time.
func plainLength(s string) int {
	const step = 64
	rest := s
	for ; len(rest) >= step; rest = rest[step:] {
		w := rest[:step]
		first := LoadWord(w, 0) | LoadWord(w, 8) | LoadWord(w, 16) | LoadWord(w, 24)
		second := LoadWord(w, 32) | LoadWord(w, 40) | LoadWord(w, 48) | LoadWord(w, 56)
		if (first|second)&NonASCII != 0 {
			break
		}
	}
	return len(s) - len(rest)
}

// countWords counts the characters at the beginning of s, and the bytes that they have. It stops where a word may not
// be UTF-8, or a character that it does not know would begin, and behind 32 bytes of ASCII.
func countWords(s string) (chars, bytes int) {
	var pending uint64 // bytes of the next word that must continue a character: the high bit of each
	plain := 0         // words of ASCII in a row
	for bytes+8 <= len(s) && plain < 4 {
		w := LoadWord(s, bytes)
		high := w & NonASCII
		if high|pending == 0 {
			bytes, chars, plain = bytes+8, chars+8, plain+1
			continue
		}
		plain = 0
		first := high & (w << 1)   // of two bytes or more
		three := first & (w << 2)  // of three or more
		four := three & (w << 3)   // of four
		follow := high &^ (w << 1) // continue a character
		// Behind C0, C1, E0, ED, F0, and F4 and above, not every byte that continues a character is right.
		zero := ^(w<<4 | w<<5 | w<<6 | w<<7)
		surrogates := w << 4 & (w << 5) &^ (w << 6) & (w << 7)
		unsure := first&^three&^(w<<3|w<<4|w<<5|w<<6) | three&^four&(zero|surrogates) | four&(w<<4|w<<5|zero)
		if unsure|(follow^(first<<8|three<<16|four<<24|pending)) != 0 {
			break
		}
		pending = first>>56 | three>>48 | four>>40
		bytes, chars = bytes+8, chars+8-bits.OnesCount64(follow)
	}
	if pending != 0 { // the last character goes on behind the end
		for bytes--; !utf8.RuneStart(s[bytes]); bytes-- {
		}
		chars--
	}
	return chars, bytes
}
