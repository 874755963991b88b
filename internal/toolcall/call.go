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
	reads, modifies := t.does(tool)
	shows := reads || args.Command == "view" && args.File != ""
	runs := args.Command != "" && args.File == ""
	output := t.Output(tool, arguments)
	return Call{
		Shows:   shows,
		Edits:   !shows && (len(args.Patched) > 0 || args.File != "" && modifies),
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
	case (c.Edits || c.Runs) && c.ExitCode(text) != "":
		return c.IsFailure(c.ExitCode(text))
	case c.Runs && (c.complains(text) || c.Output == Report && Verdict(text) >= 0):
		return true
	}
	isAnswer := !c.Runs && strings.HasPrefix(text, "{") // of a service, also where a path says what was asked for
	return (c.Edits || c.Output == Report || isAnswer) && SaysFailed(text)
}

// complains reports whether text is a few lines of which one begins with the name of a shell, or of a program that the
// command runs, and a colon: so do programs say, in any language, why they failed.
func (c *Call) complains(text string) bool {
	if len(text) > mostComplaint {
		return false
	}
	programs := []string{"sh", "bash", "zsh", "(eval)", "dash", "ash", "fish"}
	for segment := range strings.FieldsFuncSeq(withoutTexts(c.command), dividesCommands) {
		for words := range programsIn(segment) {
			programs = append(programs, strings.ToLower(words[0]))
		}
	}
	for line := range strings.Lines(text) {
		name, rest, found := strings.Cut(line, ":")
		name = strings.ToLower(strings.TrimRight(name[strings.LastIndexByte(name, '/')+1:], " "))
		// These two also say what they do.
		saysWhat := (name == "make" || name == "go") && !strings.HasPrefix(rest, " ***")
		if found && len(line) <= mostFailureBytes && !saysWhat && slices.Contains(programs, name) {
			return true
		}
	}
	return false
}

// How much of the end of a report is searched for a verdict: counts, times and hints may stand behind it.
const (
	verdictLines = 6
	verdictBytes = 1_000
)

// Verdict returns where the first of the last lines of what a program wrote begins that says that it failed, or -1.
func Verdict(text string) int {
	at := -1
	end := len(text)
	for range verdictLines {
		line := strings.TrimRight(text[:end], " \t\r\n")
		if end = strings.LastIndexByte(line, '\n') + 1; len(text)-end > verdictBytes {
			break
		}
		if verdict.Get().MatchString(line[end:]) {
			at = end
		}
	}
	return at
}

// verdict is a line of a program that failed: of git, npm, make, compilers, interpreters, shells, and with a number of
// tests or errors. In the recorded sessions it knows 531 of 701 commands that failed without their exit codes. Of 1 592
// that did not fail it takes 61 for failed if their codes are not known: they print an error, or a verdict, too.
var verdict = prose.NewPattern(`^\W*(?:(?i:error(?: from server)?(?: \(\w+\))?|fatal|panic|failure): *[^\s(\d]|` +
	`FAIL(?:ED|URES)?(?:[^:\w]|$)|npm (?:error|ERR)|make(?:\[\d+\])?: \*\*\*|[\w.]+(?:Error|Exception)(?:: |$))|` +
	`: (?:fatal )?error(?: \w+)?:|^[^\s:]+\.\w+:\d+:\d+: (?:[^w]|w[^a])|` +
	`\b[Ee]xited? (?:\(|(?:with )?(?:code|status):? )[1-9]|\b(?i:failures|errors|failed)[:=] *[1-9]|` +
	`(?:^|[^.\d])[1-9]\d* (?:tests? )?(?:fail(?:ed|ing|ures?)?|errors?)\b|` +
	`\bfailed(?:; | because )|core dumped|^(?:Killed|Aborted|Terminated)$`)

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
var failure = prose.NewPattern(`(?i)^\W{0,3}(?:\w*(?:error|exception)(?:>|\) |` +
	`(?:\[\w+\])?\s*[:：]\s*(?:\d+ )?[^\s\d])|(?:\w+ )?failed (?:to|in|with|for)\b|` +
	`(?:fatal|panic|failed|unauthorized):|traceback \(|could ?n[o']t |thread '|can(?:not|'t) |unable to |` +
	`no replacement|[^\n]{1,80} is not recognized as |(?:permission|access) denied|(?-i:E[A-Z]{3,12}): |错误|失败|錯誤|失敗|エラー|오류)`)

// denial is one line that says, outside of quotes, that a call was not carried out.
var denial = prose.NewPattern(`(?i)^[^\d\s"](?:[^"]|"[^"]*")*\b(?:not found|(?:does not|doesn't) exist|` +
	`no such|timed out|(?:rejected|denied|declined|cancelled|canceled|aborted|interrupted)(?: by| th|\.|$))`)

// fault are the members of an object of JSON that say that a call failed.
var fault = prose.NewPattern(`^\{[^\n]*?"(?:(?:success|ok)" ?: ?false|is_?[eE]rror" ?: ?true|` +
	`error" ?: ?(?:"[^"]|\{")|errors" ?: ?\[?\{"|status(?:_?[cC]ode)?" ?: ?[45]\d\d\b)`)

// How much of a result is searched for words that say whether the call worked, in bytes. What programs say for
// themselves names long paths, and more than one.
const (
	mostFailureBytes = 320
	mostComplaint    = 1_000
)

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
