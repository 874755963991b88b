package identifier

import "github.com/winnowgo/winnow/internal/runes"

// Escapes that were escaped once more: the code in the argument of a call has \n in its strings, and the argument is
// JSON, which writes \\n for it. The letter belongs to no name, unless the backslashes stand in a path.

// twiceEscaped returns 1 if s[i], behind two backslashes, is the letter of an escape, and the next word begins behind
// it. It returns 0 where that cannot be told: in front of the backslashes stands what may be part of a path or of a
// namespace, as in src\\new_file.
func twiceEscaped(s string, i int) int {
	if i+1 >= len(s) || !isTwiceEscaped[s[i]] {
		return 0
	}
	var begins uint8 = runes.Alpha | runes.Digit | runes.Underscore | runes.Slash | runes.Dot
	if s[i] == 'b' { // no path begins in a regular expression: /\\bword\\b/.exec(text)
		begins &^= runes.Slash | runes.Dot
	}
	if runes.Class[s[i+1]]&begins == 0 {
		return 0
	}
	first := behindSlashes(s, i)
	start := first
	for start >= 2 && isTwiceEscaped[s[start-1]] && s[start-2] == '\\' { // \\n\\t: no directory has such a name
		start = behindSlashes(s, start-1)
	}
	switch {
	case start < first:
		if isOnDrive(s, start) {
			return 0
		}
	case mayEndDirectory(s, first), isShare(s, first, i), isRooted(s, first, i):
		return 0
	}
	if isGreek(s[i:]) {
		return 0
	}
	return 1
}

// isTwiceEscaped lists the letters of the escapes that are found behind two backslashes in recorded sessions: those of
// white space, and the b of a regular expression.
var isTwiceEscaped = [256]bool{'b': true, 'n': true, 'r': true, 't': true}

// behindSlashes returns where the backslashes that end in front of s[i] begin.
func behindSlashes(s string, i int) int {
	for i > 0 && s[i-1] == '\\' {
		i--
	}
	return i
}

// mayEndDirectory reports whether a path may go on at s[i], a backslash: src\\, C:\\, %TEMP%\\, ~\\, **\\.
func mayEndDirectory(s string, i int) bool {
	if i == 0 {
		return false
	}
	switch c := s[i-1]; c {
	case '%', '~', '*':
		return true
	default:
		return c >= 0x80 || isNameByte(c) || isDrive(s, i)
	}
}

// isOnDrive reports whether s[i], a backslash, stands in a path with the letter of a drive.
func isOnDrive(s string, i int) bool {
	least := max(0, i-MaxBytes)
	for i > least && (s[i-1] == '\\' || isNameByte(s[i-1])) {
		i--
	}
	return isDrive(s, i)
}

// isShare reports whether the backslashes of s[first:i] begin the name of a share: \\server\share, with half as many
// backslashes behind the server.
func isShare(s string, first, i int) bool {
	lead := i - first
	for i < len(s) && isNameByte(s[i]) {
		i++
	}
	end := behindBackslashes(s, i)
	return 2*(end-i) == lead && end < len(s) && isNameByte(s[end])
}

// isRooted reports whether the backslashes of s[first:i] begin a path without a drive: \\tmp_dir\\src. Behind the name
// of the directory stand as many backslashes, and a word that begins like no escape. Behind \\b a regular expression
// goes on, which has more escapes than those.
func isRooted(s string, first, i int) bool {
	lead, end := i-first, i
	for end < len(s) && isNameByte(s[end]) {
		end++
	}
	next := behindBackslashes(s, end)
	if s[i] == 'b' || next-end != lead || next+1 >= len(s) {
		return false
	}
	return isNameByte(s[next]) && isNameByte(s[next+1]) && !isTwiceEscaped[s[next]]
}

// behindBackslashes returns where the backslashes that begin at s[i] end.
func behindBackslashes(s string, i int) int {
	for i < len(s) && s[i] == '\\' {
		i++
	}
	return i
}

// isGreek reports whether s begins with the name of a Greek letter that LaTeX writes with a backslash: \\beta_1.
func isGreek(s string) bool {
	n := 0
	for n < len(s) && runes.IsLetter(s[n]) {
		n++
	}
	switch s[:n] {
	case "beta", "nu", "rho", "tau", "theta":
		return true
	}
	return false
}
