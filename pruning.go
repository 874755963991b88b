package winnow

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// PruneContext trims and then clears old tool results, once the history takes a certain share of the window, in tokens.
// From SoftTrimRatio on, every result longer than SoftTrimMaxChars keeps only its head and its tail. From
// HardClearRatio on, if the results that may be cleared hold MinPrunableToolChars, the placeholder replaces the oldest
// results until the history is below that ratio.
//
// It never touches what stands before the first message of a user, the newest KeepLastAssistants assistant messages and
// what follows them, pins, results with anything but text, and results of tools that the patterns exclude. No message
// gets longer. With a window of 0 or less nothing is done.
func PruneContext(history []Message, window int, opts *PruneOptions) ([]Message, []Edit) {
	p := newPruning(history, window, opts.withDefaults(charsPerToken(4)))
	return p.run()
}

// pruning is one run of PruneContext.
type pruning struct {
	PruneOptions
	rules   excerpt.Rules
	history []Message
	tokens  []int            // estimate of each message; nil: not known yet
	note    func(int) string // returns how to recall what is left out of a message; nil: without notes
	results []excerpt.Result // those that may be pruned
}

func newPruning(history []Message, window int, o PruneOptions) pruning {
	return pruning{PruneOptions: o, history: history, rules: excerpt.Rules{
		Window: window, TrimFrom: o.SoftTrimRatio, ClearFrom: o.HardClearRatio, TrimAbove: o.SoftTrimMaxChars,
		Head: o.SoftTrimHeadChars, Tail: o.SoftTrimTailChars, LeastToClear: o.MinPrunableToolChars,
		NeverClear: o.NoHardClear, Placeholder: o.Placeholder,
	}}
}

// run prunes the history.
func (p *pruning) run() ([]Message, []Edit) {
	if p.rules.Window <= 0 {
		return clip(p.history), nil
	}
	total := p.estimate()
	if !p.rules.IsAbove(total, p.SoftTrimRatio) {
		return clip(p.history), nil
	}
	p.findResults()
	tokens := func(r *excerpt.Result) int {
		m := p.history[r.Index]
		m.Parts, m.Source = []Part{{Text: p.rules.Left(r)}}, nil
		return estimateWith(p.Estimator, m)
	}
	if changed := p.rules.Apply(p.results, total, tokens); changed > 0 {
		return p.build(changed)
	}
	return clip(p.history), nil
}

// findResults lists the results that may be pruned.
func (p *pruning) findResults() {
	start, end := 0, len(p.history)
	if p.KeepLastAssistants > 0 {
		end = newestAnswers(p.history, p.KeepLastAssistants)
	}
	for start < end && p.history[start].Role != RoleUser {
		start++
	}
	match := toolcall.NewMatcher(p.AllowTools, p.DenyTools)
	tools := toolNamesFor(match, p.history)
	for i := start; i < end; i++ {
		m := &p.history[i]
		if m.Role != RoleTool || m.Pinned || !holdsOnlyText(m) || !match.Matches(tools.of(i, m)) {
			continue
		}
		r := excerpt.Result{Index: i, Text: joinedText(m), Chars: textChars(m), Tokens: p.tokens[i]}
		if p.note != nil {
			r.Note = p.note(i)
		}
		p.results = append(p.results, r)
	}
}

// textChars returns the number of characters of the texts of m.
func textChars(m *Message) (n int) {
	for i := range m.Parts {
		if m.Parts[i].Kind == KindText {
			n += utf8.RuneCountInString(m.Parts[i].Text)
		}
	}
	return n
}

// estimate estimates each message, and returns the tokens of the whole history.
func (p *pruning) estimate() (total int) {
	if p.tokens == nil {
		p.tokens = make([]int, len(p.history))
		for i := range p.history {
			p.tokens[i] = estimateWith(p.Estimator, p.history[i])
		}
	}
	return count.Sum(p.tokens)
}

// build returns the pruned history and an edit for each of the results that were changed.
func (p *pruning) build(changed int) ([]Message, []Edit) {
	out := append(make([]Message, 0, len(p.history)), p.history...)
	edits := make([]Edit, 0, changed)
	for k := range p.results {
		r := &p.results[k]
		if r.Change == excerpt.None {
			continue
		}
		m := &out[r.Index]
		m.Parts, m.Source = []Part{{Text: p.rules.Left(r)}}, nil
		e := Edit{
			Op: OpClear, Index: r.Index, ID: m.ID, Before: max(1, p.tokens[r.Index]), After: max(1, r.Tokens),
			Reason: r.Reason(),
		}
		if r.Change == excerpt.Trimmed {
			e.Op = OpTrim
		}
		edits = append(edits, e)
	}
	return out, edits
}

// Which tool a result is of. A host that imports the results of a step apart from their calls gives them the ids of the
// calls and no tool names. The tool is then taken from the call. The messages stay as they are, because a message is
// recognized by its tool's name too.

// toolNames holds the name of the tool that each result is of, by the index of its message. nil: each result has the
// name itself.
type toolNames []string

// of returns the tool of result m, which is message i, or "" if it is not known.
func (n toolNames) of(i int, m *Message) string {
	if n == nil {
		return m.ToolName
	}
	return n[i]
}

// toolNamesFor returns the tools of the results of messages, or nil if match does not depend on them.
func toolNamesFor(match toolcall.Matcher, messages []Message) toolNames {
	if match.MatchesAll() {
		return nil
	}
	return toolNamesOf(messages)
}

// toolNamesOf returns the tools of the results of messages. Where ids repeat, a result belongs to the newest call that
// has its id; calls without ids are answered in their order.
func toolNamesOf(messages []Message) toolNames {
	lacksName := func(m Message) bool { return m.Role == RoleTool && m.ToolName == "" }
	if !slices.ContainsFunc(messages, lacksName) {
		return nil // as with most hosts: each result has the name of its tool
	}
	names := make(toolNames, len(messages))
	byID := map[string]string{}
	var unnamed []string // the tools of the newest calls without ids that wait for their results
	for i := range messages {
		m := &messages[i]
		called := ""
		switch {
		case m.Role == RoleAssistant:
			unnamed = readCalls(m, byID)
		case m.Role == RoleTool && m.ToolCallID != "":
			called = byID[m.ToolCallID]
		case m.Role == RoleTool && len(unnamed) > 0:
			called, unnamed = unnamed[0], unnamed[1:]
		}
		names[i] = cmp.Or(m.ToolName, called)
	}
	return names
}

// readCalls adds the tools of m's calls to byID, and returns the tools of the calls without ids.
func readCalls(m *Message, byID map[string]string) (unnamed []string) {
	for p := range callsOf(m) {
		if p.ID == "" {
			unnamed = append(unnamed, p.Name)
		} else {
			byID[p.ID] = p.Name
		}
	}
	return unnamed
}

// toolNameIn returns the tool that result i of messages is of.
func toolNameIn(messages []Message, i int) string {
	if m := &messages[i]; m.ToolName != "" || m.Role != RoleTool {
		return m.ToolName
	}
	return toolNamesOf(messages[:i+1])[i]
}
