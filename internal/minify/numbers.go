package minify

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

const (
	// Fewer lines may be a list that somebody numbered, and not a view of a file.
	fewestNumbered = 16
	// One line in numberEvery keeps its number. All numbers from 1000 on stay: a model pages through a long file by
	// them, and package identifier takes them for names. In the recorded sessions it is cheaper to send them than to
	// have them asked for again.
	numberEvery = 10
	allFrom     = 1_000
	// catWidth is the width to which cat -n and nl pad numbers.
	catWidth = 6

	numbersNote = "[line numbers below 1000: only every 10th is shown]\n"
)

// withoutNumbers leaves out the numbers below 1000 that a viewer put in front of the lines of a file, except for the
// first, every tenth and the last. What is left of a line is the line of the file, byte for byte. The forms are those
// of cat -n, of nl -ba and of the tools of common agents.
func withoutNumbers(s string) string {
	r := rewriter{text: s}
	for i := nextView(s, 0); i < len(s); {
		v := viewAt(s, i)
		if v.isCertain() && v.saving > len(numbersNote) {
			r.thin(&v)
		}
		i = nextView(s, v.end)
	}
	return r.result()
}

// MayBeNumbered reports whether s may have line numbers to leave out. If it reports false, s has none.
func MayBeNumbered(s string) bool { return nextView(s, 0) < len(s) }

// nextView returns where the next line begins that may be numbered, or len(s), from index i on, where a line begins.
func nextView(s string, i int) int {
	for i < len(s) && !mayBeNumbered(s, i) {
		i = lineEnd(s, i) + 1
	}
	return min(i, len(s))
}

// mayBeNumbered reports whether the line at index i of s begins with a digit, perhaps behind spaces. Most lines do not.
func mayBeNumbered(s string, i int) bool {
	for i < len(s) && s[i] == ' ' {
		i++
	}
	return i < len(s) && runes.IsDigit(s[i])
}

// isAligned reports whether the number is padded as cat -n does it.
func isAligned(n *Number, line string) bool {
	return n.Digits == catWidth || n.Digits > catWidth && line[0] != ' '
}

// keeps reports whether a line in the middle of a view keeps its number n.
func keeps(n *Number) bool { return n.Value >= allFrom || n.Value%numberEvery == 0 }

// view is a run of lines with consecutive numbers.
type view struct {
	start, end int // end: behind the line feed of the last line
	lines      int
	last       Number
	aligned    bool // all numbers are padded as cat -n does it
	blank      bool // a line has nothing but its number
	nested     bool // behind its number, a line has another one
	saving     int  // bytes of the numbers that are left out
}

// viewAt returns the view that begins with the line at index i of s. If that line has no number, the view is the line
// alone.
func viewAt(s string, i int) view {
	v := view{start: i, end: i, aligned: true}
	for v.end < len(s) {
		end := lineEnd(s, v.end)
		line := s[v.end:end]
		n := NumberOf(line)
		if v.lines > 0 && (n.Value != v.last.Value+1 || n.Separator != v.last.Separator) {
			break
		}
		v.end = min(end+1, len(s))
		if n.Width == 0 { // the first line has no number
			return v
		}
		rest := line[n.Width:]
		v.aligned = v.aligned && isAligned(&n, line)
		v.blank = v.blank || rest == "" || rest == "\r"
		v.nested = v.nested || NumberOf(rest).Width > 0
		if v.lines > 0 && !keeps(&n) {
			v.saving += n.Width
		}
		v.last = n
		v.lines++
	}
	if !keeps(&v.last) {
		v.saving -= v.last.Width
	}
	return v
}

// isCertain reports whether the numbers are a viewer's. No other text has an arrow behind them, or pads them as cat
// does. A table may have a column of numbers, but no row without anything else.
func (v *view) isCertain() bool {
	if v.lines < fewestNumbered || v.nested {
		return false
	}
	return v.last.Separator == "→" || v.last.Separator == "\t" && v.aligned || v.blank
}

// thin leaves out the numbers of v that it need not keep, and adds a note that says so.
func (r *rewriter) thin(v *view) {
	for i, k := v.start, 0; k < v.lines; k++ {
		end := lineEnd(r.text, i)
		if n := NumberOf(r.text[i:end]); k > 0 && k < v.lines-1 && !keeps(&n) {
			r.replace(i, i+n.Width)
		}
		i = end + 1
	}
	if strings.HasSuffix(r.text[:v.end], "\n") {
		r.replace(v.end, v.end, numbersNote)
	} else {
		r.replace(v.end, v.end, "\n", strings.TrimSuffix(numbersNote, "\n"))
	}
}
