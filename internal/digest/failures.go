package digest

import (
	"strings"

	"github.com/winnowgo/winnow/internal/prose"
	"github.com/winnowgo/winnow/internal/runes"
)

// failure is a call that failed.
type failure struct {
	tool string
	file string // that the call should have changed; "": it changes no file
	text string // of its result
}

// note returns what a digest says of f.
func (f *failure) note() string {
	if f.file != "" {
		return f.tool + ": " + f.file + ": " + failureText(f.text)
	}
	return f.tool + ": " + failureText(f.text)
}

// failureText returns the part of a failed result that says why: lines with an error or, if there are none, its
// beginning and its end.
func failureText(s string) string {
	s = runes.Clip(strings.TrimSpace(s), 8<<10)
	var found []string
	size := 0
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); prose.Errors.In(line) {
			line = runes.Clip(line, 200)
			found = append(found, line)
			if size += len(line); size > 300 {
				break
			}
		}
	}
	if found == nil {
		return runes.Clip(runes.OneLine(s), 240)
	}
	return runes.OneLine(strings.Join(found, " | "))
}
