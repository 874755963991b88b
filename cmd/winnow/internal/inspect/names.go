package inspect

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// quotes finds in texts what an answer may take over from its request: names (paths, identifiers, structured numbers)
// and whole lines, as an edit quotes them. A request should hold those that its answer uses and that the history
// already had.
type quotes map[string]*quoted // by text, because most texts are in many requests

// quoted are the names and lines of a text.
type quoted struct{ names, lines map[string]bool }

// What a quote is: an index of counts.
const (
	aName = iota
	aLine
	quoteKinds
)

type counts [quoteKinds]int

const (
	leastName, mostName = 6, 200 // bytes: shorter names match by accident, longer ones are data
	leastLine           = 16     // bytes: shorter lines are brackets and keywords
)

func isNameByte(r rune) bool {
	return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_./-", r))
}

// in returns the names and lines of a text.
func (q quotes) in(text string) *quoted {
	if found, ok := q[text]; ok {
		return found
	}
	found := &quoted{map[string]bool{}, map[string]bool{}}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !isNameByte(r) }) {
		if word = strings.Trim(word, "./-"); len(word) >= leastName && len(word) <= mostName && isName(word) {
			found.names[word] = true
		}
	}
	for line := range strings.Lines(text) {
		if line = bareLine(line); len(line) >= leastLine {
			found.lines[line] = true
		}
	}
	q[text] = found
	return found
}

// bareLine returns a line without the number that a viewer puts in front of it, and a patch's sign.
func bareLine(line string) string {
	if n := minify.NumberOf(line); n.Width > 0 {
		line = line[n.Width:]
	}
	line = strings.TrimSpace(line)
	if len(line) > 1 && (line[0] == '-' || line[0] == '+') {
		line = strings.TrimSpace(line[1:])
	}
	return line
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

// of returns the names and lines of a message.
func (q quotes) of(m *winnow.Message) *quoted {
	return q.in(strings.Join(quotedText(m), "\n"))
}

// quotedText returns the texts of a message: what it says, and what its calls pass on.
func quotedText(m *winnow.Message) []string {
	texts := []string{recording.Text(m)}
	for _, p := range m.Parts {
		if p.Kind == winnow.KindToolCall {
			texts = append(append(texts, p.Name), stringsIn(p.Arguments)...)
		}
	}
	return texts
}

// stringsIn returns the texts in JSON, or the JSON if it has none.
func stringsIn(arguments json.RawMessage) (texts []string) {
	var value any
	if json.Unmarshal(arguments, &value) != nil {
		return []string{string(arguments)}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				walk(v[key])
			}
		}
	}
	walk(value)
	return texts
}

// known is everything that a history had so far.
type known struct{ names, lines map[string]bool }

func (k known) add(q *quoted) {
	for name := range q.names {
		k.names[name] = true
	}
	for line := range q.lines {
		k.lines[line] = true
	}
}

// needed returns the names and lines that an answer uses and the history knew. Lines are those of its calls: what it
// says to a person quotes nothing word for word.
func (q quotes) needed(answer *winnow.Message, k known) (need quoted) {
	need = quoted{map[string]bool{}, map[string]bool{}}
	for name := range q.of(answer).names {
		if k.names[name] {
			need.names[name] = true
		}
	}
	calls := winnow.Message{}
	for _, p := range answer.Parts {
		if p.Kind == winnow.KindToolCall {
			calls.Parts = append(calls.Parts, p)
		}
	}
	for line := range q.of(&calls).lines {
		if k.lines[line] {
			need.lines[line] = true
		}
	}
	return need
}

// missing returns what of need no message of a request has.
func (q quotes) missing(need quoted, request []winnow.Message) (gone quoted) {
	gone = quoted{map[string]bool{}, map[string]bool{}}
	texts := make([]*quoted, len(request))
	for i := range request {
		texts[i] = q.of(&request[i])
	}
	absent := func(has func(*quoted) bool) bool {
		for _, t := range texts {
			if has(t) {
				return false
			}
		}
		return true
	}
	for name := range need.names {
		if absent(func(t *quoted) bool { return t.names[name] }) {
			gone.names[name] = true
		}
	}
	for line := range need.lines {
		if absent(func(t *quoted) bool { return t.lines[line] }) {
			gone.lines[line] = true
		}
	}
	return gone
}

func (c *counts) add(q quoted) {
	c[aName] += len(q.names)
	c[aLine] += len(q.lines)
}
