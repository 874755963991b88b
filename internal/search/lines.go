// Package search finds lines and passages in texts that are searched once: there is no index, nothing is kept between
// two searches, and equal inputs give equal results. Every function takes time linear in the text, whatever is in it.
package search

import (
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/ascii"
)

// A line is what stands between two line ends. A longer one than MaxLine bytes counts as several, so that a text of 10
// MB in one line can be read in pieces too.
const (
	MaxLine = 2_000
	// wrapSlack is how many bytes a wrapped line may be shorter, to end between two words.
	wrapSlack = 200
)

// LineEnd returns where the line that begins at from ends, without its line end, and where the next one begins.
func LineEnd(s string, from int) (end, next int) {
	rest := s[from:]
	if k := strings.IndexByte(rest[:min(len(rest), MaxLine+1)], '\n'); k >= 0 {
		return from + k, from + k + 1
	}
	if len(rest) <= MaxLine {
		return len(s), len(s)
	}
	end = from + wrapped(rest)
	return end, end
}

// wrapped returns how many bytes of s, which is longer than a line may be, make one line.
func wrapped(s string) int {
	end := MaxLine
	for k := 0; k < utf8.UTFMax-1 && !utf8.RuneStart(s[end]); k++ {
		end--
	}
	for k := end; k > MaxLine-wrapSlack; k-- {
		if c := s[k-1]; c < utf8.RuneSelf && !ascii.IsLetter(c) && !ascii.IsDigit(c) {
			return k
		}
	}
	return end
}

// Lines returns the number of lines of s.
func Lines(s string) (n int) {
	if n, ok := shortLines(s); ok {
		return n
	}
	for at := 0; at < len(s); n++ {
		_, at = LineEnd(s, at)
	}
	return n
}

// shortLines returns the number of lines of s. ok is false if one may be so long that it is wrapped.
func shortLines(s string) (n int, ok bool) {
	const piece = MaxLine / 2 // between the line ends of two pieces that follow each other there is less than a long line
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
func LineStart(s string, line int) (at int) {
	for ; line > 1 && at < len(s); line-- {
		_, at = LineEnd(s, at)
	}
	return at
}

// LineAt returns the number of the line, counted from 1, that holds the byte at offset.
func LineAt(s string, offset int) int {
	n := 1
	for at := 0; at < len(s); n++ {
		if _, at = LineEnd(s, at); at > offset {
			break
		}
	}
	return n
}
