package overflow

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/ascii"
)

// normalise lowers the case, sets the words of camelCase and of scripts without spaces apart from
// others, and drops links (a help page's address may hold every key word), quotes and apostrophes.
func normalise(b []byte, text string) (lower []byte, wide bool) {
	b = slices.Grow(b, len(text)+len(text)/16+16)
	last := rune(' ')
	for i := 0; i < len(text); {
		if last < utf8.RuneSelf { // most of any text is taken as it is
			start := i
			for i < len(text) && verbatim(text[i]) {
				i++
			}
			if i > start {
				b = append(b, text[start:i]...)
				last = rune(text[i-1])
				continue
			}
		}
		c := text[i]
		if c < utf8.RuneSelf {
			if sign, n := entity(text[i:]); n > 0 {
				b = append(b, sign)
				last = rune(sign)
				i += n
				continue
			}
			if c == ':' && strings.HasPrefix(text[i:], "://") {
				i += linkLength(text[i:])
				b = append(trimWord(b), ' ')
				last = ' '
				continue
			}
			b = appendASCII(b, c, last, text[i+1:])
			last = rune(c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		if digit := digitOf(r); digit != 0 {
			b = appendASCII(b, digit, last, text[i:])
			last = rune(digit)
			continue
		}
		if thinSpace(r) && last >= '0' && last <= '9' && group(text[i:]) {
			continue // 262 144
		}
		var plain string
		if plain, r = unquote(r); plain != "" || r == 0 {
			b = append(b, plain...)
			continue
		}
		wide = true
		r = unicode.ToLower(r)
		if isWide(r) != isWide(last) && last > ' ' {
			b = append(b, ' ')
		}
		b = utf8.AppendRune(b, r)
		last = r
	}
	return b, wide
}

// verbatim reports whether a character stays as it is, wherever it stands in ASCII.
func verbatim(c byte) bool {
	return verbatimASCII[c>>6]>>(c&63)&1 != 0
}

// verbatimASCII has a bit for each of the letters in lower case, the space, and the characters from ( to 9.
var verbatimASCII = [4]uint64{1<<' ' | (1<<('9'+1) - 1<<'('), (1<<26 - 1) << ('a' - 64)}

// trimWord takes the scheme of a link off the end.
func trimWord(b []byte) []byte {
	for len(b) > 0 && isAlnum(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// appendASCII adds one ASCII character that stands between last and rest.
func appendASCII(b []byte, c byte, last rune, rest string) []byte {
	upper := c >= 'A' && c <= 'Z'
	switch {
	case c == '\'' && last >= '0' && last <= '9' && group(rest):
		return b // 262'144
	case c == '\n':
		return append(b, c)
	case c == '`', c == '\'', c < ' ':
		if c == '\'' && unicode.IsLetter(last) {
			return b // model's, doesn't
		}
		return append(b, ' ')
	case upper && isLower(last) && !(c == 'B' && endsInBinaryPrefix(b)): // camelCase
		b = append(b, ' ')
	case isWide(last) && c > ' ':
		b = append(b, ' ')
	}
	if upper {
		c |= 0x20
	}
	return append(b, c)
}

func isLower(r rune) bool { return 'a' <= r && r <= 'z' }

// endsInBinaryPrefix reports whether the text ends in the "Mi" of "20 MiB".
func endsInBinaryPrefix(b []byte) bool {
	n := len(b)
	if n < 2 || b[n-1] != 'i' || !strings.ContainsRune("kmg", rune(b[n-2])) {
		return false
	}
	return n == 2 || b[n-3] == ' ' || b[n-3] >= '0' && b[n-3] <= '9'
}

// unquote turns typographic punctuation into ASCII; "", 0 means that the character is dropped.
func unquote(r rune) (string, rune) {
	switch r {
	case '‘', '’', '\ufeff', utf8.RuneError,
		'\u200b', '\u200c', '\u200d', '\u200e', '\u200f', '\u2066', '\u2067', '\u2068', '\u2069': // seen by nobody
		return "", 0
	case '´', '“', '”', '「', '」', '\u00a0', '\u3000', '«', '»', '„':
		return " ", r
	case '≤':
		return "<=", r
	case '≥':
		return ">=", r
	case '，', '、':
		return ", ", r
	case '。':
		return ". ", r
	case '；':
		return "; ", r
	case '：':
		return ": ", r
	case '（':
		return " (", r
	case '）':
		return ") ", r
	case '＞':
		return ">", r
	case '–', '—', '−':
		return " - ", r
	}
	return "", r
}

// thinSpace reports whether r is a space, or an apostrophe, that typographers set between the digits of one number.
func thinSpace(r rune) bool {
	return r == '\u00a0' || r == '\u202f' || r == '\u2009' || r == '’'
}

// entity reads the sign that a page of HTML or XML writes as a name, and returns how many bytes that takes, 0 for none.
func entity(text string) (sign byte, n int) {
	switch {
	case text[0] != '&':
		return 0, 0
	case strings.HasPrefix(text, "&gt;"):
		return '>', len("&gt;")
	case strings.HasPrefix(text, "&lt;"):
		return '<', len("&lt;")
	case strings.HasPrefix(text, "&quot;"):
		return ' ', len("&quot;")
	}
	return 0, 0
}

// digitOf returns the ASCII digit for a digit of full width, and 0 for any other character.
func digitOf(r rune) byte {
	if r >= '０' && r <= '９' {
		return byte('0' + r - '０')
	}
	return 0
}

// isWide reports whether words in the script of r are written without spaces.
func isWide(r rune) bool { return r >= 0x2e80 }

func linkLength(s string) int {
	n := strings.IndexAny(s, " \n\t\"'`)>,")
	if n < 0 {
		n = len(s)
	}
	if s[n-1] == ':' && n > 3 { // of the sentence, not of the link
		n--
	}
	return n
}

// group reports whether s begins with exactly three digits, as behind a thousands separator.
func group(s string) bool {
	for i := range 3 {
		if i >= len(s) || s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) == 3 || s[3] < '0' || s[3] > '9'
}

func isAlnum(c byte) bool { return ascii.IsLower(c) || ascii.IsDigit(c) }
