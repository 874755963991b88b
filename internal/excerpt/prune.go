package excerpt

import (
	"strconv"

	"github.com/winnowgo/winnow/internal/runes"
)

// Rules say when results are pruned, and what is left of them.
type Rules struct {
	Window       int     // tokens
	TrimFrom     float64 // share of the window from which results are trimmed
	ClearFrom    float64 // share of the window from which they are cleared
	TrimAbove    int     // only longer results are trimmed, in characters
	Head, Tail   int     // characters that a trim keeps
	LeastToClear int     // characters that the results must have together, or none is cleared
	NeverClear   bool
	Placeholder  string // text of a cleared result
}

// Change is what is done to a result.
type Change int

// The changes.
const (
	None Change = iota
	Trimmed
	Cleared
)

// Result is a result that may be pruned.
type Result struct {
	Index  int    // where the caller has it
	Text   string // its texts, joined by newlines
	Note   string // says how to recall it: see WithNote
	Tokens int    // as Change leaves it
	Chars  int    // of its texts, as Change leaves them
	Change Change
	Whole  int // characters of Text

	short string // what Change leaves; "": not made yet
}

// Tokens counts the tokens that a result has once it is changed: see [Rules.Left].
type Tokens func(r *Result) int

// IsAbove reports whether a history takes `share` of the window, or more.
func (rules *Rules) IsAbove(tokens int, share float64) bool {
	return float64(tokens)/float64(rules.Window) >= share
}

// Apply prunes results of a history that has total tokens, and reports how many it changed.
func (rules *Rules) Apply(results []Result, total int, tokens Tokens) (changed int) {
	if !rules.IsAbove(total, rules.TrimFrom) {
		return 0
	}
	p := pruning{rules, total, 0, tokens}
	// The reference does not stop when the ratio has fallen below the threshold: one rewrite of many results costs the
	// prompt cache no more than one of few.
	for i := range results {
		if r := &results[i]; rules.mayTrim(r) {
			p.change(r, Trimmed, rules.ends(r).Chars(r.Whole))
		}
	}
	if rules.NeverClear || !rules.IsAbove(p.total, rules.ClearFrom) || !rules.isEnough(results) {
		return p.changed
	}
	placeholder := runes.Count(rules.Placeholder)
	for i := range results { // the oldest first, until the history is below the share again
		if !rules.IsAbove(p.total, rules.ClearFrom) {
			break
		}
		r := &results[i]
		note := len(WithNote(rules.Placeholder, r.Note)) - len(rules.Placeholder)
		p.change(r, Cleared, placeholder+note)
	}
	return p.changed
}

// pruning is one run of the rules.
type pruning struct {
	*Rules
	total   int // tokens of the history, as pruned so far
	changed int // how often change changed a result
	tokens  Tokens
}

// change changes r, which leaves `chars` characters of it. It does nothing if r would not become smaller both in tokens
// and in characters.
func (p *pruning) change(r *Result, to Change, chars int) {
	if r.Chars <= chars || to == Trimmed && chars >= r.Whole {
		return
	}
	before := *r
	r.Change, r.Chars, r.short = to, chars, ""
	if r.Tokens = p.tokens(r); r.Tokens >= before.Tokens {
		*r = before
		return
	}
	p.total += r.Tokens - before.Tokens
	p.changed++
}

// Left returns the text that is left of r. Most texts are made only when they are asked for, because many results that
// are trimmed are cleared afterwards.
func (rules *Rules) Left(r *Result) string {
	if r.short == "" {
		if r.short = WithNote(rules.Placeholder, r.Note); r.Change == Trimmed {
			r.short = rules.ends(r).Text(r.Text, r.Whole)
		}
	}
	return r.short
}

// Reason says what was done to r, for people.
func (r *Result) Reason() string {
	if r.Change == Cleared {
		return "old result cleared: the history is above the share of the window from which results are cleared"
	}
	return "old result of " + strconv.Itoa(r.Whole) + " characters: head and tail kept"
}

// mayTrim reports whether r is long enough to be trimmed.
func (rules *Rules) mayTrim(r *Result) bool {
	if r.Whole <= rules.TrimAbove || rules.Head >= r.Whole-rules.Tail {
		return false // r is short, or nothing lies between the ends
	}
	// A second trim of a trimmed text would cut the note of the first.
	return !rules.ends(r).Made(r.Text, r.Whole)
}

// ends returns what trimming keeps of r.
func (rules *Rules) ends(r *Result) Trim {
	return Trim{Head: rules.Head, Tail: rules.Tail, Note: r.Note}
}

// isEnough reports whether results hold at least LeastToClear characters.
func (rules *Rules) isEnough(results []Result) bool {
	chars := 0
	for i := range results {
		chars += results[i].Chars
	}
	return chars >= rules.LeastToClear
}
