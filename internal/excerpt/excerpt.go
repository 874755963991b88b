// Package excerpt decides what is kept of a long text: its ends, the lines that report an error, and the names in it.
package excerpt

import (
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
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
	errors     errorReport // lines of the middle
}

// errorReport is what errorLines found.
type errorReport struct {
	lines []string // clipped
	chars int      // of the original text that lines hold
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
			if found := errorLines(middle, errorRoom); len(found.lines) > 0 {
				return Excerpt{head: s[:head], tail: tail, errors: found}
			}
		}
	}
	return Excerpt{head: s[:runes.LineEnd(s, max(0, room))], tail: tail}
}

// Write appends the excerpt to b, with a mark where something is missing.
func (e *Excerpt) Write(b *strings.Builder) {
	b.WriteString(e.head)
	switch {
	case len(e.errors.lines) > 0:
		b.WriteString(errorsBefore)
		for _, line := range e.errors.lines {
			b.WriteString(line)
			b.WriteByte('\n')
		}
		b.WriteString(errorsAfter)
	case e.tail != "":
		b.WriteString(gap)
	}
	b.WriteString(e.tail)
}

// Kept returns how many characters of the original text the excerpt holds.
func (e *Excerpt) Kept() int {
	return utf8.RuneCountInString(e.head) + utf8.RuneCountInString(e.tail) + e.errors.chars
}

// TailMatters reports whether end, the end of a text, says something: an error, an exit code, a test verdict, a
// summary.
func TailMatters(end string) bool {
	if t := strings.TrimRight(end, " \t\r\n"); strings.HasSuffix(t, "}") || strings.HasSuffix(t, "]") {
		return true // the end of a structure often holds counts, cursors, a status
	}
	return endWords.In(end) || hasSign(end, endSigns)
}

// errorLines returns lines of s that report an error, in at most room characters: the first ones, which tend to be the
// cause, and the last ones, which tend to be the outcome. A line that repeats the one before it counts once.
func errorLines(s string, room int) errorReport {
	var first, last errorReport
	var sizes []int // of the lines of last
	for start, end := errorLine(s, 0); start >= 0; start, end = errorLine(s, end) {
		line, chars := clipErrorLine(s[start:end], room)
		if first.ends(line) || last.ends(line) || len(last.lines) == 0 && first.add(line, chars, room/2) {
			continue
		}
		for !last.add(line, chars, room/2) && len(last.lines) > 0 {
			last.lines, last.chars, sizes = last.lines[1:], last.chars-sizes[0], sizes[1:]
		}
		sizes = append(sizes, chars)
	}
	return errorReport{append(first.lines, last.lines...), first.chars + last.chars}
}

// errorLine returns where the first line that reports an error begins and ends, from index at on, which is the
// beginning or the end of a line. start is -1 if there is no such line.
func errorLine(s string, at int) (start, end int) {
	for start = at; start < len(s); start = end + 1 {
		end = len(s)
		if k := strings.IndexByte(s[start:], '\n'); k >= 0 {
			end = start + k
		}
		if line := s[start:end]; mayReport(line) && reportsError(line) {
			return start, end
		}
	}
	return -1, len(s)
}

// mayReport reports whether a line has one of the signs of a report. It takes a tenth of the time of reportsError.
func mayReport(line string) bool {
	for i := range len(line) {
		is := false
		switch line[i] {
		case ':': // behind one of reportWords, the name of an exception, or one of reportSigns
			is = i > 0 && (line[i-1] >= 0x80 || strings.IndexByte("cdelnrCDELNR", line[i-1]) >= 0)
		case '[':
			is = strings.HasSuffix(line[:i], "error")
		case 'k':
			is = strings.HasSuffix(line[:i], "racebac")
		case 'x':
			is = strings.HasPrefix(line[i:], "xit")
		case 'F':
			is = strings.HasPrefix(line[i:], "FA")
		case 'O':
			is = strings.HasPrefix(line[i:], "OR")
		case '\x9a': // the last byte of the colon of Chinese, Japanese and Korean texts
			is = true
		}
		if is {
			return true
		}
	}
	return false
}

// clipErrorLine cuts a line to the length that a report of room characters allows. chars is how many characters of line
// are left.
func clipErrorLine(line string, room int) (clipped string, chars int) {
	return clipLine(strings.TrimRight(line, " \t\r"), min(maxErrorLineChars, room/2-2))
}

// ends reports whether line is the one that was added last.
func (r *errorReport) ends(line string) bool {
	return len(r.lines) > 0 && r.lines[len(r.lines)-1] == line
}

// add appends line, which holds chars characters of the text, and reports whether it did. It does not if the lines
// would take more than room characters, or be more than half of those that a report may have.
func (r *errorReport) add(line string, chars, room int) bool {
	if len(r.lines) == maxErrorLines/2 || r.chars+len(r.lines)*2+chars+2 > room { // a newline and an ellipsis each
		return false
	}
	r.lines = append(r.lines, line)
	r.chars += chars
	return true
}

// clipLine cuts line to keep characters, with an ellipsis where it is longer. chars is how many of its characters are
// left.
func clipLine(line string, keep int) (clipped string, chars int) {
	end := runes.Head(line, keep)
	chars = utf8.RuneCountInString(line[:end])
	if end < len(line) {
		return line[:end] + "…", chars
	}
	return line, chars
}

// notice is the end of an excerpt for a summary.
const notice = "\n[… cut …]"

// searchedBytes is how many bytes are searched for errors at each end of what an excerpt for a summary leaves out. A
// log of megabytes says at its ends what went wrong.
const searchedBytes = 16 << 10

// ForSummary keeps about keep characters of s: the head; the end, which says how it went; and lines between the two
// that report an error.
func ForSummary(s string, keep int) string {
	var e Excerpt
	e.tail = s[runes.LineStart(s, int(float64(keep)*maxTailShare)):]
	room := int(float64(keep) * maxErrorShare)
	e.head = s[:runes.LineEnd(s, keep-room-utf8.RuneCountInString(e.tail))]
	if len(e.head)+len(e.tail) >= len(s) {
		return s
	}
	middle := s[len(e.head) : len(s)-len(e.tail)]
	if over := len(middle) - 2*searchedBytes; over > 0 {
		middle = middle[:searchedBytes] + "\n" + middle[len(middle)-searchedBytes:]
	}
	e.errors = errorLines(middle, room)
	var b strings.Builder
	e.Write(&b)
	b.WriteString(notice)
	return b.String()
}
