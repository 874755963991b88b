package toolcall

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Call says how the result of a call is read.
type Call struct {
	Shows      bool // a file, so the end of the result does not say how the call went
	Edits      bool // it changes files, so a failure stands at the beginning of the result
	Runs       bool // a command, which may say why it failed long before the end of its output
	PrintsExit bool // a command that prints exit codes of others
	Output     Output
	compares   bool // the exit code 1 is an answer: nothing was found, or two files differ
}

// Call reads the call of a tool.
func (t *Files) Call(tool string, arguments json.RawMessage) Call {
	args := t.Arguments(arguments)
	return t.CallOf(tool, arguments, &args)
}

// CallOf is [Files.Call] where the arguments have been read already.
func (t *Files) CallOf(tool string, arguments json.RawMessage, args *Arguments) Call {
	shows := t.Reads(tool) || args.Command == "view" && args.File != ""
	runs := args.Command != "" && args.File == ""
	output := t.Output(tool, arguments)
	return Call{
		Shows:      shows,
		Edits:      !shows && (len(args.Patched) > 0 || args.File != "" && Action(tool) != ""),
		Runs:       runs,
		PrintsExit: runs && printsExit(args.Command),
		Output:     output,
		compares:   output == Matches || runs && strings.Contains(args.Command, "diff "),
	}
}

// Failed reports whether text, the result of a call that is not marked as an error, says that the call failed.
func (c *Call) Failed(text string) bool {
	switch {
	case c.Edits:
		return Refusal(text) != "" || c.exitedBadly(text)
	case c.Shows:
		return SaysNotShown(text) && !isNotice(text)
	case c.Runs && (c.exitedBadly(text) || saysNotRun(text)):
		return true
	}
	return c.Output == Report && (Fault(text) != "" || beginsWithError(text))
}

// exitedBadly reports whether text names the code with which the command exited, and that code stands for a failure.
func (c *Call) exitedBadly(text string) bool { return !c.PrintsExit && c.IsFailure(c.ExitCode(text)) }

// ExitCode returns the code with which the command exited, as text, its result, names it, or "".
func (c *Call) ExitCode(text string) string {
	if c.Output == Report {
		return ExitCode(text)
	}
	return frameCode(text, true) // text of a file may name any code
}

// IsFailure reports whether an exit code stands for a failure of the call.
func (c *Call) IsFailure(exitCode string) bool {
	return strings.Trim(exitCode, "0") != "" && !(c.compares && exitCode == "1")
}

// SaysNotShown reports whether text, the result of a call that shows a file or asks for something, is one line that
// says that the call did not do so.
func SaysNotShown(text string) bool {
	text = strings.TrimSpace(text)
	if len(text) > 2*refusalChars || strings.Contains(text, "\n") {
		return false
	}
	if behind := strings.TrimLeft(text, "0123456789"); behind != text && strings.IndexAny(behind, "\t|→") == 0 {
		return false // a line of a file with its number
	}
	return Refusal(text) != ""
}

// isNotice reports whether text stands for a file that was read: it is empty, or as it was shown before. Claude Code
// writes these.
func isNotice(text string) bool {
	text = strings.TrimPrefix(strings.TrimSpace(text), "<system-reminder>")
	return strings.HasPrefix(text, "Warning: the file exists") || strings.HasPrefix(text, "File unchanged") ||
		strings.HasPrefix(text, "Wasted call")
}

// saysNotRun reports whether text, the result of a command, is one line with which a host says that it did not run the
// command, or not to its end: "User rejected this command."
func saysNotRun(text string) bool {
	if text = strings.TrimSpace(text); strings.Contains(text, "\n") {
		return false
	}
	words := plainWords(text[:min(len(text), refusalChars)])
	if len(words) > 0 && words[0] == "the" {
		words = words[1:]
	}
	if len(words) == 0 || !slices.Contains(hosts, words[0]) {
		return false
	}
	for n := 1; n < len(words); n++ {
		if words[n-1] == "timed" && words[n] == "out" {
			return true
		}
		isVerb := slices.Contains(hosts, words[n-1]) || slices.Contains(auxiliaries, words[n-1])
		if isVerb && slices.Contains(denying, words[n]) {
			return true
		}
	}
	return false
}

// Who says that a command was not run, and in which words. These are verbs behind their subject or an auxiliary: in
// "User guide for blocked accounts" nothing is denied.
var (
	hosts       = []string{"user", "permission", "command", "execution", "operation", "tool", "request"}
	auxiliaries = []string{"was", "were", "is", "been", "has", "had", "got", "explicitly"}
	denying     = []string{"rejected", "declined", "denied", "refused", "cancelled", "canceled", "aborted",
		"interrupted", "blocked", "forbidden"}
)

// beginsWithError reports whether text begins like the error of a program or a service: "Error: …", "<error>…".
func beginsWithError(text string) bool {
	line, _, _ := strings.Cut(strings.TrimLeft(text, " \t\r\n"), "\n")
	colon := strings.Index(line, ":")
	if wide := strings.Index(line, "："); wide >= 0 && (colon < 0 || wide < colon) {
		colon = wide
	}
	if isErrorTag(line) || colon < 0 {
		return isErrorTag(line)
	}
	word := strings.ToLower(line[:colon])
	isCount := strings.ContainsRune(word, ' ') || strings.HasSuffix(word, "s") // errors: 0
	value := strings.TrimLeft(line[colon:], ":：")
	return !isMeasure(value) && (word == "fatal" || !isCount && sayingOf(word) == saysFault)
}

// isMeasure reports whether text, behind the word error and a colon, is a number, or says that there is no error: 0.12.
func isMeasure(text string) bool {
	text = strings.TrimSpace(text)
	first, _, _ := strings.Cut(text, ",") // error: 0, warnings: 2
	n, err := strconv.ParseFloat(strings.TrimSuffix(first, "%"), 64)
	isNumber := err == nil && (n == 0 || strings.ContainsAny(first, ".%")) // but "KeyError: 1"
	return isNumber || deniesFault(text) || text != "" && slices.Contains(noFaults, text)
}
