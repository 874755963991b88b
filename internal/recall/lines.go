package recall

import (
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
)

// A line is what stands between two line ends. A longer one than MaxLine bytes counts as several, so that a text of 10
// MB in one line can be read in pieces too.
const (
	MaxLine = 2_000
	// wrapSlack is how many bytes a wrapped line may be shorter, to end between two words.
	wrapSlack = 200
)

// Wrap says which lines count as several besides those of more than MaxLine bytes. The zero value: no others. Where a
// line ends depends on the text from its beginning on: in a text that is cut off behind it, it may end elsewhere.
type Wrap struct {
	// Fits says that a line is short enough. One that is not is cut to a half of MaxLine, a quarter and so on, until it
	// fits or is a single character. nil: all lines are.
	Fits func(line string) bool
	// Sure is how many bytes fit whatever they are, so that Fits is not asked.
	Sure int
}

// LineEnd returns where the line that begins at from ends, without its line end, and where the next one begins.
func (w Wrap) LineEnd(s string, from int) (end, next int) {
	rest := s[from:]
	k := strings.IndexByte(rest[:min(len(rest), MaxLine+1)], '\n')
	switch {
	case k >= 0:
		end, next = from+k, from+k+1
	case len(rest) <= MaxLine:
		end, next = len(s), len(s)
	default:
		end = from + wrapped(rest)
		next = end
	}
	if fitting := w.fitting(s[from:end]); fitting < end-from {
		return from + fitting, from + fitting
	}
	return end, next
}

// fitting returns how many bytes of a line fit. It is 0 only for an empty line.
func (w Wrap) fitting(line string) int {
	fits := func(s string) bool { return w.Fits == nil || len(s) <= w.Sure || w.Fits(s) }
	for most := MaxLine / 2; most > 0 && !fits(line); most /= 2 {
		if most >= len(line) {
			continue
		}
		_, first := utf8.DecodeRuneInString(line)
		line = line[:max(first, characterStart(line, most))]
	}
	return len(line)
}

// characterStart returns where the character that holds a byte of s begins.
func characterStart(s string, at int) int {
	for k := 0; k < utf8.UTFMax-1 && at > 0 && !utf8.RuneStart(s[at]); k++ {
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

// Lines returns the number of lines of s.
func (w Wrap) Lines(s string) (n int) {
	if n, ok := w.shortLines(s); ok {
		return n
	}
	for at := 0; at < len(s); n++ {
		_, at = w.LineEnd(s, at)
	}
	return n
}

// shortLines returns the number of lines of s. ok is false if one may be so long that it is wrapped.
func (w Wrap) shortLines(s string) (n int, ok bool) {
	piece := MaxLine / 2 // between the line ends of two pieces that follow each other there is less than a long line
	if w.Fits != nil {
		piece = max(1, min(MaxLine, w.Sure)/2)
	}
	for at := 0; at < len(s); at += piece {
		ends := strings.Count(s[at:min(len(s), at+piece)], "\n")
		if ends == 0 && len(s)-at > piece {
			return 0, false
		}
		n += ends
	}
	if s != "" && s[len(s)-1] != '\n' {
		n++
	}
	return n, true
}

// LineStart returns where a line, counted from 1, begins: len(s) if there are fewer.
func (w Wrap) LineStart(s string, line int) (at int) {
	for ; line > 1 && at < len(s); line-- {
		_, at = w.LineEnd(s, at)
	}
	return at
}

// LineAt returns the number of the line, counted from 1, that holds the byte at offset.
func (w Wrap) LineAt(s string, offset int) int {
	n := 1
	for at := 0; at < len(s); n++ {
		if _, at = w.LineEnd(s, at); at > offset {
			break
		}
	}
	return n
}
