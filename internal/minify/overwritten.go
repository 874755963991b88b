package minify

import (
	"strings"

	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/runes"
)

// withoutOverwritten leaves out what a terminal no longer shows, because the program went back to the beginning of the
// line: "12%\r13%\rdone". Parts that report an error stay, and so do parts with a name that the rest of the line does
// not have. A text without line feeds is not changed: it may have carriage returns in their place.
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
	for i := 0; i < shown; {
		end := i + strings.IndexByte(line[i:], '\r') + 1
		if isCovered(line[i:end-1], names) {
			r.replace(start+i, start+end)
		}
		i = end
	}
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
