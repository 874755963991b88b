package digest

import (
	"fmt"
	"strings"
)

// fileNotes says what was done to files, in the order of the newest change.
type fileNotes struct {
	order []string
	does  map[string]*fileNote
}

type fileNote struct {
	action string
	times  int
	newest int
}

func (f *fileNotes) add(path, action string) {
	if f.does == nil {
		f.does = make(map[string]*fileNote)
	}
	n := f.does[path]
	if n == nil {
		n = &fileNote{}
		f.does[path] = n
		f.order = append(f.order, path)
	}
	if n.action != "wrote" || action == "deleted" { // a file that was written and then edited is a new one
		n.action = action
	}
	n.times++
	n.newest = len(f.order) + n.times
}

// lines are the notes of the files, the newest last.
func (f *fileNotes) lines() []string {
	out := make([]string, len(f.order))
	for i, path := range f.order {
		n := f.does[path]
		out[i] = n.action + " " + path
		if n.times > 1 {
			out[i] += fmt.Sprintf(" (%d×)", n.times)
		}
	}
	return out
}

// isFileNote reports whether a note is of what was done to a file, as fileNotes writes it.
func isFileNote(text string) bool {
	action, path, _ := strings.Cut(text, " ")
	if action != "wrote" && action != "edited" && action != "deleted" {
		return false
	}
	path, times, _ := strings.Cut(path, " ")
	return path != "" && (times == "" || strings.HasPrefix(times, "(") && strings.HasSuffix(times, "×)"))
}
