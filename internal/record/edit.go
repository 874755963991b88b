package record

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/runes"
)

// What an edit has changed, in its line.

// How much the line of an edit has of it. In the recorded sessions, cost and lines are the same with it as without.
const (
	changeChars = 100 // of the old text and of the new one, without what they have in common
	mostWritten = 3   // names, where that is longer
)

// written returns what an edit wrote: where its two texts differ if that is short, or the first names that only the
// last of its texts has, or else the beginning of what differs. Names are looked for there first, and not among all
// others.
func (w *Writer) written(l *line) string {
	texts, isChange := w.textsOf(l)
	last := len(texts) - 1
	if last < 0 {
		return ""
	}
	if isChange {
		if words := changed(texts[0], texts[1]); words != "" {
			return words
		}
	}
	names := w.names.OfEdit(texts[:last], texts[last], mostWritten)
	switch {
	case len(names) > 0:
		return "(" + strings.Join(names, ", ") + ")"
	case isChange:
		return beginning(differing(texts[0], texts[1]))
	}
	return ""
}

// textsOf returns the texts of an edit, of a list of edits those of the first. If isChange is set, these are an old
// text and the new one: they have keys that say so, or there are no others.
func (w *Writer) textsOf(l *line) (texts []string, isChange bool) {
	var keys []string
	var read func(object []byte)
	read = func(object []byte) {
		jsontext.Members(object, func(key string, value []byte) {
			text, isText := jsontext.Decode(value)
			switch {
			case isText && text != l.arguments.File && text != l.arguments.Command:
				keys, texts = append(keys, strings.ToLower(key)), append(texts, text)
			case value[0] == '[':
				jsontext.Elements(value, func(edit []byte) {
					if len(texts) < 2 {
						read(edit)
					}
				})
			}
		})
	}
	read(l.raw)
	for k, key := range keys {
		if n := slices.IndexFunc(keys, func(other string) bool { return isOldOf(other, key) }); n >= 0 {
			return []string{texts[n], texts[k]}, true
		}
	}
	return texts, len(texts) == 2
}

// isOldOf reports whether one key names the old text and the other one the new one: old_str and new_str, search and
// replace.
func isOldOf(old, other string) bool {
	if strings.HasPrefix(other, "repl") {
		return old == "search" || old == "find"
	}
	return strings.Contains(other, "new") && old == strings.Replace(other, "new", "old", 1)
}

// beginning returns the beginning of what an edit has changed, where that is long and names nothing new.
func beginning(before, after string) string {
	sign, text := "+ ", after
	if strings.TrimSpace(after) == "" {
		sign, text = "- ", before
	}
	if text = runes.OneLine(text[:runes.Head(text, 4*changeChars)]); text == "" {
		return ""
	}
	return "(" + sign + strings.TrimSpace(text[:runes.HeadWords(text, changeChars)]) + " …)"
}

// changed returns in which words two texts differ, or "" if these are too long.
func changed(before, after string) string {
	before, after = differing(before, after)
	before, after = runes.OneLine(before), runes.OneLine(after)
	if before == after || runes.AtLeast(before, changeChars+1) || runes.AtLeast(after, changeChars+1) {
		return ""
	}
	if before != "" {
		before = "- " + before
	}
	if after != "" {
		after = "+ " + after
	}
	return "(" + strings.TrimSpace(before+" "+after) + ")"
}

// differing returns what two texts have between the words with which both begin and those with which both end.
func differing(before, after string) (string, string) {
	n := 0
	for most := min(len(before), len(after)); n < most && before[n] == after[n]; {
		n++
	}
	for !isBetweenWords(before, n) || !isBetweenWords(after, n) {
		n--
	}
	before, after = before[n:], after[n:]
	n = 0
	for most := min(len(before), len(after)); n < most && before[len(before)-1-n] == after[len(after)-1-n]; {
		n++
	}
	for !isBetweenWords(before, len(before)-n) || !isBetweenWords(after, len(after)-n) {
		n--
	}
	return before[:len(before)-n], after[:len(after)-n]
}

// isBetweenWords reports whether no word goes on at s[i]. It does not where s ends.
func isBetweenWords(s string, i int) bool {
	isSpace := func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }
	return i == 0 || i == len(s) || isSpace(s[i-1]) || isSpace(s[i])
}
