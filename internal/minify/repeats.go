package minify

import (
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
	"github.com/winnowgo/winnow/internal/excerpt"
)

// fewestRepeats is how many lines in a row are worth a note.
const fewestRepeats = 6

// withoutRepeats keeps of lines in a row that differ only in numbers the first, a note of how many follow, and the
// last. It does so where nothing is lost: where the numbers change by even steps, tell when a line was logged, or say
// how far one thing has come, and no number that varies is part of a name. Rows of a table and lines that report an
// error stay.
func withoutRepeats(s string) string {
	r := rewriter{text: s}
	start, lines := 0, 0 // of the run
	previous := ""
	for i := 0; i < len(s); {
		end := lineEnd(s, i)
		line := s[i:end]
		if lines > 0 && differInNumbers(previous, line) {
			lines++
		} else {
			if lines >= fewestRepeats {
				r.count(start, i, lines)
			}
			start, lines = i, 1
		}
		previous, i = line, end+1
	}
	if lines >= fewestRepeats {
		r.count(start, len(s), lines)
	}
	return r.result()
}

// differInNumbers reports whether two lines are the same except for the values of their numbers.
func differInNumbers(a, b string) bool {
	if a == "" || b == "" || !sameOrDigits(a[len(a)-1], b[len(b)-1]) {
		return false
	}
	i, k := 0, 0
	for i < len(a) && k < len(b) {
		switch {
		case ascii.IsDigit(a[i]) && ascii.IsDigit(b[k]):
			i, k = numberEnd(a, i), numberEnd(b, k)
		case a[i] != b[k]:
			return false
		default:
			i++
			k++
		}
	}
	return i == len(a) && k == len(b)
}

func sameOrDigits(a, b byte) bool { return a == b || ascii.IsDigit(a) && ascii.IsDigit(b) }

// numberEnd returns where the digits of s end that begin at index i.
func numberEnd(s string, i int) int {
	for i < len(s) && ascii.IsDigit(s[i]) {
		i++
	}
	return i
}

// count replaces the lines text[start:end], except the first and the last, by a note of how many they are. If all are
// the same, only the first stays.
func (r *rewriter) count(start, end, lines int) {
	text := strings.TrimSuffix(r.text[start:end], "\n")
	from, to := strings.IndexByte(text, '\n')+1, strings.LastIndexByte(text, '\n')+1
	first := text[:from-1]
	if strings.TrimSpace(first) == "" || excerpt.ReportsError(first) {
		return
	}
	var room [mostColumns]column
	columns := columnsOf(first, room[:0])
	if len(columns) > mostColumns {
		return
	}
	readColumns(columns, text)
	logged := areLogged(text)
	var note string
	switch {
	case !vary(columns):
		to = len(text)
		note = "[... the same line " + strconv.Itoa(lines-1) + " times more]"
	case areEven(columns, false):
		note = "[... " + strconv.Itoa(lines-2) + " lines between these, with numbers in equal steps]\n"
	case areEven(columns, logged) || hasLabel(first) && areProgress(columns, logged):
		note = "[... " + strconv.Itoa(lines-2) + " lines that differ from these in numbers only]\n"
	default:
		return
	}
	if len(note) < to-from {
		r.replace(start+from, start+to, note)
	}
}

// readColumns reads into columns the numbers of lines, which differ only in numbers.
func readColumns(columns []column, lines string) {
	row := 0
	for line := range strings.SplitSeq(lines, "\n") {
		at := 0
		for k := range columns {
			for !ascii.IsDigit(line[at]) {
				at++
			}
			end := numberEnd(line, at)
			columns[k].read(line[at:end], row)
			at = end
		}
		row++
	}
}

// hasLabel reports whether a line names what it counts. A table of numbers does not.
func hasLabel(line string) bool {
	letters := 0
	for i := range len(line) {
		if letters++; !ascii.IsLetter(line[i]) && line[i] < 0x80 {
			letters = 0
		}
		if letters == 3 {
			return true
		}
	}
	return false
}
