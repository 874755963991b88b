package record

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// What an edit has changed, in its line.

// How much the line of an edit has of it. In the recorded sessions, cost and lines are the same with it as without.
const (
	changeChars = 90 // of the old text and of the new one, without what they have in common
	placeChars  = 40 // of what stands in front of a change, and behind it

	mostCompared = 1 << 20 // bytes of the texts that are compared: that takes 20 ms
)

// written returns what an edit wrote, and what else the tool was told.
func (w *Writer) written(l *line) string {
	texts, before, after := w.textsOf(l)
	others := w.rest(l, l.arguments.File, func(m member) bool {
		return m.text != "false" && !slices.Contains(texts, m.text) && (m.isText || !strings.ContainsAny(m.text, "[{"))
	})
	return change(before, after) + others
}

// change tells how a text became another one: by the lines in which they differ if these are short, or else by how many
// they are, and how those begin that matter more: what went if that is more, else the lines that begin blocks. Around a
// change within a line it quotes the line, and of a new line the one in front.
func change(old, text string) string {
	if len(old)+len(text) > mostCompared {
		return ""
	}
	removed, added, place := differing(old, text)
	if len(removed) == 1 && len(added) == 1 {
		if removed[0], added[0], place = differingWords(removed[0], added[0]); place != "" {
			return "(" + place + ")"
		}
	}
	before, after := saying(removed), saying(added)
	if !runes.AtLeast(before, changeChars+1) && !runes.AtLeast(after, changeChars+1) {
		if len(removed) > 0 || len(added) != 1 || after == "" {
			place = ""
		}
		return inParentheses(strings.TrimSpace(signed("after ", place) + signed(" - ", before) + signed(" + ", after)))
	}
	size := sizeOf(removed, added)
	switch {
	case len(removed) > 2*len(added) && len(added) > 0: // it says more what went
		size += "- " + beginning(before, changeChars/2) + " + "
		return inParentheses(size + beginning(after, changeChars/2))
	case len(removed) > 2*len(added):
		return inParentheses(size + beginning(before, changeChars))
	}
	if opened := opening(added); len(opened) >= changeChars/2 { // a shorter one says less than the text does
		after = opened
	} else if code := saying(slices.DeleteFunc(slices.Clone(added), isRemark)); code != "" {
		after = code
	}
	return inParentheses(size + beginning(after, changeChars))
}

// isRemark reports whether a line begins with signs and a blank, as a comment does.
func isRemark(line string) bool {
	line = strings.TrimLeft(line, " \t")
	n := strings.IndexFunc(line, runes.IsLetterOrDigit)
	return n > 1 && line[n-1] == ' '
}

// opening returns those of lines that begin blocks, which are most often the names of what is declared: the least
// indented ones in front of a line that is further in and, if that is one, those in it. A word alone says nothing, and
// a line says no more the second time.
func opening(lines []string) string {
	lines = slices.DeleteFunc(slices.Clone(lines), isBlank)
	var begin []string
	for k, line := range lines[:max(0, len(lines)-1)] {
		text := strings.TrimSpace(line)
		word := strings.Trim(text, "{}()[: ")
		isWord := strings.TrimFunc(word, func(r rune) bool { return r >= 'a' && r <= 'z' }) == "" // try {
		isBracket := strings.IndexByte("{([:", text[len(text)-1]) >= 0
		says := isBracket && !isWord || !isBracket && !opens(text)
		if says && indentOf(line) < indentOf(lines[k+1]) && !slices.Contains(begin, line) {
			begin = append(begin, line)
		}
	}
	told := leastIndented(begin, 0)
	if len(told) == 1 {
		told = leastIndented(begin, indentOf(told[0])+1)
	}
	for k, line := range told {
		told[k] = beginning(strings.TrimSpace(line), valueChars)
	}
	return strings.Join(told, " / ")
}

// leastIndented returns the least indented ones of those lines that begin at least so far in, and those further out.
func leastIndented(lines []string, least int) (told []string) {
	next := math.MaxInt
	for _, line := range lines {
		if n := indentOf(line); n >= least {
			next = min(next, n)
		}
	}
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return indentOf(line) > next })
}

// indentOf returns how far in a line begins, in characters.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// beginning returns the beginning of a text, with a mark if there is more of it.
func beginning(text string, most int) string {
	if !runes.AtLeast(text, most+1) {
		return text
	}
	return strings.TrimSpace(text[:runes.HeadWords(text, most)]) + " …"
}

// sizeOf says how many lines an edit took out and put in, as a comparison of files does.
func sizeOf(removed, added []string) string {
	size := fmt.Sprintf("-%d +%d lines: ", len(removed), len(added))
	return strings.NewReplacer("-0 ", "", "+0 ", "").Replace(size)
}

// signed returns text behind a sign, or nothing if there is no text.
func signed(sign, text string) string {
	if text == "" {
		return ""
	}
	return sign + text
}

func inParentheses(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}

// textsOf returns the texts of an edit, what it replaced, and what it wrote: the longest text. The text that was there
// before has a key that says so, or begins or ends like the only other one. One text may hold both. Of several edits it
// is the first.
func (w *Writer) textsOf(l *line) (texts []string, before, after string) {
	var keys []string
	var read func(object []byte)
	read = func(object []byte) {
		jsontext.Members(object, func(key string, value []byte) {
			text, isText := jsontext.Decode(value)
			switch {
			case isText && text != l.arguments.File && text != l.arguments.Command:
				keys, texts = append(keys, key), append(texts, text)
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
		if n := slices.IndexFunc(keys, func(other string) bool { return toolcall.IsOldOf(other, key) }); n >= 0 {
			return []string{texts[n], texts[k]}, texts[n], texts[k]
		}
	}
	if len(texts) == 2 {
		if head, tail := commonWords(strings.TrimSpace(texts[0]), strings.TrimSpace(texts[1])); head+tail > 0 {
			return texts, texts[0], texts[1]
		}
	}
	if len(texts) == 0 {
		return nil, "", ""
	}
	longest := slices.MaxFunc(texts, func(a, b string) int { return len(a) - len(b) })
	if before, after, isChange := sidesOf(longest); isChange {
		return []string{longest}, before, after
	}
	return []string{longest}, "", longest
}

// sidesOf returns the two sides of a change that a text shows: between the marks of a conflict, or behind the signs of
// a comparison.
func sidesOf(text string) (before, after string, isChange bool) {
	var sides [2]strings.Builder
	side := -1 // between the marks of a conflict: 0, 1
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "<<<<<<<"):
			side, isChange = 0, true
		case side == 0 && strings.HasPrefix(line, "======="):
			side = 1
		case side == 1 && strings.HasPrefix(line, ">>>>>>>"):
			side = -1
		case side >= 0:
			sides[side].WriteString(line)
		case strings.HasPrefix(line, "@@"):
			isChange = true
		case line[0] == '-' && !strings.HasPrefix(line, "--- "):
			sides[0].WriteString(line[1:])
		case line[0] == '+' && !strings.HasPrefix(line, "+++ "):
			sides[1].WriteString(line[1:])
		}
	}
	return sides[0].String(), sides[1].String(), isChange
}

// differing returns the lines that only the text before has, and those that only the text after has, whatever the white
// space in them, and the line in front of the first of the latter.
func differing(before, after string) (removed, added []string, inFront string) {
	left := map[string]int{}
	for line := range strings.Lines(before) {
		left[runes.OneLine(line)]++
	}
	for line := range strings.Lines(after) {
		if key := runes.OneLine(line); left[key] == 0 {
			added = append(added, line)
		} else if left[key]--; len(added) == 0 && !isBlank(line) {
			inFront = beginning(strings.TrimSpace(line), placeChars)
		}
	}
	for line := range strings.Lines(before) {
		if key := runes.OneLine(line); left[key] > 0 {
			left[key]--
			removed = append(removed, line)
		}
	}
	return removed, added, inFront
}

// saying returns those of lines that have more than brackets, with a slash between them. The blanks in which a line
// begins may matter.
func saying(lines []string) string {
	lines = slices.DeleteFunc(slices.Clone(lines), isBlank)
	for k, line := range lines {
		lines[k] = strings.TrimLeft(strings.TrimRight(line, " \t\r\n"), "\t")
	}
	return strings.Join(lines, " / ")
}

func isBlank(line string) bool { return !strings.ContainsFunc(line, runes.IsLetterOrDigit) }

// differingWords returns what a line and another one have between the words with which both begin and with which both
// end, and if these are short the line with them, as git diff --word-diff shows it.
func differingWords(before, after string) (old, text, line string) {
	before, after = strings.TrimSpace(before), strings.TrimSpace(after)
	head, tail := commonWords(before, after)
	old, text = before[head:len(before)-tail], after[head:len(after)-tail]
	if head+tail == 0 || runes.AtLeast(old, changeChars+1) || runes.AtLeast(text, changeChars+1) {
		return old, text, ""
	}
	if line = after[:head]; runes.AtLeast(line, placeChars+1) {
		line = "… " + line[runes.TailWords(line, placeChars):]
	}
	if old != "" {
		line += "[-" + old + "-]"
	}
	if text != "" {
		line += "{+" + text + "+}"
	}
	return old, text, line + beginning(after[len(after)-tail:], placeChars)
}

// commonWords returns how many bytes two texts have in common at their beginnings and at their ends, in whole words.
func commonWords(before, after string) (head, tail int) {
	a, b := strings.SplitAfter(before, " "), strings.SplitAfter(after, " ")
	for ; len(a) > 0 && len(b) > 0 && a[0] == b[0]; a, b = a[1:], b[1:] {
		head += len(a[0])
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail += len(a[len(a)-1])
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return head, tail
}
