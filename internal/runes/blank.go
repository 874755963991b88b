package runes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsBlank reports whether s has no visible character. Providers refuse such a text.
func IsBlank(s string) bool { return !strings.ContainsFunc(s, IsVisible) }

// IsVisible reports whether r is neither white space nor a character that Unicode draws nothing for: control and format
// characters, such as a zero width space, a byte order mark or a soft hyphen, and fillers.
func IsVisible(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r != 0x7F
	}
	const brailleBlank = 0x2800
	return r != brailleBlank && !unicode.IsSpace(r) &&
		!unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// IsLetterOrDigit reports whether r is a letter or a digit of any script.
func IsLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// EndsWord reports whether r belongs to no word: it is neither a letter nor a digit nor a mark of any script.
func EndsWord(r rune) bool { return !IsLetterOrDigit(r) && !unicode.IsMark(r) }

// StandsAlone reports whether r is of a script that puts no blanks between words, or few.
func StandsAlone(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar)
}
