package summarytext

import (
	"iter"
	"strings"
	"sync"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/prose"
	"github.com/winnowgo/winnow/internal/runes"
)

// An answer that is no summary: `null`, an error text, a question back. There is no list of such texts. A summary has a
// section that was asked for, or names something that the conversation names.

const (
	leastWords = 3 // fewer, without a section, say nothing
	// A text of this many bytes that is no summary is rare: errors, refusals and questions are short.
	longText = 800
	// So many words that the conversation has and that are not common make a summary without any name.
	manyWords = 8
	// From so many bytes on, a conversation has words that a summary of it would have.
	longConversation = 1_000
)

// IsHollow reports whether answer is no summary of a conversation with these texts.
func IsHollow(answer string, conversation iter.Seq[string]) bool {
	text := strings.TrimSpace(emptiness.Get().ReplaceAllString(answer, " "))
	n := 0
	for range words(text) {
		n++
	}
	switch {
	case htmlPage.Get().MatchString(answer):
		return true
	case askedSection.Get().MatchString(text) && n > 1, headings(text) > 0 && n >= leastWords+headings(text):
		return false
	case n < leastWords:
		return true
	case len(text) >= longText:
		return false
	}
	return !tellsOf(text, conversation)
}

var htmlPage = prose.NewPattern(`(?i)^\s*<(!doctype|html|head|body)\b`)

// askedSection matches a line that opens one of Sections: as a heading, in bold, underlined, numbered, or with a colon.
var askedSection = prose.NewPattern(`(?im)^[\s#*_>\d.)-]*(goal|constraints( & | and )preferences|constraints|` +
	`progress|in progress|blocked|key decisions|decisions|next steps|critical context)s?[*_]*\s*([:：—–-]|[*_]*$)`)

// heading matches a heading in any language.
var heading = prose.NewPattern(`(?m)^\s*(#{1,6}\s+\S.*|\*\*[^*\n]+\*\*:?\s*|【[^】\n]+】.*)$`)

func headings(text string) int { return len(heading.Get().FindAllStringIndex(text, -1)) }

// emptiness matches what shows nothing: comments, tags, fences, and the quotes and brackets of JSON.
var emptiness = prose.NewPattern("(?s)<!--.*?-->|</?[A-Za-z][^<>]*>|(?m:^[ \t]*```.*$)|[{}\\[\\]\"]")

// words iterates over the runs of letters and digits in s, and over the pairs of characters in scripts without spaces.
func words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for run := range strings.FieldsFuncSeq(s, runes.EndsWord) {
			if !strings.ContainsFunc(run, runes.StandsAlone) {
				if !yield(run) {
					return
				}
				continue
			}
			for characters := []rune(run); len(characters) > 1; characters = characters[1:] {
				if !yield(string(characters[:2])) {
					return
				}
			}
		}
	}
}

// common are words of errors, apologies and questions back, besides those of the prompt.
const common = `about after again although apologize appears assist attempt
	available because been before cannot check come complete context continue conversation could currently data does done
	error exceeded failed following from full further give have hello help here history include information input insert
	internal invalid know later like limit long love message messages model more must need next okay once over paste
	please process provide provided quota rate ready received request requests response retry seems send server service
	share should some sorry sure task text than thank that them then there these they this time unable understood until
	upon user wait want what when where which will with without would your yours`

var commonWords = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for w := range words(common + " " + strings.ToLower(System+Sections+Initial+Update)) {
		known[w] = true
	}
	return known
})

// sentence matches the end of one, that asks for nothing.
var sentence = prose.NewPattern(`[.!。！]["'”’)*_]*\s*$`)

// tellsOf reports whether text has a name of the conversation, many of its words, or in a sentence as many as others.
// Of a conversation that is short, or has no names, one word is enough.
func tellsOf(text string, conversation iter.Seq[string]) bool {
	names, said := map[string]bool{}, map[string]bool{}
	identifier.Scan(text, func(id string, _ identifier.Kind) { names[id] = true })
	for w := range words(text) {
		if lower := strings.ToLower(w); len(w) >= 4 && !commonWords()[lower] {
			said[lower] = true
		}
	}
	size, found, hasNames := 0, map[string]bool{}, false
	for t := range conversation {
		size += len(t)
		identifier.Scan(t, func(id string, _ identifier.Kind) { hasNames = true })
		for name := range names {
			if strings.Contains(t, name) {
				return true
			}
		}
		for w := range words(t) {
			if s := strings.ToLower(w); said[s] {
				if found[s] = true; len(found) >= manyWords {
					return true
				}
			}
		}
	}
	isProse := sentence.Get().MatchString(text) && len(found) >= 2 && 2*len(found) >= len(said)
	if hasNames && size >= longConversation && !isProse {
		return false
	}
	return len(found) > 0 || size < longConversation && len(said) > 0
}
