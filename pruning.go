package winnow

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// PruneContext shortens old tool results once the history takes a share of the window, in tokens: from SoftTrimRatio on
// to their ends, from HardClearRatio on to the placeholder, the oldest first, until the history is below that ratio. It
// never touches what stands before the first message of a user, the newest KeepLastAssistants assistant messages and
// what follows them, pins, results with anything but text, and results of tools that the patterns exclude.
func PruneContext(history []Message, window int, opts *PruneOptions) ([]Message, []Edit) {
	p := newPruning(listed(history), window, opts.withDefaults(charsPerToken(4)))
	for p.from < len(history) && history[p.from].Role != RoleUser {
		p.from++
	}
	if changed := p.apply(); changed > 0 {
		return p.build(history, changed)
	}
	return clip(history), nil
}

// pruning is one run of PruneContext.
type pruning struct {
	PruneOptions
	rules   excerpt.Rules
	history sequence
	tokens  []int            // estimate of each message; nil: not known yet
	chars   []int            // of each message's texts; 0: not counted yet
	note    func(int) string // returns how to recall what is left out of a message; nil: without notes
	stays   func(int) bool   // reports which messages stay as they are; nil: none for that
	from    int              // the first message that may be pruned
	results []excerpt.Result // those that may be pruned
}

func newPruning(history sequence, window int, o PruneOptions) pruning {
	return pruning{PruneOptions: o, history: history, rules: excerpt.Rules{
		Window: window, TrimFrom: o.SoftTrimRatio, ClearFrom: o.HardClearRatio, TrimAbove: o.SoftTrimMaxChars,
		Head: o.SoftTrimHeadChars, Tail: o.SoftTrimTailChars, LeastToClear: o.MinPrunableToolChars,
		NeverClear: o.NoHardClear, Placeholder: o.Placeholder,
	}}
}

// apply decides what becomes of the results, and returns how many of them change.
func (p *pruning) apply() (changed int) {
	if p.rules.Window <= 0 {
		return 0
	}
	total := p.estimate()
	if !p.rules.IsAbove(total, p.SoftTrimRatio) {
		return 0
	}
	p.findResults()
	tokens := func(r *excerpt.Result) int {
		if n, ok := p.Estimator.(charsPerToken); ok { // without the text, which a clear may replace at once
			return n.tokens(r.Chars)
		}
		return estimateWith(p.Estimator, p.left(r))
	}
	return p.rules.Apply(p.results, total, tokens)
}

// left returns the message of r with what is left of it.
func (p *pruning) left(r *excerpt.Result) Message {
	m := *p.history.at(r.Index)
	m.Parts, m.Source = []Part{{Text: p.rules.Left(r)}}, nil
	return m
}

func opOf(r *excerpt.Result) Op {
	if r.Change == excerpt.Trimmed {
		return OpTrim
	}
	return OpClear
}

func (p *pruning) findResults() {
	end := p.history.len()
	if p.KeepLastAssistants > 0 {
		end = newestAnswers(p.history, p.KeepLastAssistants)
	}
	match := toolcall.NewMatcher(p.AllowTools, p.DenyTools)
	calls := answered{messages: p.history}
	p.results = make([]excerpt.Result, 0, max(0, end-p.from)/2) // results and their calls take turns
	for i := p.from; i < end; i++ {
		m := p.history.at(i)
		if m.Role != RoleTool || m.Pinned || !holdsOnlyText(m) || !match.Matches(calls.tool(i)) {
			continue
		}
		if p.stays != nil && p.stays(i) {
			continue
		}
		chars := p.chars[i]
		if chars == 0 {
			chars = textChars(m)
		}
		r := excerpt.Result{
			Index: i, Text: joinedText(m), Chars: chars, Whole: chars + max(0, len(m.Parts)-1), Tokens: p.tokens[i],
		}
		if p.note != nil {
			r.Note = p.note(i)
		}
		p.results = append(p.results, r)
	}
}

func textChars(m *Message) (n int) {
	for i := range m.Parts {
		if m.Parts[i].Kind == KindText {
			n += runes.Count(m.Parts[i].Text)
		}
	}
	return n
}

// estimate estimates each message, and returns the tokens of the whole history. An estimator that divides characters
// does not count those of a result a second time.
func (p *pruning) estimate() (total int) {
	p.chars = make([]int, p.history.len())
	if p.tokens != nil {
		return count.Sum(p.tokens)
	}
	p.tokens = make([]int, p.history.len())
	n, byChars := p.Estimator.(charsPerToken)
	for i := range p.tokens {
		m := p.history.at(i)
		if byChars && m.Role == RoleTool && !hasPart(m, func(q *Part) bool { return !isPlainText(q) }) {
			p.chars[i] = textChars(m)
			p.tokens[i] = n.tokens(p.chars[i])
			continue
		}
		p.tokens[i] = estimateWith(p.Estimator, *m)
	}
	return count.Sum(p.tokens)
}

// isPlainText reports whether p counts by its text alone.
func isPlainText(p *Part) bool {
	return p.Kind == KindText && p.Tokens <= 0 && p.Name == "" && len(p.Arguments) == 0
}

// build returns the pruned history and an edit for each of the results that were changed.
func (p *pruning) build(history []Message, changed int) ([]Message, []Edit) {
	out := append(make([]Message, 0, len(history)), history...)
	edits, left := make([]Edit, 0, changed), []Part{{}}
	for k := range p.results {
		r := &p.results[k]
		if r.Change == excerpt.None {
			continue
		}
		if text := p.rules.Left(r); text != left[0].Text {
			left = []Part{{Text: text}} // most are the placeholder
		}
		m := &out[r.Index]
		m.Parts, m.Source = left, nil
		edits = append(edits, Edit{
			Op: opOf(r), Index: r.Index, ID: m.ID, Before: max(1, p.tokens[r.Index]), After: max(1, r.Tokens),
			Reason: r.Reason(),
		})
	}
	return out, edits
}
