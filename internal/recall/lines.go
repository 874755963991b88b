package recall

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/runes"
)

// A line is what stands between two line ends. A longer one than MaxLine bytes counts as several, so that a text of 10
// MB in one line can be read in pieces too.
const (
	MaxLine = 2_000
	// wrapSlack is how many bytes a wrapped line may be shorter, to end between two words.
	wrapSlack = 200
)

// lines are the lines of a text, counted from 1.
type lines struct {
	text   string
	starts []int // where they begin
}

// linesOf returns the lines of s. A line for which fits is false is cut to a half of MaxLine, a quarter and so on,
// until it fits or is a single character. So where a line ends depends on the text from its beginning on.
func linesOf(s string, fits func(line string) bool) lines {
	l := lines{text: s}
	for at := 0; at < len(s); at += lineLength(s[at:], fits) {
		l.starts = append(l.starts, at)
	}
	return l
}

// mostEscaped is the most bytes that escaping makes of one: "&lt;" has 4, "&#91;" 5.
const mostEscaped = 5

// linesOf returns the lines of text, for each of which an answer has room.
func (r *Answer) linesOf(text string) lines {
	sure := r.Room / mostEscaped // a token has a byte or more
	return linesOf(text, func(line string) bool {
		return len(line) <= sure || r.Tokens(markup.Escape(line)) <= r.Room
	})
}

func (l *lines) count() int { return len(l.starts) }

// start returns where line n begins: at the end of the text if there are fewer.
func (l *lines) start(n int) int {
	if n > len(l.starts) {
		return len(l.text)
	}
	return l.starts[n-1]
}

// line returns line n without its line end.
func (l *lines) line(n int) string { return strings.TrimSuffix(l.text[l.start(n):l.start(n+1)], "\n") }

// at returns the number of the line that holds the byte at offset.
func (l *lines) at(offset int) int {
	n, isStart := slices.BinarySearch(l.starts, offset)
	if isStart {
		n++
	}
	return n
}

// lineLength returns how many bytes at the beginning of s, which is not empty, make one line with its line end.
func lineLength(s string, fits func(line string) bool) int {
	end := strings.IndexByte(s[:min(len(s), MaxLine+1)], '\n')
	length := end + 1
	switch {
	case end < 0 && len(s) <= MaxLine:
		end, length = len(s), len(s)
	case end < 0:
		end = wrapped(s)
		length = end
	}
	line := s[:end]
	for most := MaxLine / 2; most > 0 && !fits(line); most /= 2 {
		if most < len(line) {
			_, first := utf8.DecodeRuneInString(line)
			line = line[:max(first, characterStart(line, most))]
		}
	}
	if len(line) < end {
		return len(line)
	}
	return length
}

// characterStart returns where the character that holds a byte of s begins, or at if that is the end of s.
func characterStart(s string, at int) int {
	for k := 0; k < utf8.UTFMax-1 && at > 0 && at < len(s) && !utf8.RuneStart(s[at]); k++ {
		at--
	}
	return at
}

// wrapped returns how many bytes of s, which is longer than a line may be, make one line.
func wrapped(s string) int {
	end := characterStart(s, MaxLine)
	for k := end; k > MaxLine-wrapSlack; k-- {
		if c := s[k-1]; c < utf8.RuneSelf && !runes.IsLetter(c) && !runes.IsDigit(c) {
			return k
		}
	}
	return end
}
