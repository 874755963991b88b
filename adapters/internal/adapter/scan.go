package adapter

import (
	"bytes"
	"encoding/json"
	"unsafe"
)

// JSON that a caller keeps is read where it lies: package json copies and checks it, each time, and takes
// several times as long. What is no JSON is read as far as it looks like some.

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
		f(view(key[1:len(key)-1]), value)
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

// Unquote returns the text that a JSON string holds, or "" of what is none. It shares memory with value as
// long as that has no escapes: neither may be written.
func Unquote(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	in := value[1 : len(value)-1]
	at := bytes.IndexByte(in, '\\')
	if at < 0 {
		return view(in)
	}
	out := make([]byte, 0, len(in))
	for ; at >= 0; at = bytes.IndexByte(in, '\\') {
		if at+1 >= len(in) || unescaped[in[at+1]] == 0 { // \u, for one
			var s string
			_ = json.Unmarshal(value, &s) // "" of what cannot be read
			return s
		}
		out = append(append(out, in[:at]...), unescaped[in[at+1]])
		in = in[at+2:]
	}
	return view(append(out, in...))
}

// unescaped is what stands for the character behind a backslash.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// view is b as a string, without a copy.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// scan reads JSON from the front.
type scan struct{ in []byte }

func (s *scan) space() {
	for len(s.in) > 0 && (s.in[0] == ' ' || s.in[0] == '\n' || s.in[0] == '\t' || s.in[0] == '\r') {
		s.in = s.in[1:]
	}
}

// opens says that c comes next, and passes it.
func (s *scan) opens(c byte) bool {
	s.space()
	if len(s.in) == 0 || s.in[0] != c {
		return false
	}
	s.in = s.in[1:]
	return true
}

// more says that another member or element comes, and passes the comma before it.
func (s *scan) more(end byte) bool {
	s.space()
	if len(s.in) > 0 && s.in[0] == ',' {
		s.in = s.in[1:]
		s.space()
	}
	return len(s.in) > 0 && s.in[0] != end
}

// value returns the next value as it stands there, and passes it. It is empty if there is none.
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
