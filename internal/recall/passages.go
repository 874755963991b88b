package recall

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
)

const (
	// maxTerms is how many different words of a query count.
	maxTerms = 16
	// A passage is this many bytes and goes on to the end of its line: about what a person reads at a glance.
	passageBytes = 500
)

// stopWords say nothing of what a text is about. The list is Lucene's for English.
const stopWords = " a an and are as at be but by for if in into is it no not of on or such that the their then there " +
	"these they this to was will with "

// Words returns the different words of a text in small letters, 16 at most. A word is a run of letters and digits; of
// scripts that put no blanks between words each character is one. Stop words count only where there are no others.
func Words(text string) (list []string) {
	var stops []string
	for _, field := range strings.FieldsFunc(strings.ToLower(text), runes.EndsWord) {
		words := []string{field}
		if strings.ContainsFunc(field, runes.StandsAlone) {
			words = strings.Split(field, "")
		}
		for _, word := range words {
			if to := &list; !slices.Contains(list, word) && !slices.Contains(stops, word) {
				if strings.Contains(stopWords, " "+word+" ") {
					to = &stops
				}
				*to = append(*to, word)
			}
			if len(list) == maxTerms {
				return list
			}
		}
	}
	if len(list) == 0 {
		list = stops
	}
	return list[:min(len(list), maxTerms)]
}

// A Place is a passage of a text.
type Place struct {
	Text     int // in the order of the texts, from 0
	From, To int // bytes
	At       int // … of the first word of the query in it, or a little beside it
	Score    int // of each word of the query that stands there: 2, or 1 if it only stands within other words
}

// Places returns the passages of text that have a word of the query, in their order. n is the place of the text.
func Places(text string, n int, words []string) (list []Place) {
	for from := 0; from < len(text); {
		p := Place{Text: n, From: from, To: passageEnd(text, from), At: -1}
		passage := strings.ToLower(text[from:p.To])
		for _, word := range words {
			if at, score := find(passage, word); score > 0 {
				p.Score += score
				if at = min(from+at, p.To-1); p.At < 0 || at < p.At {
					p.At = at
				}
			}
		}
		if p.Score > 0 {
			list = append(list, p)
		}
		from = p.To
	}
	return list
}

// find returns where a word stands in a passage, by itself or else within another one, and what that counts.
func find(passage, word string) (first, score int) {
	isEdge := func(r rune) bool { return runes.EndsWord(r) || runes.StandsAlone(r) }
	for at := 0; ; {
		k := strings.Index(passage[at:], word)
		if k < 0 {
			return first, score
		}
		at += k
		before, _ := utf8.DecodeLastRuneInString(passage[:at])
		after, _ := utf8.DecodeRuneInString(passage[at+len(word):])
		if isEdge(before) && isEdge(after) {
			return at, 2
		}
		if score == 0 {
			first, score = at, 1
		}
		at += len(word)
	}
}

// Best sorts places, the best one first: those with the most of the words, and of equal ones those in newer texts.
// Within a text they keep their order. What has less than half of the best score is left out, and what is beyond n.
func Best(places []Place, n int) []Place {
	slices.SortStableFunc(places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Text, a.Text))
	})
	for k := range places {
		if k == n || 2*places[k].Score < places[0].Score {
			return places[:k]
		}
	}
	return places
}

// passageEnd returns where the passage that begins at from ends: behind a line end, or where a line is wrapped.
func passageEnd(s string, from int) int {
	if len(s)-from <= passageBytes {
		return len(s)
	}
	at := from + passageBytes
	if k := strings.IndexByte(s[at:min(len(s), from+MaxLine)], '\n'); k >= 0 {
		return at + k + 1
	}
	if len(s)-from <= MaxLine {
		return len(s)
	}
	return from + wrapped(s[from:])
}
