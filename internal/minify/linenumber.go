package minify

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// Number is the number in front of a line.
type Number struct {
	Value     int
	Width     int    // bytes, with the separator; 0: the line has no number
	Digits    int    // where the digits end
	Separator string // behind the digits
}

// mostDigits is how many digits a number of a line has at most: no viewer shows a file with more lines.
const mostDigits = 9

// NumberOf returns the number in front of a line.
func NumberOf(line string) (n Number) {
	first := 0
	for first < len(line) && line[first] == ' ' {
		first++
	}
	i := first
	for i < len(line) && i-first < mostDigits && runes.IsDigit(line[i]) {
		n.Value = 10*n.Value + int(line[i]-'0')
		i++
	}
	if i == first {
		return Number{}
	}
	if n.Separator = separator(line[i:]); n.Separator == "" {
		return Number{}
	}
	n.Digits, n.Width = i, i+len(n.Separator)
	return n
}

// separator returns what stands behind the numbers of cat -n and nl, and of the tools of common agents, if rest begins
// with it.
func separator(rest string) string {
	const arrow = "→"
	switch {
	case rest == "":
	case rest[0] == '\t':
		return rest[:1]
	case len(rest) >= 2 && (rest[0] == ':' || rest[0] == '|') && rest[1] == ' ':
		return rest[:2]
	case strings.HasPrefix(rest, arrow):
		return rest[:len(arrow)]
	}
	return ""
}
