package toolcall

import (
	"encoding/json"
	"strings"
)

// Call says how the result of a call is read.
type Call struct {
	Shows      bool // a file, so the end of the result does not say how the call went
	Edits      bool // it changes files, so a failure stands at the beginning of the result
	Runs       bool // a command, which may say why it failed long before the end of its output
	PrintsExit bool // a command that prints exit codes of others
	Output     Output
	command    string
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
		command:    args.Command,
	}
}

// compares reports whether the exit code 1 is an answer: nothing was found, or two files differ.
func (c *Call) compares() bool {
	isSearch := c.Output == Matches
	if c.Runs {
		return compares(c.command, isSearch)
	}
	return isSearch
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
	if c.Output != Report {
		return false
	}
	return Fault(text) != "" || beginsWithError(text) || c.Runs && complains(text)
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
	return strings.Trim(exitCode, "0") != "" && !(exitCode == "1" && c.compares())
}

// SaysNotShown reports whether text, the result of a call that shows a file or asks for something, is one line that
// says that the call did not do so.
func SaysNotShown(text string) bool {
	text = strings.TrimSpace(text)
	if line, rest, _ := strings.Cut(text, "\n"); strings.HasPrefix(strings.TrimSpace(rest), "Did you mean") {
		text = strings.TrimSpace(line) // OpenCode lists files with similar names
	} else if strings.EqualFold(line, "error:") {
		text = strings.TrimSpace(rest)
	}
	if len(text) > 2*refusalChars || strings.Contains(text, "\n") {
		return false
	}
	return !isNumbered(text) && Refusal(text) != ""
}

// isNumbered reports whether text is a line of a file with its number: "12\tx", "00012| x", "L12: x", "12: x". In front
// of a colon the number may be the status of HTTP, "404: Not Found".
func isNumbered(text string) bool {
	text = strings.TrimPrefix(text, "L")
	behind := strings.TrimLeft(text, "0123456789")
	number := text[:len(text)-len(behind)]
	if strings.HasPrefix(behind, " |") {
		return number != ""
	}
	if number == "" || behind == "" {
		return false
	}
	if behind[0] == ':' {
		return !isFailedRequest([]byte(number))
	}
	return strings.IndexAny(behind, "\t|→") == 0
}

// isNotice reports whether text stands for a file that was read: it is empty, or as it was shown before. Claude Code
// writes these.
func isNotice(text string) bool {
	text = strings.TrimPrefix(strings.TrimSpace(text), "<system-reminder>")
	return strings.HasPrefix(text, "Warning: the file exists") || strings.HasPrefix(text, "File unchanged") ||
		strings.HasPrefix(text, "Wasted call")
}
