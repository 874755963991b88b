package inspect

import (
	"strings"
	"unicode"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// names finds the names in texts: paths, identifiers, structured numbers. A request should hold the names that its
// answer uses and that the history already had.
type names map[string][]string // by text, because most texts are in many requests

const leastName, mostName = 6, 200 // bytes: shorter names match by accident, longer ones are data

func isNameByte(r rune) bool {
	return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_./-", r))
}

// in returns the names of a text.
func (n names) in(text string) []string {
	if found, ok := n[text]; ok {
		return found
	}
	found := []string{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !isNameByte(r) }) {
		if word = strings.Trim(word, "./-"); len(word) >= leastName && len(word) <= mostName && isName(word) {
			found = append(found, word)
		}
	}
	n[text] = found
	return found
}

// isName reports whether a word does not occur in prose: it has a digit, a mark between its parts or a capital letter
// inside.
func isName(word string) bool {
	for i, r := range word {
		if unicode.IsDigit(r) || strings.ContainsRune("_./", r) || isHump(word, i) {
			return true
		}
	}
	return false
}

// isHump reports whether a capital letter at i follows a small one.
func isHump(word string, i int) bool {
	return i > 0 && unicode.IsUpper(rune(word[i])) && unicode.IsLower(rune(word[i-1]))
}

// of returns the names in messages.
func (n names) of(messages []winnow.Message) map[string]bool {
	set := map[string]bool{}
	for i := range messages {
		for _, name := range n.in(allText(&messages[i])) {
			set[name] = true
		}
	}
	return set
}

// allText returns the text of a message and the arguments of its calls.
func allText(m *winnow.Message) string {
	text := recording.Text(m)
	for _, p := range m.Parts {
		if p.Kind == winnow.KindToolCall {
			text += " " + p.Name + " " + string(p.Arguments)
		}
	}
	return text
}

// needed returns the names that an answer uses and the history knew.
func (n names) needed(answer *winnow.Message, known map[string]bool) []string {
	var out []string
	seen := map[string]bool{}
	for _, name := range n.in(allText(answer)) {
		if known[name] && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// held counts those of needed that a request holds.
func held(needed []string, request map[string]bool) (count int) {
	for _, name := range needed {
		if request[name] {
			count++
		}
	}
	return count
}
