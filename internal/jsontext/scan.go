package jsontext

import (
	"bytes"

	"github.com/winnowgo/winnow/internal/mem"
)

// JSON that a caller keeps is read where it lies: package json copies and checks it, each time, and takes
// several times as long. What is not JSON is read as far as it looks like some.

// Members calls f for each member of an object, with its key as it stands between the quotes.
func Members(object []byte, f func(key string, value []byte)) {
	s := scan{in: object}
	if !s.opens('{') {
		return
	}
	for s.more('}') {
		key := s.value()
		if len(key) < 2 || key[0] != '"' || !s.opens(':') {
			return
		}
		value := s.value()
		if len(value) == 0 {
			return
		}
		f(mem.String(key[1:len(key)-1]), value)
	}
}

// Elements calls f for each element of a list.
func Elements(list []byte, f func(value []byte)) {
	s := scan{in: list}
	if !s.opens('[') {
		return
	}
	for s.more(']') {
		value := s.value()
		if len(value) == 0 {
			return
		}
		f(value)
	}
}

// Text returns the text that a JSON string holds, or "" for anything else. It shares memory with value as
// long as that has no escapes: neither may be written.
func Text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return mem.String(value[1 : len(value)-1])
	}
	s, _ := Decode(value)
	return s
}

// scan reads JSON from the front.
type scan struct{ in []byte }

func (s *scan) space() {
	for len(s.in) > 0 && isSpace(s.in[0]) {
		s.in = s.in[1:]
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// opens reports whether c comes next, and passes it.
func (s *scan) opens(c byte) bool {
	s.space()
	if len(s.in) == 0 || s.in[0] != c {
		return false
	}
	s.in = s.in[1:]
	return true
}

// more reports whether another member or element comes, and passes the comma before it.
func (s *scan) more(end byte) bool {
	s.space()
	if len(s.in) > 0 && s.in[0] == ',' {
		s.in = s.in[1:]
		s.space()
	}
	return len(s.in) > 0 && s.in[0] != end
}

// value returns the text of the next value and moves behind it. The text is empty if no value follows.
func (s *scan) value() []byte {
	s.space()
	if len(s.in) == 0 {
		return nil
	}
	n := 0
	switch s.in[0] {
	case '"':
		n = s.text(0)
	case '{', '[':
		n = s.nested()
	default:
		for n < len(s.in) && bytes.IndexByte([]byte(",]}: \n\t\r\""), s.in[n]) < 0 {
			n++
		}
	}
	if n < 0 {
		s.in = nil
		return nil
	}
	value := s.in[:n:n]
	s.in = s.in[n:]
	return value
}

// text returns where the string that begins at a place ends, or -1.
func (s *scan) text(from int) int {
	for i := from + 1; ; {
		quote := bytes.IndexByte(s.in[i:], '"')
		if quote < 0 {
			return -1
		}
		i += quote
		backslashes := 0
		for s.in[i-1-backslashes] == '\\' { // the opening quote ends it
			backslashes++
		}
		i++
		if backslashes%2 == 0 {
			return i
		}
	}
}

// nested returns where the object or list at the front ends, or -1.
func (s *scan) nested() int {
	depth := 0
	for i := 0; i < len(s.in); i++ {
		switch s.in[i] {
		case '"':
			end := s.text(i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}
