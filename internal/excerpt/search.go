package excerpt

import (
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
)

// reportMarks are bytes, at least one of which is in every line that reports an error: see marksReport. The standard
// library finds the next place of each, which is many times as fast as reading a text letter by letter.
var reportMarks = [...]byte{':', '\x9a', '[', 'x', 'k', 'R', 'F'}

// reportSearch finds, front to back, the places of a text that may report an error.
type reportSearch struct {
	text string
	next [len(reportMarks)]int // where each mark is next; len(text) if nowhere, and -1 before the first look
}

func searchReports(text string) *reportSearch {
	r := &reportSearch{text: text}
	for k := range r.next {
		r.next[k] = -1
	}
	return r
}

// from returns the first place at index at or behind it, or -1. From call to call, at must not get less. It may find
// lines that report nothing, but it leaves none out for which reportsError is true.
func (r *reportSearch) from(at int) int {
	nearest := len(r.text)
	for k, mark := range reportMarks {
		if r.next[k] < at {
			r.next[k] = nextMark(r.text, at, mark)
		}
		nearest = min(nearest, r.next[k])
	}
	if nearest == len(r.text) {
		return -1
	}
	return nearest
}

// nextMark returns where, from index i of s on, mark is the sign of a report, or len(s).
func nextMark(s string, i int, mark byte) int {
	for ; i < len(s); i++ {
		if s[i] != mark { // in a row of them a look ahead costs more than the step
			n := strings.IndexByte(s[i:], mark)
			if n < 0 {
				break
			}
			i += n
		}
		if marksReport(s, i) {
			return i
		}
	}
	return len(s)
}

// marksReport reports whether the byte of s at index i is part of what reportsError looks for.
func marksReport(s string, i int) bool {
	switch s[i] {
	case ':': // behind one of reportWords, the name of an exception, or one of reportSigns
		start := i
		for start > 0 && ascii.IsLetter(s[start-1]) {
			start--
		}
		if start == i {
			return i > 0 && s[i-1] >= 0x80
		}
		w := lettersAt(s, start)
		return !isName(w.before) && w.beginsReport()
	case '\x9a': // the end of a wide colon, in reportSigns
		return i > 0 && s[i-1] == '\xbc'
	case '[':
		return strings.HasSuffix(s[:i], "error")
	case 'x':
		return i > 0 && strings.HasPrefix(s[i-1:], "exit")
	case 'k':
		return strings.HasSuffix(s[:i], "racebac")
	case 'R':
		return i > 1 && strings.HasPrefix(s[i-2:], "ERROR")
	case 'F':
		return strings.HasPrefix(s[i:], "FA")
	}
	return false
}
