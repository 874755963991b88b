package openclaw

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
)

// isAlone reports whether text is nothing but the token.
func (t SilentToken) isAlone(text string) bool {
	end := t.tail(text, textStart)
	if !end.isToken() {
		return false
	}
	if t.Loose {
		return runes.IsBlank(text[:end.start])
	}
	return runes.IsBlank(text[:end.token])
}

// strip returns text without a trailing token, trimmed. Text that does not end in the token is returned as it is.
func (t SilentToken) strip(text string) string {
	if end := t.tail(text, textStart); end.isToken() {
		return strings.TrimSpace(text[:end.start])
	}
	return text
}

// silentTail is the end of a text that is a token, or may become one.
type silentTail struct {
	start    int  // of what belongs to it: white space and marks before the token
	token    int  // where the first token begins; of a complete one
	complete bool // the token is there, before the partial bytes
	blank    bool // all of it is white space so far
	partial  int  // bytes at the end that begin a character
}

func (t silentTail) isToken() bool { return t.complete && t.partial == 0 }

// textStart stands for the character before a text, where there is none.
const textStart rune = -1

// tail looks at the end of s; prev is the character before s.
func (t SilentToken) tail(s string, prev rune) silentTail {
	cut := len(s) - partialRune(s)
	found := t.tailOf(s[:cut], prev)
	found.partial = len(s) - cut
	if found.partial > 0 {
		if k := t.beginning(s, prev); k > 0 {
			found.start = min(found.start, t.before(s, len(s)-k, prev))
		}
	}
	return found
}

// tailOf is tail for a text that does not end within a character.
func (t SilentToken) tailOf(s string, prev rune) silentTail {
	token, complete := t.lastTokens(s, prev)
	if complete {
		return silentTail{start: t.before(s, token, prev), token: token, complete: true}
	}
	if k := t.beginning(s, prev); k > 0 {
		at := len(s) - k
		if earlier, ok := t.lastTokens(s[:at], prev); ok && t.Loose {
			at = earlier
		}
		return silentTail{start: t.before(s, at, prev)}
	}
	start := t.before(s, len(s), prev)
	return silentTail{start: start, blank: start < len(s) && runes.IsBlank(s[start:])}
}

// lastTokens returns where the tokens at the end of s begin: one in the exact form, any number in the loose one.
func (t SilentToken) lastTokens(s string, prev rune) (at int, ok bool) {
	token := t.text()
	for end := len(s); ; {
		if begin := end - len(token); begin >= 0 && t.equal(s[begin:end], token) && t.isBoundary(s, begin, prev) {
			if at, ok = begin, true; !t.Loose {
				return at, ok
			}
			end = begin
			continue
		}
		r, size := utf8.DecodeLastRuneInString(s[:end])
		if size == 0 || !unicode.IsSpace(r) && !(t.Loose && isMark(r)) {
			return at, ok
		}
		end -= size
	}
}

// beginning returns how many bytes at the end of s begin the token, less than all of it.
func (t SilentToken) beginning(s string, prev rune) int {
	token := t.text()
	for k := min(len(token)-1, len(s)); k > 0; k-- {
		if runes.ToUpper(s[len(s)-1]) != runes.ToUpper(token[k-1]) {
			continue // no beginning of the token ends so: quicker to see than the rest
		}
		if t.equal(s[len(s)-k:], token[:k]) && t.isBoundary(s, len(s)-k, prev) {
			return k
		}
	}
	return 0
}

// isBoundary reports whether a token may begin at i of s.
func (t SilentToken) isBoundary(s string, i int, prev rune) bool {
	r := prev
	if i > 0 {
		r, _ = utf8.DecodeLastRuneInString(s[:i])
	}
	if r == textStart || r == '*' {
		return true
	}
	return unicode.IsSpace(r) || t.Loose && isMark(r)
}

// maxMarks is how many marks belong to a token. A longer run of them is a line in the text.
const maxMarks = 32

// before returns where the text begins that belongs to a token at i: the marks that open it, and white space. In the
// loose form these are all marks, if nothing but marks stands before the token.
func (t SilentToken) before(s string, i int, prev rune) int {
	opening := "*"
	if t.Loose {
		opening = "*_~`\"'([{<"
	}
	if t.Loose && prev == textStart && isMarks(s[:i]) {
		return 0
	}
	marks := s[max(0, i-maxMarks):i]
	i -= len(marks) - len(strings.TrimRight(marks, opening))
	return len(strings.TrimRightFunc(s[:i], unicode.IsSpace))
}

// isMarks reports whether s is white space and at most maxMarks marks.
func isMarks(s string) bool {
	marks := 0
	for _, r := range s {
		if unicode.IsSpace(r) {
			continue
		}
		if marks++; marks > maxMarks || !isMark(r) {
			return false
		}
	}
	return true
}

// equal compares with the token, or the beginning of it.
func (t SilentToken) equal(s, token string) bool {
	if !t.Loose {
		return s == token
	}
	for i := range len(s) {
		if runes.ToUpper(s[i]) != runes.ToUpper(token[i]) {
			return false
		}
	}
	return true
}

// isMark reports whether r is punctuation, or a symbol as Markdown uses it.
func isMark(r rune) bool {
	return r < utf8.RuneSelf && strings.ContainsRune("`~^|<>=+$", r) || unicode.IsPunct(r)
}

// partialRune returns how many bytes at the end of s begin a character that is not all there.
func partialRune(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if last := s[len(s)-n:]; utf8.RuneStart(last[0]) {
			if isPartialRune(last) {
				return n
			}
			return 0
		}
	}
	return 0
}

// isPartialRune reports whether s is the beginning of one character, and not all of it.
func isPartialRune(s string) bool {
	return len(s) > 0 && len(s) < utf8.UTFMax && s[0] >= utf8.RuneSelf && !utf8.FullRuneInString(s)
}
