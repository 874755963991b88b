package record

import (
	"strings"

	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// How a call ended, by the text of its result.

// outcome returns how the call of l ended, by the text of its result.
func (w *Writer) outcome(l *line, text string, failed, colored bool) string {
	isShown := l.call.Shows && !toolcall.SaysNotShown(text)
	if !failed && (isShown || l.isOfFile && toolcall.SaysUnchanged(text)) {
		return "" // a notice that a file is unchanged would point to nothing
	}
	failed = failed || l.call.Runs && l.call.Failed(text)
	if colored {
		text, _ = minify.Text(text, minify.Escapes)
	}
	text = withoutClosingTags(strings.TrimRight(text, " \t\r\n"))
	if failed {
		if l.call.Runs {
			text = reason(text)
		} else if l.call.Output == toolcall.Report {
			text = withoutFrame(text)
		}
		return ended + "failed: " + markup.Value(runes.OneLine(text[:runes.Head(text, 2*failureChars)]),
			failureChars)
	}
	if verdict := runes.OneLine(l.verdict(text)); verdict != "" {
		return ended + markup.Value(verdict, outcomeChars)
	}
	return ""
}

// reason returns why a command failed: text, its result, from there on or, if no line says why, without its frame.
func reason(text string) string {
	if at := excerpt.Reason(text, failureChars); at > 0 {
		return text[at:]
	}
	return withoutFrame(text)
}

// withoutFrame returns text, the result of a failed call, without the frame that a host puts around an output: the exit
// code and the output.
func withoutFrame(text string) string {
	frame, output, ok := strings.Cut(text, "\nOutput:")
	code := toolcall.ExitCode(frame)
	switch {
	case !ok || code == "":
		return text
	case runes.IsBlank(output):
		return "exit code " + code
	}
	return "exit code " + code + ":" + output
}

// verdict returns what text, the result of a call that was not marked as failed, says of how the call went.
func (l *line) verdict(text string) (verdict string) {
	switch {
	case (l.call.Edits || l.call.Shows) && !toolcall.SaysFailed(text):
		if !excerpt.NamesExit(text) {
			return "" // what follows is text of the file, or its name
		}
	case l.call.Edits || l.call.Shows:
		verdict = text
	case l.call.Output == toolcall.Report:
		verdict = excerpt.Verdict(text)
	}
	if verdict == "" && l.call.Output != toolcall.Matches && toolcall.SaysNotShown(text) {
		verdict = text // one line, such as "User declined"
	}
	if verdict == "" {
		verdict = lastLine(text, l.call.Output)
	}
	return verdict
}

// lastLine returns the last line of text, a result, if the end of text reports how the call went. If the result may be
// text of files, the last line itself must report it. The end of a structure, such as a bracket, reports nothing.
func lastLine(text string, output toolcall.Output) string {
	line := text[strings.LastIndexByte(text, '\n')+1:]
	line = line[:runes.Head(line, 2*outcomeChars)]
	end := text[runes.Tail(text, 2*outcomeChars):]
	if output != toolcall.Report {
		end = line
	}
	if !strings.ContainsFunc(line, runes.IsLetterOrDigit) || strings.HasSuffix(line, ":") || !excerpt.TailMatters(end) {
		return ""
	}
	if strings.HasPrefix(line, "## ") { // a heading, or the branch that git status names
		return ""
	}
	if output != toolcall.Report && (isOfListing(line) || !excerpt.TellsOutcome(line)) {
		return ""
	}
	return line
}

// isOfListing reports whether a line has a number of its own, behind a path or at its beginning, or the hash of a
// commit: it is text of a file or a history, whatever it says.
func isOfListing(line string) bool {
	word, _, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
	if isCommit := len(word) >= 7 && len(word) <= 40 && strings.Trim(word, "0123456789abcdef") == ""; isCommit {
		return true
	}
	rest := strings.TrimLeft(word, "0123456789")
	if len(rest) < len(word) && strings.IndexAny(rest, "\t:|→-") == 0 {
		return true
	}
	for _, mark := range [...]string{":", "-"} {
		pieces := strings.Split(word, mark)
		for k := 1; k+1 < len(pieces); k++ {
			if pieces[k] != "" && strings.Trim(pieces[k], "0123456789") == "" {
				return true // a.go:12:…, a.go-12-…
			}
		}
	}
	return false
}

// withoutClosingTags returns text without the lines at its end that are nothing but a closing tag, such as </output>: a
// tool's frame around what a program wrote.
func withoutClosingTags(text string) string {
	for {
		start := strings.LastIndexByte(text, '\n') + 1
		name, isOpen := strings.CutPrefix(strings.TrimSpace(text[start:]), "</")
		name, isClosed := strings.CutSuffix(name, ">")
		if !isOpen || !isClosed || start == 0 || strings.ContainsAny(name, "<> ") {
			return text
		}
		text = strings.TrimRight(text[:start], " \t\r\n")
	}
}
