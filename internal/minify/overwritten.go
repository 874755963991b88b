package minify

import (
	"slices"
	"strings"
	"unicode"

	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/runes"
)

// withoutOverwritten leaves out what a terminal no longer shows, because the program went back to the beginning of the
// line: "12%\r13%\rdone". A part stays if it reports an error, if it has a name that the shown part does not have, or
// if it has a word that is neither in the shown part nor in the next one: carriage returns may stand in the place of
// line feeds. A text without line feeds is not changed, for the same reason.
func withoutOverwritten(s string) string {
	if strings.IndexByte(s, '\r') < 0 || strings.IndexByte(s, '\n') < 0 {
		return s
	}
	r := rewriter{text: s}
	for i := 0; i < len(s); {
		n := strings.IndexByte(s[i:], '\r')
		if n < 0 {
			break
		}
		start, end := strings.LastIndexByte(s[i:i+n], '\n')+1+i, lineEnd(s, i+n)
		if line := strings.TrimRight(s[start:end], "\r"); strings.IndexByte(line, '\r') >= 0 {
			r.overwrite(start, line)
		}
		i = end
	}
	return r.result()
}

// overwrite leaves out the parts of a line that its last part has overwritten. The line begins at index start of the
// text.
func (r *rewriter) overwrite(start int, line string) {
	shown := lastPart(line)
	names := map[string]bool{}
	identifier.Scan(line[shown:], func(id string, _ identifier.Kind) { names[id] = true })
	var gone [][2]int    // the last part first
	next := line[shown:] // the next part that stays
	for end := shown; end > 0; {
		i := strings.LastIndexByte(line[:end-1], '\r') + 1
		if part := line[i : end-1]; isCovered(part, names) && isRedrawn(part, next, line[shown:]) {
			gone = append(gone, [2]int{start + i, start + end})
		} else {
			next = part
		}
		end = i
	}
	for _, part := range slices.Backward(gone) {
		r.replace(part[0], part[1])
	}
}

// isRedrawn reports whether part was drawn again, as next or as what is shown in the end: part shows progress, has no
// letters or digits, or has words that all occur in next or in shown. A row of a table has other words, or only
// numbers.
func isRedrawn(part, next, shown string) bool {
	if !strings.ContainsFunc(part, runes.IsLetterOrDigit) || showsProgress(part) {
		return true
	}
	next, shown = next[:min(len(next), wordsSearched)], shown[:min(len(shown), wordsSearched)]
	hasWord := false
	for word := range strings.FieldsFuncSeq(part, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if !strings.Contains(next, word) && !strings.Contains(shown, word) {
			return false
		}
		hasWord = true
	}
	return hasWord
}

// wordsSearched is how many bytes of another part are searched for a word. A line of a terminal is shorter.
const wordsSearched = 500

// showsProgress reports whether part has a bar, a percentage or two numbers in parentheses: [==> ], 12 %, (3/7).
func showsProgress(part string) bool {
	for i := 0; i < len(part); i++ {
		rest := part[i:]
		switch {
		case strings.HasPrefix(rest, "=="), strings.HasPrefix(rest, "##"), strings.HasPrefix(rest, "[="),
			strings.HasPrefix(rest, "[#"), strings.HasPrefix(rest, "[>"), strings.HasPrefix(rest, "━━"),
			strings.HasPrefix(rest, "██"):
			return true
		case rest[0] == '%' && i > 0 && strings.TrimRight(part[:i], "0123456789 ") != part[:i]:
			return true
		case rest[0] == '(' && matchesShare(rest[1:]):
			return true
		}
	}
	return false
}

// matchesShare reports whether s begins with two numbers and the end of parentheses: "3/7)".
func matchesShare(s string) bool {
	i := numberEnd(s, 0)
	if i == 0 || !strings.HasPrefix(s[i:], "/") {
		return false
	}
	k := numberEnd(s, i+1)
	return k > i+1 && strings.HasPrefix(s[k:], ")")
}

// lastPart returns where the last part of a line begins that is not blank.
func lastPart(line string) int {
	for {
		i := strings.LastIndexByte(line, '\r')
		if i < 0 || !runes.IsBlank(line[i+1:]) {
			return i + 1
		}
		line = line[:i]
	}
}

// isCovered reports whether a part of a line says nothing beyond what overwrote it, which has the given names: no
// error, and no other name. Its numbers do not matter, because they count something.
func isCovered(part string, names map[string]bool) bool {
	if excerpt.ReportsError(part) {
		return false
	}
	covered := true
	identifier.Scan(part, func(id string, kind identifier.Kind) {
		covered = covered && (kind == identifier.Number || names[id])
	})
	return covered
}
