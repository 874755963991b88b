package identifier

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// Escapes that were escaped once more: the code in the argument of a call has \n in its strings, and the argument is
// JSON, which writes \\n for it. The letter belongs to no name, unless the backslashes stand in a path.

// twiceEscaped returns 1 if s[i], behind two backslashes, is the letter of an escape, and the next word begins behind
// it. It returns 0 where a path may go on: in front of the backslashes stands what may be part of one, as in
// src\\new_file.
func twiceEscaped(s string, i int) int {
	if i+1 >= len(s) || !isTwiceEscaped[s[i]] {
		return 0
	}
	var begins uint8 = runes.Alpha | runes.Digit | runes.Underscore | runes.Slash | runes.Dot
	if s[i] == 'b' { // no path begins in a regular expression: /\\bword\\b/.exec(text)
		begins &^= runes.Slash | runes.Dot
	}
	first := behindSlashes(s, i)
	isPath := false
	if first > 0 {
		c := s[first-1]
		isPath = c >= 0x80 || strings.IndexByte("%~*", c) >= 0 || isNameByte(c) || isDrive(s, first)
	}
	if first >= 2 && isTwiceEscaped[s[first-1]] && s[first-2] == '\\' { // \\n\\t: no directory has such a name
		isPath = false
	}
	if isPath || runes.Class[s[i+1]]&begins == 0 {
		return 0
	}
	return 1
}

// behindSlashes returns where the backslashes that end in front of s[i] begin.
func behindSlashes(s string, i int) int {
	for i > 0 && s[i-1] == '\\' {
		i--
	}
	return i
}

// isTwiceEscaped lists the letters of the escapes that are found behind two backslashes in recorded sessions: those of
// white space, and the b of a regular expression.
var isTwiceEscaped = [256]bool{'b': true, 'n': true, 'r': true, 't': true}
