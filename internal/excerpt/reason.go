package excerpt

import (
	"strings"

	"github.com/winnowgo/winnow/internal/prose"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// searchedBytes is how many bytes are searched for a reason at each end of a text. A log of megabytes says at its ends
// what went wrong.
const searchedBytes = 16 << 10

// Reason returns the index at which text, the output of a failed command, says why the command failed: the first line
// that reports an error, or else where the verdict at its end begins, or else the first line in its last chars
// characters, or the one in which these begin. An exit code is not a reason. Reason returns 0 if text has at most chars
// characters, or if the line is in the first half of the first chars characters anyway.
func Reason(text string, chars int) int {
	if !runes.AtLeast(text, chars+1) {
		return 0
	}
	reason := ErrorIn(text)
	if reason < 0 {
		reason = toolcall.Verdict(text)
	}
	switch {
	case reason < 0:
		tail := runes.Tail(text, chars)
		if next := strings.IndexByte(text[tail-1:], '\n') + tail; next > tail-1 && next < len(text) {
			return next
		}
		return strings.LastIndexByte(text[:tail], '\n') + 1
	case reason < runes.Head(text, chars/2):
		return 0
	}
	return reason
}

var (
	// exitName matches what names the code with which a command exited.
	exitName = prose.NewPattern(`\b([Ee]xit|exited)` + exitCode + `|\breturncode[ >:=]*[^0 >:=]`)
	// noReason matches what says no more than that something failed: with which code it exited, or that nothing did, as
	// "Failed: 0" and "FAILED 0" say.
	noReason = prose.NewPattern(`\b[Tt]raceback\b|\b([Ee]xit|exited)` + exitCode + `|\b` + reportWords + `[ :]+0`)
)

// NamesExit reports whether the first lines of text name the code with which a command exited.
func NamesExit(text string) bool {
	const firstLines = 160 // bytes
	return exitName.Get().MatchString(text[:min(len(text), firstLines)])
}

// ErrorIn returns where the first line of text begins that reports an error and says more than that something failed,
// or -1. Of a long text only the ends are searched.
func ErrorIn(text string) int {
	if len(text) <= 2*searchedBytes {
		return reasonIn(text)
	}
	reason := reasonIn(text[:searchedBytes])
	if reason < 0 {
		from := len(text) - searchedBytes
		from += strings.IndexByte(text[from:], '\n') + 1
		if reason = reasonIn(text[from:]); reason >= 0 {
			reason += from
		}
	}
	return reason
}

// reasonIn is [ErrorIn] of all that s has.
func reasonIn(s string) int {
	at := 0
	for line := range strings.Lines(s) {
		says := isDiagnostic(line) || reportsError(line) && !noReason.Get().MatchString(line)
		behind := at + len(line)
		if says && !isHeading(strings.TrimSpace(line)) && !isFrame(s[behind:]) {
			return at
		}
		at = behind
	}
	return -1
}

// isFrame reports whether what stands behind a place in a file shows that it is one of several in a trace: the code
// there, further in, and then the next place.
func isFrame(behind string) bool {
	isCode := strings.HasPrefix(behind, " ")
	for strings.HasPrefix(behind, " ") {
		_, behind, _ = strings.Cut(behind, "\n")
	}
	next, _, _ := strings.Cut(behind, "\n")
	return isCode && isDiagnostic(next)
}

// isDiagnostic reports whether a line begins with a place in a file, as those of compilers do, main.go:12:3: x, and is
// no warning.
func isDiagnostic(line string) bool {
	place, _, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	end := strings.IndexAny(place, ":(")
	point := strings.LastIndexByte(place[:max(0, end)], '.')
	if point < 0 || end+1 == len(place) || strings.Contains(line, "arning") {
		return false
	}
	return runes.IsLetter(place[point+1]) && runes.IsDigit(place[end+1])
}

// isHeading reports whether a line stands between two rulers: what failed is said below it.
func isHeading(line string) bool {
	const ruler = 3 // signs, at least
	return len(line) > 2*ruler && strings.IndexByte("=-_*!#~", line[0]) >= 0 &&
		line[:ruler] == strings.Repeat(line[:1], ruler) && strings.HasSuffix(line, line[:ruler])
}
