package questions

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/judge"
	"github.com/winnowgo/winnow/internal/test/recording"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// The kinds of probes.
const (
	ProbeFile    = "the file changed last"
	ProbePerson  = "what the person asked"
	ProbePlan    = "the next item of the plan"
	ProbeFailure = "what the failing command said"
	ProbeRule    = "a rule that was given"
)

// before is what a probe begins with.
const before = "Do not call a tool now. Answer one question about this conversation in one line, and nothing else. "

// probesOf returns what can be asked of a history, one of each kind. The answers are known from the history alone.
func probesOf(history []winnow.Message) (probes []judge.Probe) {
	done := doneIn(history)
	for _, probe := range []func() (judge.Probe, bool){
		func() (judge.Probe, bool) { return fileProbe(done) },
		func() (judge.Probe, bool) { return personProbe(history) },
		func() (judge.Probe, bool) { return planProbe(done) },
		func() (judge.Probe, bool) { return failureProbe(done) },
		func() (judge.Probe, bool) { return ruleProbe(history) },
	} {
		if p, ok := probe(); ok {
			p.Ask = before + p.Ask
			probes = append(probes, p)
		}
	}
	return probes
}

// done is a call with its result.
type done struct {
	call   *winnow.Part
	result string
	failed bool
}

// doneIn returns the calls of a history that have a result, in the order of the results.
func doneIn(history []winnow.Message) (list []done) {
	calls := map[string]*winnow.Part{}
	for i := range history {
		m := &history[i]
		for k := range m.Parts {
			if p := &m.Parts[k]; p.Kind == winnow.KindToolCall {
				calls[p.ID] = p
			}
		}
		if call := calls[m.ToolCallID]; m.Role == winnow.RoleTool && call != nil {
			text := recording.Text(m)
			how := toolcall.Common.Call(call.Name, call.Arguments)
			list = append(list, done{call, text, m.IsError || how.Failed(text)})
		}
	}
	return list
}

func fileProbe(list []done) (judge.Probe, bool) {
	for i := len(list) - 1; i >= 0; i-- {
		d := &list[i]
		use := toolcall.Common.Of(d.call.Name, d.call.Arguments)
		switch may := toolcall.Common.OfShell(d.call.Name, d.call.Arguments); {
		case len(use.Modified) == 0 && len(may.Modified) > 0:
			return judge.Probe{}, false // a shell may have written later
		case len(use.Modified) > 0 && !d.failed:
			return judge.Probe{Kind: ProbeFile, Ask: "Which file did you change last? Give its path.",
				Want: use.Modified[len(use.Modified)-1:], IsFile: true}, true
		}
	}
	return judge.Probe{}, false
}

// numbers are how a message of a person is named. The newest ones stand in every request, so it is an early one.
var numbers = []string{"first", "second", "third"}

func personProbe(history []winnow.Message) (judge.Probe, bool) {
	var said []string
	for i := range history {
		if m := &history[i]; recording.BeginsTurn(m) {
			said = append(said, recording.Text(m))
		}
	}
	n := min(len(said)-1, len(numbers)) - 1
	if n < 0 {
		return judge.Probe{}, false
	}
	const least, most = 4, 6 // words
	words := strings.Fields(said[n])
	if len(words) < least {
		return judge.Probe{}, false
	}
	return judge.Probe{Kind: ProbePerson,
		Ask: fmt.Sprintf("How does the %s message begin that the person wrote to you? Quote its first ten words.",
			numbers[n]),
		Want: []string{strings.Join(words[:min(len(words), most)], " ")}}, true
}

func planProbe(list []done) (judge.Probe, bool) {
	for i := len(list) - 1; i >= 0; i-- {
		call := list[i].call
		if !strings.HasPrefix(toolcall.Common.State(call.Name, call.Arguments), toolcall.Plan) {
			continue
		}
		text, isList := toolcall.Unfinished(call.Arguments)
		_, text, _ = strings.Cut(text, "\n")
		item, _, _ := strings.Cut(strings.TrimPrefix(text, "- "), "\n")
		if _, behind, ok := strings.Cut(item, "] "); ok && strings.HasPrefix(item, "[") {
			item = behind
		}
		isOpen := isList && strings.HasPrefix(text, "- ")
		return judge.Probe{Kind: ProbePlan, Ask: "Which item of your plan is the first that is not finished? Quote it.",
			Want: []string{item}}, isOpen
	}
	return judge.Probe{}, false
}

// leastQuoted is how many characters a line has at least whose quotation proves something.
const leastQuoted = 20

func failureProbe(list []done) (judge.Probe, bool) {
	ran := map[string]bool{}
	for i := len(list) - 1; i >= 0; i-- {
		d := &list[i]
		command := toolcall.Common.Arguments(d.call.Arguments).Command
		if command == "" || ran[command] {
			continue
		}
		ran[command] = true // only its newest run counts
		if !d.failed {
			continue
		}
		p := judge.Probe{Kind: ProbeFailure}
		for line := range strings.Lines(d.result) {
			line = strings.TrimSpace(line)
			if len(line) >= leastQuoted && !strings.Contains(command, line) {
				p.Want = append(p.Want, line)
			}
		}
		if len(p.Want) == 0 {
			continue
		}
		p.Ask = fmt.Sprintf("You ran this command, and it failed: %s\nQuote one whole line that it "+
			"printed when it failed last.",
			recording.Clip(command, 400))
		return p, true
	}
	return judge.Probe{}, false
}

// aRule is a line of a list.
var aRule = regexp.MustCompile(`^(?:[-*•]|\d{1,2}[.)])\s+(.+)$`)

// ruleProbe takes a line of a list from the instructions that the host gave, the middle one, and asks for its second
// half.
func ruleProbe(history []winnow.Message) (judge.Probe, bool) {
	const least, most = 8, 40 // words
	var rules [][]string
	seen := map[string]int{}
	for i := range history {
		m := &history[i]
		if !m.Injected && m.Role != winnow.RoleSystem || m.Transient {
			continue
		}
		for line := range strings.Lines(recording.Text(m)) {
			match := aRule.FindStringSubmatch(strings.TrimSpace(line))
			if match == nil {
				continue
			}
			words := strings.Fields(match[1])
			if seen[match[1]]++; seen[match[1]] == 1 && len(words) >= least && len(words) <= most {
				rules = append(rules, words)
			}
		}
	}
	if len(rules) == 0 {
		return judge.Probe{}, false
	}
	words := rules[len(rules)/2]
	half := len(words) / 2
	return judge.Probe{Kind: ProbeRule,
		Ask: fmt.Sprintf("One of the instructions that you were given begins: “%s”. Quote the rest of that sentence.",
			strings.Join(words[:half], " ")),
		Want: []string{strings.Join(words[half:min(len(words), half+5)], " ")}}, true
}
