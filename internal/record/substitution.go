package record

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

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
