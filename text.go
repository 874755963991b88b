package winnow

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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
