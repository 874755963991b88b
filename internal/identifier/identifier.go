// Package identifier finds the paths, URLs, hashes, numbers and names in a text.
package identifier

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
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
// nothing. JSON escapes such as \n in s do not become part of an identifier.
func Scan(s string, emit func(id string, kind Kind)) {
	for i := 0; i < len(s); {
		start, all := i, uint8(0)
		for i < len(s) && runes.Class[s[i]] != 0 {
			all |= runes.Class[s[i]]
			i++
		}
		switch {
		case i > start:
			if all != runes.Lower || start > 0 && s[start-1] == '`' { // most tokens are words of a text
				if end := spacedPath(s, start, i); end > i {
					emit(strings.TrimPrefix(s[start:end], "./"), Path)
					i = end
					continue
				}
				scanAt(s, start, i, all, emit)
			}
		case s[i] == '\\': // an escape, not a letter of the next word
			i += escaped(s, i, emit)
		default:
			if i++; s[i-1] == ' ' || s[i-1] == '\n' {
				i = skipWords(s, i)
			}
		}
	}
}

// skipWords returns where the words of lower-case letters end that s has from index i on, behind a space. It looks at
// eight bytes at a time: most of a text is words, and the processor cannot foresee where each of them ends.
func skipWords(s string, i int) int {
	const ones = 0x0101010101010101
	k := i
	for ; k+8 <= len(s); k += 8 {
		w := runes.LoadWord(s, k)
		letters := (w + (0x80-'a')*ones) &^ (w + (0x7F-'z')*ones)
		notSpaces := (w ^ ' '*ones) + 0x7F*ones
		if w&runes.NonASCII != 0 || (letters|^notSpaces)&runes.NonASCII != runes.NonASCII {
			break
		}
	}
	for k > i && runes.IsLower(s[k-1]) { // a word that goes on
		k--
	}
	return k
}

// scanAt emits the identifiers in the token s[start:end]. all has the classes of its bytes.
func scanAt(s string, start, end int, all uint8, emit func(string, Kind)) {
	if isPiece(s, start, end) {
		return
	}
	n := prefixLength(s, start, end)
	start += n
	token := s[start:end]
	if n > 0 {
		all = classes(token)
	}
	if all == runes.Digit {
		scanNumber(token, all, emit)
		return
	}
	if !scanToken(token, all, emit) {
		isQuoted := start > 0 && end < len(s) && s[start-1] == s[end] && strings.IndexByte("`\"'", s[end]) >= 0
		if isQuoted && quotedSymbol(token, all, s[end]) {
			emit(token, Symbol)
		}
	}
}

// quotedSymbol reports whether a token in quotes is a symbol. In backticks every word is one; in other quotes it must
// look like a name.
func quotedSymbol(token string, all uint8, quote byte) bool {
	if len(token) < 3 || len(token) > 64 || all&runes.Alpha == 0 {
		return false
	}
	if quote == '`' || all&(runes.Digit|runes.Dash|runes.Dot|runes.Underscore) != 0 {
		return true
	}
	return all&runes.Upper != 0 && all&runes.Lower != 0
}
