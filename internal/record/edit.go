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

	tookBack = "(as it was before an edit above)"
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
		if w.noteChange(l.arguments.File, texts[0], texts[1]) {
			return tookBack
		}
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
// text and the new one: they have keys that say so, or there are no others, or one text has both behind marks.
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
	if len(texts) == 1 {
		if before, after := halves(texts[0]); before != after {
			return []string{before, after}, true
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

// halves returns the old and the new lines in a diff, or in a text with marks around both and a ruler between them.
func halves(text string) (before, after string) {
	isDiff := strings.HasPrefix(text, "@@") || strings.Contains(text, "\n@@")
	var both [2]strings.Builder
	in := -1
	for line := range strings.Lines(text) {
		mark := strings.TrimLeft(line, "<>=+-")
		isMark := len(line)-len(mark) >= 5
		switch {
		case isMark && strings.HasPrefix(mark, " SEARCH"):
			in = 0
		case isMark && in == 0 && strings.TrimSpace(mark) == "":
			in = 1
		case isMark && strings.HasPrefix(mark, " REPLACE"):
			return both[0].String(), both[1].String()
		case in >= 0:
			both[in].WriteString(line)
		case isDiff && line[0] == '-' && !strings.HasPrefix(line, "---"):
			both[0].WriteString(line[1:])
		case isDiff && line[0] == '+' && !strings.HasPrefix(line, "+++"):
			both[1].WriteString(line[1:])
		}
	}
	return both[0].String(), both[1].String()
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
	n := commonStart(before, after)
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

// commonStart returns the length of the words with which both texts begin.
func commonStart(a, b string) (n int) {
	for most := min(len(a), len(b)); n < most && a[n] == b[n]; {
		n++
	}
	for !isBetweenWords(a, n) || !isBetweenWords(b, n) {
		n--
	}
	return n
}

// isBetweenWords reports whether no word goes on at s[i]. It does not where s ends.
func isBetweenWords(s string, i int) bool {
	isSpace := func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }
	return i == 0 || i == len(s) || isSpace(s[i-1]) || isSpace(s[i])
}

// A substitution that a command makes in a file, s/old/new/, is an edit like that of a tool: its line says both halves.

// substitution is command[from:to].
type substitution struct {
	from, to      int
	before, after string
}

// mostSubstitutions are shown of one command.
const mostSubstitutions = 2

// substitutionsIn finds the first substitutions in a command: in quotes stand the numbers of lines, an s and a sign
// that occurs twice more.
func substitutionsIn(command string) (found []substitution) {
	for i := 0; i < len(command) && len(found) < mostSubstitutions; i++ {
		if command[i] != '"' && command[i] != '\'' {
			continue
		}
		from := i + 1 + len(command[i+1:]) - len(strings.TrimLeft(command[i+1:], "0123456789,$ "))
		if from+1 >= len(command) || command[from] != 's' || strings.IndexByte("/|#,@!:%~", command[from+1]) < 0 {
			continue
		}
		sign := command[from+1]
		middle := endOfHalf(command, from+2, sign)
		end := endOfHalf(command, middle+1, sign)
		if end < len(command) {
			found = append(found, substitution{from, end + 1, command[from+2 : middle], command[middle+1 : end]})
			i = end
		}
	}
	return found
}

// endOfHalf returns where the next sign stands that no backslash escapes, or len(s).
func endOfHalf(s string, from int, sign byte) int {
	for i := from; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == sign {
			return i
		}
	}
	return len(s)
}

// short returns a substitution whose halves, if one is long, begin where they differ.
func (s substitution) short() string {
	n := 0
	if runes.AtLeast(s.before, changeChars+1) || runes.AtLeast(s.after, changeChars+1) {
		n = commonStart(s.before, s.after)
	}
	half := func(text string) string {
		if text = text[n:]; n > 0 {
			text = "…" + text
		}
		if runes.AtLeast(text, changeChars+1) {
			text = text[:runes.Head(text, changeChars)] + "…"
		}
		return text
	}
	return "s/" + half(s.before) + "/" + half(s.after) + "/"
}

// takesBack notes the substitutions of a command in file, and reports whether one takes an earlier edit back.
func (w *Writer) takesBack(command, file string) (isBack bool) {
	plain := strings.NewReplacer(`\`, "")
	for _, s := range substitutionsIn(command) {
		isBack = w.noteChange(file, plain.Replace(s.before), plain.Replace(s.after)) || isBack
	}
	return isBack
}

// noteChange notes that an edit made one text of another, and reports whether that takes an earlier edit back.
func (w *Writer) noteChange(file, before, after string) (isBack bool) {
	w.changes[[3]string{file, before, after}] = true
	return w.changes[[3]string{file, after, before}]
}
