package excerpt

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// Reason returns the index at which text, the output of a failed command, says why the command failed: the line with
// the exception of the last Python traceback, or else the first line that reports an error. An exit code is not a
// reason. Reason returns 0 if no line gives a reason, if text has at most chars characters, or if the line is in the
// first half of the first chars characters anyway. Of a long text only the ends are searched.
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

// reasonIn returns where the line of s begins that says why a command failed, or -1.
func reasonIn(s string) int {
	if i := exceptionLine(s); i >= 0 {
		return i
	}
	start, end := errorLine(s, 0)
	weak := -1 // names a code, and what exited with it
	for start >= 0 && namesNoReason(s[start:end]) {
		if line := s[start:end]; weak < 0 && beginsReport(line) && !countsNone(line) {
			weak = start
		}
		start, end = errorLine(s, end)
	}
	if i := diagnosticLine(s[:max(0, start)]); i >= 0 {
		return i
	}
	if start < 0 {
		return weak
	}
	return start
}

// beginsReport reports whether a line has a word that begins a report: "ERROR: process … exit code: 1".
func beginsReport(line string) bool {
	for w := range words(line) {
		if w.after == ':' && reportWords.Has(strings.ToLower(w.text)) {
			return true
		}
	}
	return false
}

const traceback = "Traceback (most recent call last):\n"

// exceptionLine returns where the line begins that ends the last Python traceback of s, or -1.
func exceptionLine(s string) int {
	i := strings.LastIndex(s, traceback)
	if i < 0 {
		return -1
	}
	for i += len(traceback); i < len(s); {
		end := strings.IndexByte(s[i:], '\n')
		if end < 0 {
			end = len(s) - i
		}
		if namesException(s[i : i+end]) {
			return i
		}
		i += end + 1
	}
	return -1
}

// namesException reports whether a line begins with the name of a class and a colon, or is such a name. The names of
// many exceptions do not end in Error: django.core.exceptions.ImproperlyConfigured.
func namesException(line string) bool {
	name, _, _ := strings.Cut(line, ":")
	class := name[strings.LastIndexByte(name, '.')+1:]
	if class == "" || class[0] < 'A' || class[0] > 'Z' || strings.ToUpper(class) == class {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 || !isOfName(byte(r)) })
}

// isOfName reports whether c may stand in the name of a class with its package.
func isOfName(c byte) bool {
	return runes.Class[c]&(runes.Alpha|runes.Digit|runes.Underscore) != 0 || c == '.'
}

// diagnosticLine returns where the first line of s begins in which a compiler or a linter names a place, or -1:
// "a.go:12:3: undefined: x", "a.ts(12,3): error TS2322: …". A warning does not count.
func diagnosticLine(s string) int {
	for i := 0; i < len(s); {
		end := strings.IndexByte(s[i:], '\n')
		if end < 0 {
			end = len(s) - i
		}
		if line := s[i : i+end]; namesPlace(line) && !strings.Contains(line, "warning") {
			return i
		}
		i += end + 1
	}
	return -1
}

// namesPlace reports whether line has the number of a line and that of a column, with a colon behind them: ":12:3:",
// "(12,3):".
func namesPlace(line string) bool {
	for _, form := range [...]struct{ open, between, closed string }{{":", ":", ":"}, {"(", ",", "):"}} {
		for rest := line; ; {
			_, behind, ok := strings.Cut(rest, form.open)
			if !ok {
				break
			}
			rest = behind
			number := func() bool {
				digits := len(behind) - len(strings.TrimLeft(behind, "0123456789"))
				behind = behind[digits:]
				return digits > 0
			}
			if !number() || !strings.HasPrefix(behind, form.between) {
				continue
			}
			behind = behind[len(form.between):]
			if number() && strings.HasPrefix(behind, form.closed) {
				return true
			}
		}
	}
	return false
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
