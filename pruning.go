package winnow

import (
	"math"
	"strconv"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/cut"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// PruneContext trims and then clears old tool results, once the history takes a certain share of the window. Above
// SoftTrimRatio every result longer than SoftTrimMaxChars keeps its head and its tail; if the history is then still
// above HardClearRatio, it replaces the oldest results with the placeholder until it is below.
//
// It never touches messages before the first user message, the newest KeepLastAssistants assistant messages and
// everything after them, pinned results, results that hold an image or anything else that is not text, and results of
// tools that the patterns exclude. No message gets longer. The window is in tokens; with a window of 0 or less nothing
// is done. Source of the rules, numbers and texts: the reference system.
func PruneContext(history []Message, window int, opts *PruneOptions) ([]Message, []Edit) {
	p := pruning{PruneOptions: opts.withDefaults(charsPerToken(4)), history: history, window: window}
	return p.run()
}

// pruning is one run of PruneContext.
type pruning struct {
	PruneOptions
	history []Message
	window  int   // tokens
	tokens  []int // estimate of each message; nil: not known yet

	// returns the note that says how to recall what is left out of message i, see cut.WithNote; nil: no notes
	note func(i int) string

	total      int // tokens of the whole history, as pruned so far
	candidates []candidate
	changed    int    // how often replace changed a result
	cleared    []Part // of every cleared result without a note
	trimmed    []Part // of other changed results, in groups: the next parts have room behind them
}

// candidate is a result that may be pruned.
type candidate struct {
	index      int
	tokens     int    // as pruned so far
	chars      int    // of its text, as pruned so far; -1: not counted
	wholeChars int    // of its joined texts before it was trimmed
	op         Op     // "" if it was not changed
	note       string // from pruning.note
	parts      []Part // in place of its own if it was changed; nil: not made yet
	reason     string
}

// run prunes the history. It looks at lengths first, so that for most histories it reads no text.
func (p *pruning) run() ([]Message, []Edit) {
	if p.window <= 0 || !p.mayBeAboveSoftTrim() || !p.findCandidates() || !p.aboveSoftTrim() {
		return clip(p.history), nil
	}
	p.trimAll()
	if !p.NoHardClear && p.ratio() >= p.HardClearRatio && p.enoughToClear() {
		p.clearOldest()
	}
	if p.changed == 0 {
		return clip(p.history), nil
	}
	return p.build()
}

// findCandidates lists the results that may be pruned, without reading a text. It returns false if nothing can change.
func (p *pruning) findCandidates() bool {
	start, end := 0, p.protectedFrom()
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
	p.candidates = make([]candidate, 0, results)
	long, bytes := false, 0
	for i := start; i < end; i++ {
		m := &p.history[i]
		if m.Role != RoleTool || m.Pinned {
			continue
		}
		if !holdsOnlyText(m) || !match.Matches(tools.of(i, m)) {
			continue
		}
		n := textBytes(m)
		long = long || n > p.SoftTrimMaxChars
		bytes += n
		c := candidate{index: i, chars: -1}
		if p.note != nil {
			c.note = p.note(i)
		}
		p.candidates = append(p.candidates, c)
	}
	// Trimming needs a long result, clearing needs many characters, and no text has more characters than bytes.
	return long || len(p.candidates) > 0 && !p.NoHardClear && bytes >= p.MinPrunableToolChars
}

// protectedFrom returns the index of the oldest of the newest KeepLastAssistants assistant messages, or 0
// if there are fewer.
func (p *pruning) protectedFrom() int {
	left := p.KeepLastAssistants
	if left <= 0 {
		return len(p.history)
	}
	for i := len(p.history) - 1; i >= 0; i-- {
		if p.history[i].Role == RoleAssistant {
			if left--; left == 0 {
				return i
			}
		}
	}
	return 0
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
		if most = count.Add(most, n); float64(most)/float64(p.window) >= p.SoftTrimRatio {
			return true
		}
	}
	return false
}

// aboveSoftTrim estimates the history and reports whether it reaches SoftTrimRatio.
func (p *pruning) aboveSoftTrim() bool {
	if p.tokens == nil {
		p.tokens = make([]int, len(p.history))
		next := 0 // candidate
		for i := range p.history {
			if next < len(p.candidates) && p.candidates[next].index == i {
				p.tokens[i], p.candidates[next].chars = estimateResult(p.Estimator, &p.history[i], -1)
				next++
				continue
			}
			p.tokens[i] = estimateWith(p.Estimator, p.history[i])
		}
	}
	for _, n := range p.tokens {
		p.total = count.Add(p.total, n)
	}
	for k := range p.candidates {
		p.candidates[k].tokens = p.tokens[p.candidates[k].index]
	}
	return p.ratio() >= p.SoftTrimRatio
}

func (p *pruning) ratio() float64 { return float64(p.total) / float64(p.window) }

// trimAll trims every candidate that is long enough. The reference does not stop when the ratio has
// fallen below the threshold: one rewrite of many results costs the prompt cache no more than one of few.
func (p *pruning) trimAll() {
	for k := range p.candidates {
		c := &p.candidates[k]
		if left, ok := p.trimmedChars(c); ok {
			p.replace(c, left, OpTrim)
		}
	}
}

// trimmedChars returns how many characters trimming leaves of c, the note included. ok is false if c is not to be
// trimmed.
func (p *pruning) trimmedChars(c *candidate) (left int, ok bool) {
	m := &p.history[c.index]
	if textBytes(m)+len(m.Parts) <= p.SoftTrimMaxChars {
		return 0, false // a text has no more characters than bytes, and one newline stands between two texts
	}
	if c.wholeChars = c.chars + len(m.Parts) - 1; c.chars < 0 {
		c.wholeChars = runes.Count(joinedText(m))
	}
	head, tail := p.SoftTrimHeadChars, p.SoftTrimTailChars
	if c.wholeChars <= p.SoftTrimMaxChars || head >= c.wholeChars-tail || p.wasTrimmed(c) {
		return 0, false // it is short, nothing lies between the ends, or trimming once more would trim the note
	}
	left = p.ends(c).Chars(c.wholeChars)
	return left, left < c.wholeChars
}

// ends returns what trimming keeps of c.
func (p *pruning) ends(c *candidate) cut.Trim {
	return cut.Trim{Head: p.SoftTrimHeadChars, Tail: p.SoftTrimTailChars, Note: c.note}
}

// wasTrimmed reports whether the text of c is already the outcome of a trim.
func (p *pruning) wasTrimmed(c *candidate) bool {
	m := &p.history[c.index]
	return cut.EndsInNote(m.Parts[len(m.Parts)-1].Text) && p.ends(c).Made(joinedText(m), c.wholeChars)
}

// enoughToClear reports whether the candidates hold at least MinPrunableToolChars characters. It reads no further than
// it must.
func (p *pruning) enoughToClear() bool {
	chars := 0
	for k := range p.candidates {
		if chars >= p.MinPrunableToolChars {
			return true
		}
		c := &p.candidates[k]
		if c.chars < 0 {
			c.chars = 0
			for _, part := range p.history[c.index].Parts {
				c.chars += runes.Count(part.Text)
			}
		}
		chars += c.chars
	}
	return chars >= p.MinPrunableToolChars
}

// clearOldest clears results, the oldest first, until the history is below the ratio again.
func (p *pruning) clearOldest() {
	p.cleared = []Part{{Text: p.Placeholder}}
	chars := runes.Count(p.Placeholder)
	for k := range p.candidates {
		if p.ratio() < p.HardClearRatio {
			return
		}
		c := &p.candidates[k]
		p.replace(c, chars+len(cut.WithNote(p.Placeholder, c.note))-len(p.Placeholder), OpClear)
	}
}

// replace decides to do op to c, which leaves `chars` characters of it. It does nothing if c would not become smaller
// both in tokens and in characters.
func (p *pruning) replace(c *candidate, chars int, op Op) {
	if c.chars >= 0 && c.chars <= chars || c.chars < 0 && !charsAbove(p.history[c.index].Parts, chars) {
		return
	}
	m := p.history[c.index]
	m.Parts, m.Source = nil, nil
	if _, ok := p.Estimator.(charsPerToken); !ok { // charsPerToken needs no text: `chars` is enough
		m.Parts = p.newParts(c, op)
	}
	tokens, _ := estimateResult(p.Estimator, &m, chars)
	if tokens >= c.tokens {
		return
	}
	p.total += tokens - c.tokens
	p.changed++
	c.tokens, c.chars, c.op, c.parts = tokens, chars, op, m.Parts
}

// newParts returns the parts that replace those of c after op. It allocates parts in groups, because a history may have
// thousands.
func (p *pruning) newParts(c *candidate, op Op) []Part {
	if op == OpClear && c.note == "" {
		return p.cleared
	}
	if len(p.trimmed) == cap(p.trimmed) {
		p.trimmed = make([]Part, 0, partsAtOnce)
	}
	text := cut.WithNote(p.Placeholder, c.note)
	if op == OpTrim {
		text = p.ends(c).Text(joinedText(&p.history[c.index]), c.wholeChars)
	}
	p.trimmed = append(p.trimmed, Part{Text: text})
	n := len(p.trimmed)
	return p.trimmed[n-1 : n : n]
}

// partsAtOnce is how many parts are allocated together. This makes few allocations, and whoever holds one of the parts
// keeps no more than these in memory.
const partsAtOnce = 16

// build returns the pruned history and an edit for each result that was changed. It makes most texts only now, because
// many results that are trimmed are cleared afterwards.
func (p *pruning) build() ([]Message, []Edit) {
	out := append(make([]Message, 0, len(p.history)), p.history...)
	edits := make([]Edit, 0, p.changed)
	var reason []byte
	for k := range p.candidates {
		c := &p.candidates[k]
		switch c.op {
		case OpTrim:
			reason = strconv.AppendInt(append(reason[:0], "old result of "...), int64(c.wholeChars), 10)
			reason = append(reason, " characters: head and tail kept"...)
			c.reason = string(reason)
		case OpClear:
			c.reason = "old result cleared: the history is above the share of the window from which results are cleared"
		default:
			continue
		}
		m := &out[c.index]
		if m.Parts, m.Source = c.parts, nil; m.Parts == nil {
			m.Parts = p.newParts(c, c.op)
		}
		edits = append(edits, Edit{
			Op: c.op, Index: c.index, ID: m.ID,
			Before: max(1, p.tokens[c.index]), After: max(1, c.tokens), Reason: c.reason,
		})
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
