// Package identifier finds the paths, URLs, hashes, numbers and names in a text.
package identifier

import (
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/ascii"
)

// Kind says what an identifier names.
type Kind uint8

// The kinds of identifiers.
const (
	Path   Kind = iota // a file or directory
	URL                // a URL or a host
	Hash               // a hash, a UUID, an id with digits
	Number             // four digits or more, an IP address, a version, a number with a unit
	Error              // an error code or the name of an exception
	Symbol             // a word in quotes or backticks
	Name               // a snake_case or camelCase name, a flag
	Kinds              // how many kinds there are
)

// MaxBytes is the longest identifier, in bytes. What is longer is data, such as base64.
const MaxBytes = 256

// Scan calls emit for every identifier in s, in order and with repetitions. It takes time linear in s and allocates
// nothing. JSON escapes such as \n in s do not become part of an identifier, and the numbers in front of the lines of a
// listing are not identifiers.
func Scan(s string, emit func(id string, kind Kind)) {
	scan := scanner{s: s}
	for i, st := 0, outside; ; {
		if i = candidate(s, i, st); i == len(s) {
			return
		}
		i, st = scan.look(i, emit)
	}
}

// scanner looks for identifiers where the automaton stops.
type scanner struct {
	s     string
	read  int // how much of s was taken for part of a token or an escape
	lines listing
}

// look emits the identifiers in the token that has the byte s[at] or ends there. It returns where to go on, and in
// which state.
func (sc *scanner) look(at int, emit func(string, Kind)) (next int, st state) {
	switch c := sc.s[at]; {
	case c == '\\': // an escape, not a letter of the next word
		sc.read = at + escaped(sc.s, at, emit)
		if sc.s[sc.read-1] == '`' {
			return sc.read, behindPoint
		}
		return sc.read, outside
	case c >= utf8.RuneSelf:
		if at-2 >= sc.read {
			cjkQuoted(sc.s[at-2:], emit)
		}
		return at + 1, outside
	}
	start, end, all := at, at, uint8(0)
	for ; start > sc.read && ascii.Class[sc.s[start-1]] != 0; start-- {
		all |= ascii.Class[sc.s[start-1]]
	}
	for ; end < len(sc.s) && ascii.Class[sc.s[end]] != 0; end++ {
		all |= ascii.Class[sc.s[end]]
	}
	sc.read = end
	if start < end {
		sc.token(start, end, all, emit)
	}
	return sc.read, outside
}

// token emits the identifiers in the token s[start:end]. all has the classes of its bytes.
func (sc *scanner) token(start, end int, all uint8, emit func(string, Kind)) {
	s := sc.s
	if mayNumber(s, start, end, all) {
		if n := sc.lines.number(s, start); n > 0 {
			sc.read = start + n
			return
		}
	}
	whole := start
	if isBesideWide(s, start, end) {
		if start = behindWord(s, start, end); start == end || endsInWord(s, end) {
			return
		}
	}
	start += prefixLength(s, start, end)
	token := s[start:end]
	if start > whole {
		all = classes(token)
	}
	if all == ascii.Digit {
		scanNumber(token, all, emit)
		return
	}
	if !scanToken(token, all, emit) {
		if quote := quoteAround(s, start, end); quote != 0 && quotedSymbol(token, all, quote) {
			emit(token, Symbol)
		}
	}
}

// quoteAround returns the quote that stands on both sides of s[start:end], or 0.
func quoteAround(s string, start, end int) byte {
	if start > 0 && end < len(s) && s[start-1] == s[end] {
		if q := s[end]; q == '`' || q == '"' || q == '\'' {
			return q
		}
	}
	return 0
}

// quotedSymbol reports whether a token in quotes is a symbol. In backticks every word is one; in other quotes it must
// look like a name.
func quotedSymbol(token string, all uint8, quote byte) bool {
	if len(token) < 3 || len(token) > 64 || all&ascii.Alpha == 0 {
		return false
	}
	if quote == '`' || all&(ascii.Digit|ascii.Dash|ascii.Dot|ascii.Underscore) != 0 {
		return true
	}
	return all&ascii.Upper != 0 && all&ascii.Lower != 0
}

// cjkQuoted emits the short text in the CJK quotes that s begins with, if it does.
func cjkQuoted(s string, emit func(string, Kind)) {
	for _, q := range [...][2]string{{"「", "」"}, {"『", "』"}, {"《", "》"}, {"“", "”"}} {
		if rest, ok := strings.CutPrefix(s, q[0]); ok {
			if k := strings.Index(rest[:min(len(rest), 64)], q[1]); k >= 4 && !strings.ContainsAny(rest[:k], " \n") {
				emit(rest[:k], Symbol)
			}
		}
	}
}
