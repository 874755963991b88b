package excerpt

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// Reason returns the index at which text, the output of a failed command, says why the command failed: the first line
// that reports an error. An exit code is not a reason. Reason returns 0 if no line gives a reason, if text has at most
// chars characters, or if the line is in the first half of the first chars characters anyway. Of a long text only the
// ends are searched.
func Reason(text string, chars int) int {
	if !runes.AtLeast(text, chars+1) {
		return 0
	}
	reason := -1
	if len(text) <= 2*searchedBytes {
		reason = reasonIn(text)
	} else if reason = reasonIn(text[:searchedBytes]); reason < 0 {
		from := len(text) - searchedBytes
		from += strings.IndexByte(text[from:], '\n') + 1
		if reason = reasonIn(text[from:]); reason >= 0 {
			reason += from
		}
	}
	if reason < runes.Head(text, chars/2) {
		return 0
	}
	return reason
}

// countsNone reports whether a line says that nothing failed: "Failed: 0", "FAILED 0".
func countsNone(line string) bool {
	for w := range words(line) {
		if rest := strings.TrimLeft(w.rest, ": "); rest != w.rest && strings.HasPrefix(rest, "0") &&
			reportWords.Has(strings.ToLower(w.text)) {
			return true
		}
	}
	return false
}

// NamesExit reports whether the first lines of text name the code with which a command exited.
func NamesExit(text string) bool {
	const firstLines = 160 // bytes
	for w := range words(text[:min(len(text), firstLines)]) {
		switch w.text {
		case "exit", "Exit", "exited":
			if reportsExit(w.rest) {
				return true
			}
		case "returncode":
			if code := strings.TrimLeft(w.rest, " >:="); code != "" && code[0] != '0' {
				return true
			}
		}
	}
	return false
}

// reasonIn returns where the first line of s begins that reports an error and says more than that something failed, or
// -1.
func reasonIn(s string) int {
	start, end := errorLine(s, 0)
	for start >= 0 && namesNoReason(s[start:end]) {
		start, end = errorLine(s, end)
	}
	return start
}

// namesNoReason reports whether a line that reports an error says no more than that something failed: with which code
// it exited, or that nothing did.
func namesNoReason(line string) bool {
	for w := range words(line) {
		switch w.text {
		case "Traceback", "traceback":
			return true
		case "exit", "Exit", "exited":
			if w.after == ' ' && reportsExit(w.rest) {
				return true
			}
		}
	}
	return countsNone(line)
}
