package toolcall

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/prose"
)

// Call says how the result of a call is read.
type Call struct {
	Shows   bool // a file, so the end of the result does not say how the call went
	Edits   bool // it changes files, so a failure stands at the beginning of the result
	Runs    bool // a command, which may say why it failed long before the end of its output
	Output  Output
	command string
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
		Shows:   shows,
		Edits:   !shows && (len(args.Patched) > 0 || args.File != "" && Action(tool) != ""),
		Runs:    runs,
		Output:  output,
		command: args.Command,
	}
}

// Failed reports whether text, the result of a call that is not marked as an error, says that the call failed: with an
// exit code, or at its beginning. Text of a file and matches say nothing of their call.
func (c *Call) Failed(text string) bool {
	switch {
	case c.Shows:
		return SaysNotShown(text)
	case (c.Edits || c.Runs) && c.IsFailure(c.ExitCode(text)):
		return true
	case c.Runs && (c.complains(text) || c.Output == Report && lastFailure.Get().MatchString(lastLine(text))):
		return true
	}
	isAnswer := !c.Runs && strings.HasPrefix(text, "{") // of a service, also where a path says what was asked for
	return (c.Edits || c.Output == Report || isAnswer) && SaysFailed(text)
}

// complains reports whether text is a few lines of which one begins with the name of a shell, or of a program that the
// command runs, and a colon: so do programs say, in any language, why they failed.
func (c *Call) complains(text string) bool {
	if len(text) > mostFailureBytes {
		return false
	}
	programs := []string{"sh", "bash", "zsh", "dash", "ash", "fish"}
	for segment := range strings.FieldsFuncSeq(c.command, dividesCommands) {
		if words := strings.Fields(segment); len(words) > 0 {
			programs = append(programs, strings.ToLower(words[0]))
		}
	}
	for line := range strings.Lines(text) {
		name, rest, found := strings.Cut(line, ":")
		name = strings.ToLower(strings.TrimRight(name[strings.LastIndexByte(name, '/')+1:], " "))
		// These two also say what they do.
		saysWhat := (name == "make" || name == "go") && !strings.HasPrefix(rest, " ***")
		if found && !saysWhat && slices.Contains(programs, name) {
			return true
		}
	}
	return false
}

func lastLine(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// lastFailure is the last line of what a program wrote that failed: git and compilers, test runners.
var lastFailure = prose.NewPattern(`^(?:error|fatal|panic|ERROR|FATAL|Error): |^FAIL(?:ED)?\b|` +
	`(?:^|[^.\d])[1-9]\d* (?:failed|failing)\b`)

// ExitCode returns the code with which the command exited, as text, its result, names it, or "".
func (c *Call) ExitCode(text string) string {
	return exitCode(text, c.Output != Report) // text of a file may name any code
}

// IsFailure reports whether an exit code stands for a failure of the call.
func (c *Call) IsFailure(exitCode string) bool {
	return strings.Trim(exitCode, "0") != "" && !(exitCode == "1" && c.compares())
}

// compares reports whether the exit code 1 is an answer: nothing was found, or two files differ.
func (c *Call) compares() bool {
	if !c.Runs {
		return c.Output == Matches
	}
	for segment := range strings.FieldsFuncSeq(c.command, dividesCommands) {
		if strings.HasPrefix(strings.TrimSpace(segment), "test ") { // and not go test, npm test
			return true
		}
	}
	return c.Output == Matches || slices.ContainsFunc(strings.FieldsFunc(c.command, endsWord),
		func(word string) bool { return slices.Contains(comparers, word) || slices.Contains(greps, word) })
}

// comparers exit with 1 to give an answer: two files differ, a condition does not hold. So do those in greps, and test.
var comparers = []string{"cmp", "diff", "colordiff", "[[", "pgrep"}

// failure is how the result of a call begins that failed, in the words of the common agents, programs and services.
var failure = prose.NewPattern(`(?i)^\W{0,3}(?:\w*(?:error|exception)(?:>|(?:\[\w+\])?\s*[:：]\s*(?:\d+ )?[^\s\d])|` +
	`(?:\w+ )?failed (?:to|in|with|for)\b|(?:fatal|panic|failed|unauthorized):|traceback \(|could ?n[o']t |` +
	`thread '|can(?:not|'t) |unable to |no replacement|(?:permission|access) denied|(?-i:E[A-Z]{3,12}): |错误|失败|錯誤|失敗|エラー|오류)`)

// denial is one line that says, outside of quotes, that a call was not carried out.
var denial = prose.NewPattern(`(?i)^[^\d\s"](?:[^"]|"[^"]*")*\b(?:not found|(?:does not|doesn't) exist|` +
	`no such|timed out|(?:rejected|denied|declined|cancelled|canceled|aborted|interrupted)(?: by| th|\.|$))`)

// fault are the members of an object of JSON that say that a call failed.
var fault = prose.NewPattern(`^\{[^\n]*?"(?:(?:success|ok)" ?: ?false|is_?[eE]rror" ?: ?true|` +
	`error" ?: ?(?:"[^"]|\{")|status(?:_?[cC]ode)?" ?: ?[45]\d\d\b)`)

// mostFailureBytes is how much of a result is searched for words that say whether the call worked.
const mostFailureBytes = 320

// SaysFailed reports whether text, the result of a call, begins by saying that the call failed.
func SaysFailed(text string) bool {
	text = strings.TrimSpace(text)
	line := text[:min(len(text), mostFailureBytes)]
	isLine := len(line) == len(text) && !strings.Contains(line, "\n")
	return failure.Get().MatchString(line) || isLine && denial.Get().MatchString(line) || fault.Get().MatchString(line)
}

// SaysNotShown reports whether text, the result of a call that shows a file or asks for something, is one line that
// says that the call did not do so.
func SaysNotShown(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) <= mostFailureBytes && !strings.Contains(text, "\n") && SaysFailed(text)
}
