package minify

import "strings"

const (
	escape = '\x1b'
	bell   = '\a'
)

// withoutEscapes leaves out ANSI escape sequences. They colour a text, move a cursor or set a title. A link (OSC 8)
// stays, because its target stands nowhere else.
func withoutEscapes(s string) string {
	r := rewriter{text: s}
	for i := 0; ; {
		n := strings.IndexByte(s[i:], escape)
		if n < 0 {
			return r.result()
		}
		i += n
		length, isLink := sequence(s[i:])
		if !isLink {
			r.replace(i, i+length)
		}
		i += length
	}
}

// sequence returns the length of the escape sequence at the beginning of s. If the sequence is not known, that is the
// length of the escape byte alone, which nobody sees.
func sequence(s string) (length int, isLink bool) {
	if len(s) < 2 {
		return 1, false
	}
	switch s[1] {
	case '[':
		return controlSequence(s), false
	case ']':
		return command(s)
	case '(', ')': // a character set
		if len(s) > 2 && (s[2] == 'A' || s[2] == 'B' || s[2] == '0') {
			return 3, false
		}
	case '7', '8', '=', '>', 'M', 'c': // save, restore, modes of the keyboard, line up, reset
		return 2, false
	}
	return 1, false
}

// controlSequence returns the length of a sequence that begins with ESC [, or 1: parameters, intermediate bytes and a
// final one (ECMA-48, 5.4).
func controlSequence(s string) int {
	i := 2
	for i < len(s) && s[i] >= 0x30 && s[i] <= 0x3F {
		i++
	}
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2F {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7E {
		return i + 1
	}
	return 1
}

// maxCommand is the longest operating system command, in bytes. Titles are short, and links are URLs.
const maxCommand = 4_096

// command returns the length of a sequence that begins with ESC ], or 1. Such a sequence ends with ESC \ or with a
// bell.
func command(s string) (length int, isLink bool) {
	for i := 2; i < min(len(s), maxCommand); i++ {
		switch c := s[i]; {
		case c == bell:
			return i + 1, strings.HasPrefix(s, "\x1b]8;")
		case c == escape && i+1 < len(s) && s[i+1] == '\\':
			return i + 2, strings.HasPrefix(s, "\x1b]8;")
		case c < ' ':
			return 1, false
		}
	}
	return 1, false
}
