package winnow

import "bytes"

// isFlatObject says that b is a JSON object whose values are strings, whole numbers, true, false or null: the
// arguments of nearly all tool calls. Of such an object it is several times as fast as json.Valid; it is false
// for other JSON, too.
func isFlatObject(b []byte) bool {
	b = trimLeft(b)
	if len(b) == 0 || b[0] != '{' {
		return false
	}
	if b = trimLeft(b[1:]); len(b) > 0 && b[0] == '}' {
		return len(trimLeft(b[1:])) == 0
	}
	for {
		b = trimLeft(afterString(b))
		if len(b) == 0 || b[0] != ':' {
			return false
		}
		b = trimLeft(afterScalar(trimLeft(b[1:])))
		if len(b) == 0 {
			return false
		}
		switch b[0] {
		case ',':
			b = trimLeft(b[1:])
		case '}':
			return len(trimLeft(b[1:])) == 0
		default:
			return false
		}
	}
}

// trimLeft removes white space as JSON knows it.
func trimLeft(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\n' || b[0] == '\t' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// afterScalar returns what follows the scalar that b begins with, or nil.
func afterScalar(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	switch c := b[0]; {
	case c == '"':
		return afterString(b)
	case '1' <= c && c <= '9':
		n := 1
		for n < len(b) && isDigit(b[n]) {
			n++
		}
		return b[n:]
	case c == '0':
		return b[1:]
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if len(b) >= len(word) && string(b[:len(word)]) == word {
			return b[len(word):]
		}
	}
	return nil
}

// afterString returns what follows the string that b begins with, or nil. Escapes by number are left to package json.
func afterString(b []byte) []byte {
	if len(b) == 0 || b[0] != '"' {
		return nil
	}
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return b[i+1:]
		case c < ' ':
			return nil
		case c == '\\':
			if i++; i == len(b) || bytes.IndexByte([]byte(`"\/bfnrt`), b[i]) < 0 {
				return nil
			}
		}
	}
	return nil
}
