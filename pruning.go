package winnow

import (
	"cmp"
	"math"
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/runes"
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

// run prunes the history. It looks at lengths first, so that for most histories it reads no text.
func (p *pruning) run() ([]Message, []Edit) {
	if p.rules.Window <= 0 || !p.mayBeAboveSoftTrim() {
		return clip(p.history), nil
	}
	if p.findResults(); !p.rules.MayApply(p.results) {
		return clip(p.history), nil
	}
	e, history := p.Estimator, p.history
	tokens := func(rules *excerpt.Rules, r *excerpt.Result) int {
		m := history[r.Index]
		m.Parts, m.Source = nil, nil
		if _, ok := e.(charsPerToken); !ok { // charsPerToken needs only the number of characters
			m.Parts = []Part{{Text: rules.Left(r)}}
		}
		n, _ := estimateResult(e, &m, r.Chars)
		return n
	}
	rules := p.rules // a copy: p would move to the heap even if nothing is pruned
	if changed := rules.Apply(p.results, p.estimate(), tokens); changed > 0 {
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
	results := 0
	for i := start; i < end; i++ {
		if p.history[i].Role == RoleTool {
			results++
		}
	}
	p.results = make([]excerpt.Result, 0, results)
	for i := start; i < end; i++ {
		m := &p.history[i]
		if m.Role != RoleTool || m.Pinned || !holdsOnlyText(m) || !match.Matches(tools.of(i, m)) {
			continue
		}
		r := excerpt.Result{Index: i, Text: joinedText(m), Texts: len(m.Parts), Chars: -1}
		if p.note != nil {
			r.Note = p.note(i)
		}
		p.results = append(p.results, r)
	}
}

// estimateResult estimates a result that holds nothing but text. known is the number of characters of its texts, or -1.
// chars is known or, if that is -1, what the estimator counted; it is -1 if the estimator does not count characters.
func estimateResult(e Estimator, m *Message, known int) (tokens, chars int) {
	n, ok := e.(charsPerToken)
	for i := range m.Parts {
		p := &m.Parts[i]
		isText := p.Kind == KindText && p.Name == "" && len(p.Arguments) == 0
		ok = ok && isText && p.Tokens <= 0
	}
	if !ok {
		return estimateWith(e, *m), known
	}
	if chars = known; known < 0 {
		chars = 0
		for i := range m.Parts {
			chars += runes.Count(m.Parts[i].Text)
		}
	}
	return int(min(math.Ceil(float64(chars)/float64(n)), math.MaxInt32)), chars
}

// mayBeAboveSoftTrim returns false if the history is below SoftTrimRatio whatever its texts are.
func (p *pruning) mayBeAboveSoftTrim() bool {
	if p.tokens != nil {
		return true
	}
	most := 0
	for i := range p.history {
		n := mostTokens(p.Estimator, &p.history[i])
		if n < 0 {
			return true
		}
		if most = count.Add(most, n); p.rules.IsAbove(most, p.SoftTrimRatio) {
			return true
		}
	}
	return false
}

// estimate returns the tokens of the whole history, and sets those of the results.
func (p *pruning) estimate() (total int) {
	if p.tokens == nil {
		p.tokens = make([]int, len(p.history))
		next := p.results
		for i := range p.history {
			if len(next) > 0 && next[0].Index == i {
				p.tokens[i], next[0].Chars = estimateResult(p.Estimator, &p.history[i], -1)
				next = next[1:]
				continue
			}
			p.tokens[i] = estimateWith(p.Estimator, p.history[i])
		}
	}
	for k := range p.results {
		p.results[k].Tokens = p.tokens[p.results[k].Index]
	}
	return count.Sum(p.tokens)
}

// partsAtOnce is how many parts are allocated together. This makes few allocations, and whoever holds one of the parts
// keeps no more than these in memory.
const partsAtOnce = 16

// build returns the pruned history and an edit for each of the results that were changed.
func (p *pruning) build(changed int) ([]Message, []Edit) {
	out := append(make([]Message, 0, len(p.history)), p.history...)
	edits := make([]Edit, 0, changed)
	cleared, parts := []Part{{Text: p.Placeholder}}, []Part(nil)
	for k := range p.results {
		r := &p.results[k]
		if r.Change == excerpt.None {
			continue
		}
		m := &out[r.Index]
		if m.Parts, m.Source = cleared, nil; r.Change == excerpt.Trimmed || r.Note != "" {
			if len(parts) == cap(parts) {
				parts = make([]Part, 0, partsAtOnce)
			}
			parts = append(parts, Part{Text: p.rules.Left(r)})
			m.Parts = parts[len(parts)-1 : len(parts) : len(parts)]
		}
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

// charsAbove reports whether the texts of the parts have more than n characters.
func charsAbove(parts []Part, n int) bool {
	bytes := 0
	for i := range parts {
		bytes += len(parts[i].Text)
	}
	for i := 0; i < len(parts) && bytes > n; i++ {
		s := parts[i].Text
		if len(s) > n && runes.AtLeast(s, n+1) {
			return true
		}
		n, bytes = n-runes.Count(s), bytes-len(s)
	}
	return false
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
