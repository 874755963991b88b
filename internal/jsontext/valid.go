package jsontext

import (
	"math/bits"

	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/runes"
)

// maxDepth is how deep package json lets lists and objects lie in one another.
const maxDepth = 10_000

// Valid reports whether b is JSON. It says what [json.Valid] says and is several times as fast: most of a transcript is
// long strings, of which it looks at eight bytes at a time.
func Valid(b []byte) bool {
	v := validator{in: mem.String(b)}
	v.space()
	return v.value(0) && v.isAtEnd()
}

// validator reads JSON from the front. Its methods report whether they found what they look for.
type validator struct {
	in string
	at int
}

func (v *validator) isAtEnd() bool {
	v.space()
	return v.at == len(v.in)
}

func (v *validator) space() {
	for v.at < len(v.in) {
		switch v.in[v.at] {
		case ' ', '\n', '\t', '\r':
			v.at++
		default:
			return
		}
	}
}

// next passes c, and white space behind it, if it comes next.
func (v *validator) next(c byte) bool {
	if v.at == len(v.in) || v.in[v.at] != c {
		return false
	}
	v.at++
	v.space()
	return true
}

// value passes a value and the white space behind it, within depth lists and objects.
func (v *validator) value(depth int) bool {
	if v.at == len(v.in) {
		return false
	}
	ok := false
	switch v.in[v.at] {
	case '"':
		ok = v.text()
	case '{':
		ok = depth < maxDepth && v.object(depth+1)
	case '[':
		ok = depth < maxDepth && v.list(depth+1)
	case 't':
		ok = v.word("true")
	case 'f':
		ok = v.word("false")
	case 'n':
		ok = v.word("null")
	default:
		ok = v.number()
	}
	v.space()
	return ok
}

func (v *validator) object(depth int) bool {
	v.next('{')
	if v.next('}') {
		return true
	}
	for {
		if v.at == len(v.in) || v.in[v.at] != '"' || !v.text() {
			return false
		}
		v.space()
		if !v.next(':') || !v.value(depth) {
			return false
		}
		if v.next('}') {
			return true
		}
		if !v.next(',') {
			return false
		}
	}
}

func (v *validator) list(depth int) bool {
	v.next('[')
	if v.next(']') {
		return true
	}
	for {
		if !v.value(depth) {
			return false
		}
		if v.next(']') {
			return true
		}
		if !v.next(',') {
			return false
		}
	}
}

func (v *validator) word(w string) bool {
	if len(v.in)-v.at < len(w) || v.in[v.at:v.at+len(w)] != w {
		return false
	}
	v.at += len(w)
	return true
}

func (v *validator) number() bool {
	if v.at < len(v.in) && v.in[v.at] == '-' {
		v.at++
	}
	first := v.at
	if !v.digits() || v.in[first] == '0' && v.at > first+1 {
		return false
	}
	if v.at < len(v.in) && v.in[v.at] == '.' {
		v.at++
		if !v.digits() {
			return false
		}
	}
	if v.at < len(v.in) && (v.in[v.at] == 'e' || v.in[v.at] == 'E') {
		v.at++
		if v.at < len(v.in) && (v.in[v.at] == '+' || v.in[v.at] == '-') {
			v.at++
		}
		return v.digits()
	}
	return true
}

// digits passes one digit or more.
func (v *validator) digits() bool {
	first := v.at
	for v.at < len(v.in) && '0' <= v.in[v.at] && v.in[v.at] <= '9' {
		v.at++
	}
	return v.at > first
}

// text passes the string that begins here.
func (v *validator) text() bool {
	for i := v.at + 1; ; {
		i = plainEnd(v.in, i)
		if i >= len(v.in) || v.in[i] < ' ' {
			return false
		}
		if v.in[i] == '"' {
			v.at = i + 1
			return true
		}
		n := escapeLength(v.in[i:])
		if n == 0 {
			return false
		}
		i += n
	}
}

// plainEnd returns where the first quote, backslash or control character from i on is, or len(s).
func plainEnd(s string, i int) int {
	const ones, high = 0x0101010101010101, runes.NonASCII
	for ; i+8 <= len(s); i += 8 {
		w := runes.LoadWord(s, i)
		quote, slash := w^('"'*ones), w^('\\'*ones)
		// Where a byte borrows from the ones behind it, it matches itself: the first match is a true one.
		found := ((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((w - ' '*ones) &^ w)
		if found &= high; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// escapeLength returns how long the escape is that s begins with; 0: s does not begin with one.
func escapeLength(s string) int {
	switch {
	case len(s) < 2:
	case unescaped[s[1]] != 0:
		return 2
	case s[1] == 'u' && hex4(s[2:]) >= 0:
		return 6
	}
	return 0
}

// hex4 returns the number that the first four hexadecimal digits of s are, or -1.
func hex4(s string) rune {
	if len(s) < 4 {
		return -1
	}
	var n rune
	for i := range 4 {
		c := s[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		n = n<<4 | rune(c)
	}
	return n
}
