// Package identifier finds the paths, URLs, hashes, numbers and names in a text.
package identifier

import (
	"math/bits"
	"strings"

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
// listing are not identifiers. Most of a text is plain words, which are skipped eight bytes at a time.
func Scan(s string, emit func(id string, kind Kind)) {
	read := 0 // what was taken for part of a token or an escape
	var lines listing
	for i := skipWords(s, 0); i < len(s); i = skipWords(s, i) {
		class := ascii.Class[s[i]]
		if class == 0 {
			switch s[i] {
			case '\\': // an escape, not a letter of the next word
				i += escaped(s, i, emit)
				read = i
			case '`': // a plain word is one where it is quoted
				backticked(s, wordStart(s, read, i), i, emit)
				i++
			case 0xE2, 0xE3:
				i = skipContinuations(s, i+cjkQuoted(s[i:], emit))
			default:
				i = skipContinuations(s, i+1)
			}
			continue
		}
		start, first, odd := wordStart(s, read, i), class, i
		if start < i {
			first = ascii.Lower
		} else {
			class = 0
		}
		rest := class // classes of what is behind the first byte
		for i++; i < len(s) && ascii.Class[s[i]] != 0; i++ {
			rest |= ascii.Class[s[i]]
		}
		read = i
		if first == ascii.Digit && mayNumber(s, start, i, rest) {
			if n := lines.number(s, start); n > 0 {
				i, read = start+n, start+n
				continue
			}
		}
		if isBesideWide(s, start, i) {
			if start = behindWord(s, start, i); start == i || endsInWord(s, i) {
				continue
			}
		}
		start += prefixLength(s, start, i)
		token, all, end := s[start:i], first|rest, i
		if i < len(s) && !isSpecial[s[i]] {
			i++
		}
		if all == ascii.Digit {
			scanNumber(token, len(token), emit)
			continue
		}
		if isPlain(first, rest, odd == end-1) || !scanToken(token, all, emit) {
			if quote := quoteAround(s, start, end); quote != 0 && quotedSymbol(token, all, quote) {
				emit(token, Symbol)
			}
		}
	}
}

// isSpecial lists the bytes without a class that mean something to Scan. Behind a token, Scan skips any other byte
// without a class.
var isSpecial = [256]bool{'\\': true, '`': true, 0xE2: true, 0xE3: true}

// isPlain reports whether a token is a word that names nothing, by the class of its first byte and those of the rest,
// and whether only its last byte is not a lower-case letter.
func isPlain(first, rest uint8, oddAtEnd bool) bool {
	switch all := first | rest; all {
	case ascii.Lower | ascii.Upper:
		return first == ascii.Upper && rest == ascii.Lower // the first word of a sentence
	case ascii.Lower | ascii.Dot:
		return oddAtEnd // the last word of a sentence
	case ascii.Lower | ascii.Dash, ascii.Joint:
		return true
	default:
		return all&(ascii.Alpha|ascii.Digit|ascii.Joint) == 0 // a URL may have no letters, but has joints
	}
}

// skipContinuations returns the index of the first byte of s, from i on, that does not continue a character of UTF-8.
func skipContinuations(s string, i int) int {
	for i < len(s) && s[i]&0xC0 == 0x80 {
		i++
	}
	return i
}

// skipWords returns an index of s, from i on, up to which s has only lower-case letters and bytes that Scan ignores:
// those up to the double quote, the comma, and {|}, which follow z.
func skipWords(s string, i int) int {
	const ones = 0x0101010101010101
	for ; i+8 <= len(s); i += 8 {
		w := ascii.LoadWord(s, i)
		low := w &^ ascii.NonASCII
		letter := (low + (0x80-'a')*ones) &^ (low + (0x7F-'}')*ones) // the high bit of each byte
		visible := (low + (0x7F-'"')*ones) & ((low ^ ','*ones) + 0x7F*ones)
		if odd := (visible&^letter | w) & ascii.NonASCII; odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(s) && (s[i] <= '"' || s[i] == ',' || ascii.Class[s[i]] == ascii.Lower) {
		i++
	}
	return i
}

// wordStart returns where the lower-case letters in front of s[i] begin, at or behind from.
func wordStart(s string, from, i int) int {
	for i > from && ascii.Class[s[i-1]] == ascii.Lower {
		i--
	}
	return i
}

// backticked emits s[start:end], a word of lower-case letters in front of a backtick, if it stands between two.
func backticked(s string, start, end int, emit func(string, Kind)) {
	if start > 0 && s[start-1] == '`' && quotedSymbol(s[start:end], ascii.Lower, '`') {
		emit(s[start:end], Symbol)
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

// cjkQuoted emits the short text in the CJK quotes that s begins with and returns how far it read.
func cjkQuoted(s string, emit func(string, Kind)) int {
	if len(s) > 1 && s[1] != 0x80 { // many are lines of tables, not quotes
		return 1
	}
	for _, q := range [...][2]string{{"「", "」"}, {"『", "』"}, {"《", "》"}, {"“", "”"}} {
		if rest, ok := strings.CutPrefix(s, q[0]); ok {
			if k := strings.Index(rest[:min(len(rest), 64)], q[1]); k >= 4 && !strings.ContainsAny(rest[:k], " \n") {
				emit(rest[:k], Symbol)
			}
			return len(q[0])
		}
	}
	return 1
}
