package prompt

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/winnowgo/winnow/internal/runes"
)

// The reference's cut keeps the beginning and the end of a text, counted in characters.

// Shares of a limit for the beginning and the end. The rest is for the notice.
const (
	headShare = 0.7
	tailShare = 0.2
)

// headTail cuts a text to limit characters in the reference's form. The notice comes on top of that. It returns false
// if the text is not longer than the limit.
func headTail(name, text string, limit int) (string, bool) {
	text = strings.TrimRightFunc(text, isReferenceSpace)
	n := chars(text)
	if n <= limit {
		return text, false
	}
	first, last := int(float64(limit)*headShare), int(float64(limit)*tailShare)
	notice := fmt.Sprintf("\n\n[...truncated, read %s for full content...]\n…(truncated %s: kept %d+%d chars of "+
		"%d)…\n\n",
		name, name, first, last, n)
	return head(text, first) + notice + text[runes.Tail(text, last):], true
}

// isReferenceSpace is the white space of JavaScript's trimEnd.
func isReferenceSpace(r rune) bool {
	return r == '\ufeff' || unicode.IsSpace(r) && r != '\u0085'
}
