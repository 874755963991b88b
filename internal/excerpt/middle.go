package excerpt

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/runes"
)

// Middle keeps the head and the tail of s, which has the given tokens, in about limit tokens. The tail gets 40 %:
// results of tools say at their end how they ended.
func Middle(s string, tokens, limit int) string {
	const marker = 8 // tokens of the text that stands for what is left out
	chars := utf8.RuneCountInString(s)
	keep := int(float64(chars) * float64(max(1, limit-marker)) / float64(max(1, tokens)))
	if keep >= chars {
		return s
	}
	head := s[:runes.HeadWords(s, keep*3/5)]
	tail := s[runes.TailWords(s, keep-keep*3/5):]
	left := chars - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
	short := fmt.Sprintf("%s[… %d characters left out …]%s", head, left, tail)
	if len(short) >= len(s) { // the marker is longer than what it stands for
		return head
	}
	return short
}

// MiddleOfJSON is [Middle] for the text of a JSON value, which becomes a JSON string: half an object would not be JSON.
func MiddleOfJSON(raw json.RawMessage, tokens, limit int) json.RawMessage {
	return jsontext.Quote(Middle(jsontext.Unquote(raw), tokens, limit))
}

// ToTokens keeps the head and the tail of s in at most limit tokens, by a counter of them.
func ToTokens(tokens func(string) int, s string, limit int) string {
	for range 4 { // text is not uniform: the first cut may miss
		n := tokens(s)
		if n <= limit {
			return s
		}
		s = Middle(s, n, limit*19/20)
	}
	return s
}
