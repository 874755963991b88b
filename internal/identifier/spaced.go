package identifier

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// Names of files with spaces. That a word belongs to the path behind it is told by what is common to all of them: a
// backslash in front of the space, a line that is nothing else, or capitals on both sides, as in
// "Use Cases/UC-16.md" and "Library/Application Support/Code/settings.json".

// mostSpaces is how many spaces a path may have.
const mostSpaces = 6

// spacedPath returns where the path with spaces ends that begins with the token s[start:end], or end.
func spacedPath(s string, start, end int) int {
	if end+2 >= len(s) || s[end] != ' ' && s[end] != '\\' {
		return end
	}
	found, word := end, start
	isLine := (start == 0 || s[start-1] == '\n') && isPathStart(s[start:end])
	isPath := isLine
	for n := 0; n < mostSpaces && end+2 < len(s); n++ {
		next := end + 1
		isEscaped := s[end] == '\\' && s[next] == ' '
		if isEscaped {
			next++
		}
		left := s[word:end]
		left = left[strings.LastIndexByte(left, '/')+1:]
		if !isEscaped && s[end] != ' ' || next == len(s) || isFileName(left) {
			break
		}
		to := next
		for to < len(s) && runes.Class[s[to]]&^runes.Joint != 0 {
			to++
		}
		isWord := to > next && runes.Class[s[next]]&(runes.Alpha|runes.Digit) != 0
		goesOn := isPath || isEscaped || isTitle(left) && isTitle(s[next:to])
		if !isWord || !goesOn || to-start > MaxBytes {
			break
		}
		isPath = isPath || isEscaped || strings.IndexByte(s[next:to], '/') >= 0
		word, end = next, to
		name := strings.TrimRight(s[next:to], ".-")
		isWhole := !isLine || to == len(s) || strings.IndexByte("\n:", s[to]) >= 0 // a search puts a colon behind it
		if isPath && isWhole && isFileName(name[strings.LastIndexByte(name, '/')+1:]) {
			found = next + len(name)
		}
	}
	return found
}

// isPathStart reports whether a line that begins with w may be a path: /a, ./a or ~/a, and not a comment.
func isPathStart(w string) bool {
	k := strings.IndexByte(w, '/')
	return strings.IndexByte("/.~", w[0]) >= 0 && k >= 0 && k+1 < len(w) && runes.Class[w[k+1]]&runes.Alpha != 0
}

// isTitle reports whether w begins with a capital and a small letter.
func isTitle(w string) bool { return len(w) > 1 && runes.IsUpper(w[0]) && runes.IsLower(w[1]) }
