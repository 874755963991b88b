// Package excerpt decides what is kept of a long text: its ends, the lines that report an error, and the names in it.
package excerpt

import (
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/secret"
)

const (
	tailSearchChars = 2_000 // how many characters at the end are searched for something that matters
	// A tail takes at most this share of the room, and at most this many characters. Source: later versions of the
	// reference.
	maxTailShare = 0.3
	maxTailChars = 4_000
	// Lines with errors take at most a fifth of the room. They are worth more than the same amount of the head, but the
	// head says what they are about.
	maxErrorShare     = 0.2
	maxErrorLines     = 20
	maxErrorLineChars = 300

	gap          = "\n\n[...]\n\n"
	errorsBefore = "\n\n[... lines with errors from the part that is left out:]\n"
	errorsAfter  = "[...]\n\n"
)

// An Excerpt keeps what a reader of a long tool output most likely needs: the head; the tail, where results stand; and
// from between them, lines that report an error.
type Excerpt struct {
	head, tail string
	errors     []string // lines of the middle that report an error, clipped
	errorChars int      // of the original text that they hold
}

// New keeps at most keep characters of s, including the marks of what is missing. With bothEnds the tail is kept
// whatever it says, and otherwise only if it reports something.
func New(s string, keep int, bothEnds bool) Excerpt {
	tail := ""
	if bothEnds || TailMatters(s[runes.Tail(s, tailSearchChars):]) {
		room := min(int(float64(keep)*maxTailShare), maxTailChars)
		tail = s[runes.LineStart(s, room):]
		if utf8.RuneCountInString(tail)+len(gap) > keep { // the mark alone would be more than what may stay
			tail = ""
		}
	}
	room := keep
	if tail != "" {
		room -= utf8.RuneCountInString(tail) + len(gap)
	}
	errorRoom := int(float64(keep)*maxErrorShare) - len(errorsBefore) - len(errorsAfter)
	if errorRoom > maxErrorLineChars/3 {
		head := runes.LineEnd(s, max(0, room-errorRoom-len(errorsBefore)-len(errorsAfter)))
		if middle := s[head:max(head, len(s)-len(tail))]; middle != "" {
			if lines, chars := errorLines(middle, errorRoom); len(lines) > 0 {
				return Excerpt{s[:head], tail, lines, chars}
			}
		}
	}
	return Excerpt{head: s[:runes.LineEnd(s, max(0, room))], tail: tail}
}

// String returns the excerpt, with a mark where something is missing.
func (e *Excerpt) String() string {
	between := ""
	switch {
	case len(e.errors) > 0:
		between = errorsBefore + strings.Join(e.errors, "\n") + "\n" + errorsAfter
	case e.tail != "":
		between = gap
	}
	return e.head + between + e.tail
}

// Kept returns how many characters of the original text the excerpt holds.
func (e *Excerpt) Kept() int {
	return utf8.RuneCountInString(e.head) + utf8.RuneCountInString(e.tail) + e.errorChars
}

// TailMatters reports whether end, the end of a text, says something: an error, an exit code, a test verdict, a
// summary.
func TailMatters(end string) bool {
	if t := strings.TrimRight(end, " \t\r\n"); strings.HasSuffix(t, "}") || strings.HasSuffix(t, "]") {
		return true // the end of a structure often holds counts, cursors, a status
	}
	return saysHow(end)
}

// errorLines returns the first lines of s that report an error, in at most room characters: they tend to be the cause.
// A line that repeats the one before it counts once. chars is how many characters of s the lines hold.
func errorLines(s string, room int) (lines []string, chars int) {
	most, before := min(maxErrorLineChars, room-2), ""
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line == before || !reportsError(line) {
			continue
		}
		masked := secret.Mask(line)
		clipped := masked[:runes.Head(masked, most)]
		size := utf8.RuneCountInString(clipped)
		if room -= size + 2; room < 0 || len(lines) == maxErrorLines { // a newline and an ellipsis each
			break
		}
		if before = line; len(clipped) < len(masked) {
			clipped += "…"
		}
		lines, chars = append(lines, clipped), chars+size
	}
	return lines, chars
}

// notice is the end of an excerpt for a summary.
const notice = "\n[… cut …]"

// ForSummary keeps at most keep characters of s, and a mark of what is missing: the head; the end, which says how it
// went; and lines between the two that report an error.
func ForSummary(s string, keep int) string {
	e := New(s, keep, true)
	if e.Kept() >= utf8.RuneCountInString(s) {
		return s
	}
	return e.String() + notice
}
