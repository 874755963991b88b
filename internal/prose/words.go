package prose

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// A List of words says what a sentence is about. Case does not matter.
type List struct {
	words []string // in lower case; found only as whole words
	parts []string // in lower case; found anywhere: languages that put no space between words
}

// NewList returns the list of whole words, and of parts that are found anywhere. All are in lower case.
func NewList(words, parts []string) *List { return &List{words, parts} }

// plain writes the curly apostrophe as the straight one, and takes apart what JSON writes for a line end and the word
// behind it.
var plain = strings.NewReplacer("’", "'", `\n`, " ", `\t`, " ")

// In reports whether s holds one of the words or parts.
func (l *List) In(s string) bool {
	if s = strings.ToLower(s); strings.ContainsAny(s, `’\`) {
		s = plain.Replace(s)
	}
	isIn := func(part string) bool { return strings.Contains(s, part) }
	isWord := func(word string) bool { return hasWord(s, word) }
	return slices.ContainsFunc(l.parts, isIn) || slices.ContainsFunc(l.words, isWord)
}

// hasWord reports whether s holds w as a whole word: no letter, digit or underscore of ASCII stands beside it.
func hasWord(s, w string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], w)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(w)
		if (i == 0 || !isOfWord(s[i-1])) && (end == len(s) || !isOfWord(s[end])) {
			return true
		}
		from = i + 1
	}
}

func isOfWord(c byte) bool { return c == '_' || runes.IsLetter(c) || runes.IsDigit(c) }
