package identifier

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
)

// What stands around a token and decides whether it is a name: escapes, letters of other alphabets, times.

// escaped returns the length of what begins with the backslash at s[i]: an escape, a path of Windows, which is emitted,
// or the backslash alone.
func escaped(s string, i int, emit func(string, Kind)) int {
	if i+1 == len(s) {
		return 1
	}
	if s[i+1] == '\\' {
		return max(2, escapesWithin(s[:i], s[i:]))
	}
	isEscape := strings.IndexByte(`"/bfnrt`, s[i+1]) >= 0 // of JSON; the u is judged below
	if isEscape && i > 0 && s[i-1] != ':' {
		return 2
	}
	if s[i+1] == 'u' {
		if isEscape = i+6 <= len(s) && isHex(s[i+2:i+6]); isEscape && !isDrive(s, i) {
			return 6
		}
	}
	if n := drivePath(s, i); n > 0 && !(isEscape && strings.HasPrefix(s[i+n:], "/")) {
		if !isEscape { // else it may be a line that ends in a letter and a colon
			emit(strings.TrimRight(s[i-2:i+n], `.-\`), Path)
		}
		return n
	}
	if !isEscape && isNameByte(s[i+1]) && i > 0 && isNameByte(s[i-1]) { // src\Shop.cs
		return 1
	}
	return 2
}

// escapesWithin returns the length of the escapes with which s begins that are of a text within the text, such as code
// in JSON: \\n\\t. A single one behind a name is a part of a path, or may be.
func escapesWithin(before, s string) (n int) {
	for len(s) > n+2 && s[n] == '\\' && s[n+1] == '\\' && strings.IndexByte("bfnrt", s[n+2]) >= 0 {
		n += 3
	}
	last := len(before) - 1
	if last >= 0 && (before[last] == ':' || n == 3 && isNameByte(before[last])) {
		return 0
	}
	return n
}

// isNameByte reports whether c may stand in the name of a file.
func isNameByte(c byte) bool {
	return runes.Class[c]&(runes.Alpha|runes.Digit|runes.Underscore|runes.Dot|runes.Dash) != 0
}

// isDrive reports whether the letter of a drive and a colon stand in front of s[i].
func isDrive(s string, i int) bool {
	if i < 2 || s[i-1] != ':' || !runes.IsUpper(s[i-2]) {
		return false
	}
	return i == 2 || runes.Class[s[i-3]] == 0
}

// drivePath returns the length of the path behind the letter of a drive and the colon in front of s[i], a backslash, or
// 0. In JSON such a path has two backslashes in a row, and is not found whole.
func drivePath(s string, i int) int {
	if !isDrive(s, i) {
		return 0
	}
	end := i + 1
	for most := min(len(s), i+MaxBytes-2); end < most; end++ {
		isBetween := s[end] == '\\' && s[end-1] != '\\'
		behind := strings.IndexAny(s[end+1:most], " \\\r\n\t:")
		isSpace := s[end] == ' ' && behind > 0 && s[end+1+behind] == '\\' // Program Files
		if !isBetween && !isSpace && !isNameByte(s[end]) {
			break
		}
	}
	if end-i < len(`\a.b`) {
		return 0
	}
	return end - i
}

// fewestDigits is how many digits a number must have to be worth keeping.
const fewestDigits = 4

// isTime reports whether s is a time, with or without its date: 2026-01-31T10:20:30.5Z, 10:20:30. A place in a file may
// pass for one, 1234:56: behind its name, but not a host with its ports, 127.0.0.1:8080:80.
func isTime(s string) bool {
	if len(s) > len("2026-01-31T10:20:30.123456789+00:00") || strings.Trim(s, "0123456789:.-+TZ") != "" {
		return false
	}
	hour, rest, _ := strings.Cut(s, ":") // with the date
	return strings.Contains(hour, "T") || strings.Contains(rest, ":") && !strings.Contains(hour, ".")
}

// digitsLength returns how many digits w begins with.
func digitsLength(w string) (n int) {
	for n < len(w) && runes.IsDigit(w[n]) {
		n++
	}
	return n
}

// pieceEnd returns where the piece of token that begins at index i ends, and the classes of its bytes.
func pieceEnd(token string, i int) (end int, class uint8) {
	class = runes.Class[token[i]]
	for end = i + 1; end < len(token); end++ {
		c := runes.Class[token[end]]
		if c&runes.Joint != 0 && (token[end] != '@' || !isVersion(token[end:])) {
			break
		}
		class |= c
	}
	return end, class
}

// isVersion reports whether s, the rest of a token from an at sign on, begins with the version of a package and goes on
// with a path: @6.0.3/src/index.js.
func isVersion(s string) bool {
	version, _, isPath := strings.Cut(strings.TrimPrefix(s[1:min(len(s), MaxBytes)], "v"), "/")
	return isPath && version != "" && runes.IsDigit(version[0])
}

// trimToken removes the punctuation at the ends of a token.
func trimToken(w string) string {
	for len(w) > 0 && (w[0] == '-' || w[0] == '.' && !beginsPath(w)) {
		w = w[1:]
	}
	if len(w) > 1 && w[0] == '.' && w[1] == '/' {
		w = w[2:]
	}
	for len(w) > 0 && runes.Class[w[len(w)-1]]&(runes.Dot|runes.Dash|runes.Slash) != 0 {
		w = w[:len(w)-1]
	}
	return w
}

// beginsPath reports whether w, which begins with a point, begins with "./" or "..", or names a hidden directory or
// file: .github/workflows/ci.yml, .eslintrc.json.
func beginsPath(w string) bool {
	return len(w) > 1 && (w[1] == '/' || w[1] == '.' || isHidden(w))
}

// isHidden reports whether w begins with a point and is a path or the name of a file, so that the point hides it.
func isHidden(w string) bool {
	return w[0] == '.' && runes.IsLetter(w[1]) && (strings.IndexByte(w, '/') > 0 || isFileName(w[1:]))
}

// spaced is the end of the letters of Latin, Greek, Cyrillic, Hebrew and Arabic, which put spaces between words. The
// scripts from there on may put none, like those of China, Japan and Thailand: a name may stand beside their letters,
// unless it begins like the rest of a longer one.
const spaced = 0x800

// isPiece reports whether the token s[start:end] is a piece of a longer name with letters that are not ASCII: "es.csv"
// of "données.csv", and "/src/a.go" of "数据/src/a.go". Nothing but its first directory tells such an end of a path from
// a whole one.
func isPiece(s string, start, end int) bool {
	if (start == 0 || s[start-1] < utf8.RuneSelf) && (end == len(s) || s[end] < utf8.RuneSelf) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	behind, _ := utf8.DecodeRuneInString(s[end:])
	isInWord := isOfWord(before) && (before < spaced || isRest(s[start:end]))
	return isInWord || isOfWord(behind) && behind < spaced
}

// isOfWord reports whether r, which is not ASCII, stands in words: a letter, or a mark above or below one. The names of
// files on a Mac have their accents as marks, and Thai and Hindi write vowels as marks.
func isOfWord(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsMark(r))
}

// isRest reports whether a token that follows a letter begins like the rest of a longer name: not at a root directory,
// nor with "./" or "../".
func isRest(token string) bool {
	root, _, _ := strings.Cut(token[1:], "/")
	isStart := root == "" || root == "." || rootDirectories()[root]
	return strings.IndexByte("_-./", token[0]) >= 0 && !isStart
}

// prefixLength returns how many bytes at the beginning of the token s[start:end] do not belong to its name: the slash
// of a closing tag, </body>, or the a/ or b/ that git puts in front of the paths of a diff.
func prefixLength(s string, start, end int) int {
	switch {
	case start == 0:
		return 0
	case s[start] == '/' && s[start-1] == '<':
		return 1
	case end-start > 2 && (s[start:start+2] == "a/" || s[start:start+2] == "b/") && isInDiff(s[:start]):
		return 2
	}
	return 0
}

// isInDiff reports whether a text ends in what stands in front of the path of a file in a diff.
func isInDiff(before string) bool {
	if strings.HasSuffix(before, "--- ") || strings.HasSuffix(before, "+++ ") {
		return true
	}
	line := before[max(0, len(before)-2*MaxBytes):]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	return strings.HasPrefix(line, "diff --git ")
}
