// Package markup keeps the text of a conversation from passing as markup: as a tag of the frame that it stands in, as a
// role, or as a control token of a chat template. Models are lenient readers. Case, blanks, invisible characters,
// slashes and characters that look like others do not hide a tag from them, so they do not hide one here. Other markup,
// such as HTML and the type parameters of code, stays as it is.
package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
)

// What Write writes for a bracket.
const angle, square = "&lt;", "&#91;"

// Write writes s so that it stays data: the bracket that opens markup becomes an entity, control characters are left
// out, and invalid UTF-8 becomes U+FFFD.
func Write(b *strings.Builder, s string) {
	b.Grow(len(s) + len(s)/16) // at once: a text of megabytes would be copied at each step of its growth
	done := 0
	replace := func(from, to int, text string) {
		b.WriteString(s[done:from])
		b.WriteString(text)
		done = to
	}
	for i := nextOdd(s, 0); i < len(s); i = nextOdd(s, i) {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case r == utf8.RuneError && size == 1:
			replace(i, i+size, "\uFFFD")
		case r < ' ' && r != '\n' && r != '\t': // NUL and terminal codes: providers refuse some of them
			replace(i, i+size, "")
		case isAngle(r) && opensTag(s[i+size:]):
			replace(i, i+size, angle)
		case isSquare(r) && opensInstruction(s[i+size:]):
			replace(i, i+size, square)
		}
		i += size
	}
	b.WriteString(s[done:])
}

// Escape returns s as [Write] writes it. Escaping it again changes nothing.
func Escape(s string) string {
	if nextOdd(s, 0) == len(s) {
		return s
	}
	var b strings.Builder
	Write(&b, s)
	return b.String()
}

// CutAt returns where to cut s, which is escaped: at i, or in front of the entity that i is inside of. Half an entity
// is another text.
func CutAt(s string, i int) int {
	for _, entity := range []string{angle, square} {
		for k := max(0, i+1-len(entity)); k < i; k++ {
			if strings.HasPrefix(s[k:], entity) {
				return k
			}
		}
	}
	return i
}

// nextOdd returns the index of the next byte of s, from i on, that Write has to look at. Most text has only printable
// ASCII and white space.
func nextOdd(s string, i int) int {
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '<' || c == '[' {
			return i
		}
	}
	return i
}

// Attribute makes s fit between quotes: short, in one line, and without characters that end an attribute.
func Attribute(s string) string {
	s = s[:runes.Head(s, AttributeChars)]
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"&>", r) || isAngle(r) || breaksLine(r) || unicode.Is(unicode.Cf, r) {
			return '_'
		}
		return r
	}, s)
}

// AttributeChars is the longest tool name that providers allow.
const AttributeChars = 64

// Line makes one line of s: characters that divide a line become spaces.
func Line(s string) string {
	if !strings.ContainsFunc(s, breaksLine) && utf8.ValidString(s) {
		return s
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if breaksLine(r) {
			return ' '
		}
		return r
	}, s))
}

// breaksLine reports whether some reader takes r for the end of a line, or a terminal obeys it.
func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// Value is s as code writes it into a section of a summary: in one line, escaped, and cut to most characters. Whatever
// s holds, it begins no line, no section and no tag. A value that was read back stays as it is.
func Value(s string, most int) string {
	s = Escape(Line(s))
	if end := runes.Head(s, most); end < len(s) {
		head := CutAt(s, runes.HeadWords(s, most-len(valueCut))) // half a path is another path
		s = strings.TrimRight(s[:head], " ") + valueCut
	}
	return s
}

const valueCut = "..."
