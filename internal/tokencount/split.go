package tokencount

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
)

// The patterns by which OpenAI's tiktoken (MIT) cuts a text into pieces, each of which is encoded by itself. They are a
// fixed grammar of a few classes of characters, so functions read it: no engine for patterns is as fast. The tests
// compare the functions with the patterns.
const (
	o200kPattern = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` +
		`(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	cl100kPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|` +
		` ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// class is what the patterns distinguish. Each character has one; sets of them are sums.
type class uint8

const (
	upper    class = 1 << iota // Lu, Lt
	lower                      // Ll
	caseless                   // Lm, Lo
	mark                       // M
	number                     // N
	space                      // white space in a line
	lineEnd                    // \r, \n
	sign                       // everything else, and a byte that is not UTF-8

	letter     = upper | lower | caseless
	wordHead   = upper | caseless | mark
	wordTail   = lower | caseless | mark
	wordPrefix = mark | space | sign // [^\r\n\p{L}\p{N}]
	signs      = mark | sign         // [^\s\p{L}\p{N}]
	white      = space | lineEnd
)

var classRanges = [...]struct {
	class  class
	tables []*unicode.RangeTable
}{
	{caseless, []*unicode.RangeTable{unicode.Lo, unicode.Lm}},
	{lower, []*unicode.RangeTable{unicode.Ll}},
	{upper, []*unicode.RangeTable{unicode.Lu, unicode.Lt}},
	{mark, []*unicode.RangeTable{unicode.M}},
	{number, []*unicode.RangeTable{unicode.N}},
	{space, []*unicode.RangeTable{unicode.White_Space}},
}

// classAt returns the class of the character at s[i] and its length, or 0 at the end of s.
func classAt(s string, i int) (class, int) {
	if i >= len(s) {
		return 0, 0
	}
	switch c := s[i]; {
	case runes.IsLower(c):
		return lower, 1
	case runes.IsUpper(c):
		return upper, 1
	case runes.IsDigit(c):
		return number, 1
	case c == '\r' || c == '\n':
		return lineEnd, 1
	case c == ' ':
		return space, 1
	case runes.IsPunct(c):
		return sign, 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	for _, c := range classRanges {
		if unicode.In(r, c.tables...) {
			return c.class, size
		}
	}
	return sign, size
}

// skip returns the end of the row of characters of a set that begins at s[i].
func skip(s string, i int, set class) int {
	for {
		c, n := classAt(s, i)
		if c&set == 0 {
			return i
		}
		i += n
	}
}

// o200kPiece returns the length of the first piece of s, which is not empty.
func o200kPiece(s string) int {
	c, n := classAt(s, 0)
	switch {
	case c&letter != 0:
		head, whole := word(s, 0)
		if whole == 0 {
			whole = head
		}
		return contraction(s, whole)
	case c == mark: // a prefix, or else a letter by itself
		_, whole := word(s, n)
		if whole == 0 {
			_, whole = word(s, 0)
		}
		return contraction(s, whole)
	case c&wordPrefix != 0:
		head, whole := word(s, n)
		if whole == 0 && head > n {
			whole = head
		}
		if whole > 0 {
			return contraction(s, whole)
		}
	}
	return otherPiece(s, c, n, "\r\n/")
}

// word reads [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]* at s[i], which ends at head, and [\p{Ll}\p{Lm}\p{Lo}\p{M}]+ behind it,
// which ends at whole. If nothing is left for the second, it gets the last character that fits both. whole is 0 if
// there is no such character.
func word(s string, i int) (head, whole int) {
	for head = i; ; {
		c, n := classAt(s, head)
		if c&wordHead == 0 {
			if c == lower {
				whole = skip(s, head+n, wordTail)
			}
			return head, whole
		}
		head += n
		if c != upper {
			whole = head
		}
	}
}

// cl100kPiece returns the length of the first piece of s, which is not empty.
func cl100kPiece(s string) int {
	if end := contraction(s, 0); end > 0 {
		return end
	}
	c, n := classAt(s, 0)
	if c&(letter|wordPrefix) != 0 {
		if end := skip(s, n, letter); end > n || c&letter != 0 {
			return end
		}
	}
	return otherPiece(s, c, n, "\r\n")
}

// otherPiece returns the length of the piece of s that is not a word: digits, signs or white space. s begins with a
// character of class c and n bytes. The bytes of behind belong to the piece if they stand behind signs.
func otherPiece(s string, c class, n int, behind string) int {
	if c == number {
		for range 2 {
			next, size := classAt(s, n)
			if next != number {
				break
			}
			n += size
		}
		return n
	}
	if c&signs == 0 && s[0] != ' ' {
		return whitePiece(s)
	}
	end := skip(s, n, signs)
	if c == space && end == n {
		return whitePiece(s)
	}
	for end < len(s) && strings.IndexByte(behind, s[end]) >= 0 {
		end++
	}
	return end
}

// whitePiece returns the length of the piece of white space that s begins with: up to its last line end, or else all of
// it but for the last character, which belongs to what follows.
func whitePiece(s string) int {
	lines, last := 0, 0
	for i := 0; ; {
		c, n := classAt(s, i)
		switch {
		case c&white == 0 && lines > 0:
			return lines
		case c == 0 || c&white == 0 && last == 0:
			return i
		case c&white == 0:
			return last
		}
		last = i
		i += n
		if c == lineEnd {
			lines = i
		}
	}
}

// contraction returns the end of one of 's, 't, 're, 've, 'm, 'll, 'd at s[i], in any case, or i.
func contraction(s string, i int) int {
	if i >= len(s) || s[i] != '\'' {
		return i
	}
	for _, suffix := range [...]string{"s", "t", "re", "ve", "m", "ll", "d"} {
		if end := i + 1 + len(suffix); end <= len(s) && strings.EqualFold(s[i+1:end], suffix) {
			return end
		}
	}
	return i
}
