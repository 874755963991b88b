package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/record"
	"github.com/winnowgo/winnow/internal/rewrite"
	"github.com/winnowgo/winnow/internal/workfiles"
)

// Which messages of a request a record may stand for, and from when on. A run is folded by steps. A step is an answer
// of the model with the results of its calls, or a text that the host inserted.

// How many of the newest steps stay whole, unless PruneOptions.KeepLastAssistants says otherwise: see wholeSteps.
const (
	// While the prompt cache is warm. In a replay of the recorded sessions 2 and 8 cost the same within 0.7 %: what
	// stands behind a step decides when a record is made. See BENCHMARKS.md.
	carriedSteps = 4
	// The same with KeepLittle, which keeps one when folding costs nothing. Four cost 1.1 to 1.3 % more, and keep 3
	// points more of the lines that edits quote and .1 points more of the names.
	briefSteps = 2
	// When folding costs nothing. Three cost 0.3 to 0.6 % more and keep the same names and lines; one costs 0.3 % less
	// and loses up to 0.6 points of the lines that edits quote.
	coldSteps = 2
)

// folding finds the steps of a view that records may stand for.
type folding struct {
	draft    *draft
	stale    *staleness
	foldable []bool // by message
	inWork   []bool // by message: its step shows a file in work; nil: none does
	request  int    // the oldest request of a person: what the host inserted before it stays
}

func (d *draft) newFolding(s *staleness) *folding {
	v := d.view
	f := &folding{draft: d, stale: s, foldable: make([]bool, len(v.messages))}
	if s.options.NoHardClear || !d.opts.Keep.folds() {
		return f
	}
	f.request = slices.IndexFunc(v.messages, func(m Message) bool { return beginsTurn(&m) })
	for i := 0; i < len(v.messages); {
		end := i + 1
		for end < len(v.messages) && v.messages[end].Role == RoleTool {
			end++
		}
		if f.mayFold(i, end) {
			for k := i; k < end; k++ {
				f.foldable[k] = true
			}
		}
		i = end
	}
	// After a pause in the middle of a turn, the agent goes on with the same files. Their texts are folded early only
	// if the request does not fit otherwise.
	if d.opts.Keep.keepsFiles() && !d.dropsFiles {
		f.inWork = f.filesInWork()
	}
	return f
}

// filesInWork marks the messages of steps whose calls show files that are being worked on.
func (f *folding) filesInWork() (held []bool) {
	d, s := f.draft, f.stale
	held = make([]bool, len(s.view.messages))
	work := workfiles.Work{Uncached: d.opts.Cache.None, OnlyLooks: !d.changesFiles(0)}
	s.holdFiles(held, &work, s.newest, len(held))
	if !s.early && !work.Uncached && d.changesFiles(1) {
		work.IsEarlier = true
		begin := s.newest - 1
		for begin > 0 && !beginsTurn(&s.view.messages[begin]) {
			begin--
		}
		s.holdFiles(held, &work, max(0, begin), s.newest)
	}
	for i := 1; i < len(held); i++ {
		if s.view.messages[i].Role == RoleTool {
			held[i] = held[i-1]
		}
	}
	return held
}

// holdFiles marks the answers from one message to another whose calls show files in work.
func (s *staleness) holdFiles(held []bool, work *workfiles.Work, from, to int) {
	for i := to - 1; i >= from; i-- {
		if s.view.messages[i].Role != RoleAssistant {
			continue
		}
		work.Back()
		for _, c := range *s.view.facts[i].subjects {
			held[i] = work.Holds(c.files) || held[i]
		}
	}
}

// changesFiles reports whether a call of a turn changes a file. The newest turn is 0, the one before is 1. It looks at
// the history, because a summary may stand for most of a turn.
func (d *draft) changesFiles(turn int) bool {
	facts := d.ledger.index.facts
	for i := len(d.history) - 1; i >= max(0, d.compactedAt) && turn >= 0; i-- {
		if beginsTurn(&d.history[i]) {
			turn--
		}
		if turn != 0 {
			continue
		}
		for _, c := range *facts[i].subjectsOf(&d.history[i], d.minifier.files) {
			if workfiles.Modifies(c.files) {
				return true
			}
		}
	}
	return false
}

// isInWork reports whether the step that begins at message i shows a file in work, which an epoch leaves whole.
func (f *folding) isInWork(i int) bool { return f.inWork != nil && f.inWork[i] }

// isFoldable reports whether message i belongs to a step that a record may stand for. Nothing of such a step is edited
// in place.
func (f *folding) isFoldable(i int) bool { return f.foldable[i] }

// mayFold reports whether a record may stand for the messages from i to end. They have to be an answer with all results
// of its calls and with more behind it, or a text that the host inserted in an older turn.
func (f *folding) mayFold(i, end int) bool {
	v, s := f.draft.view, f.stale
	m := &v.messages[i]
	if m.Role == RoleUser {
		return i > f.request && (i < s.newest || isLaterResult(m)) && mayFoldInjected(m)
	}
	if m.Role != RoleAssistant || end == len(v.messages) || i >= s.newest && hasSignature(m) {
		return false
	}
	calls := 0
	for k := range m.Parts {
		switch p := &m.Parts[k]; {
		case p.Kind == KindToolCall:
			if calls++; !s.allowed.Matches(p.Name) {
				return false
			}
		case p.Kind != KindText && !isThinking(*p):
			return false
		}
	}
	if m.Pinned || m.Summary || calls != end-i-1 {
		return false
	}
	for k := i + 1; k < end; k++ {
		r := &v.messages[k]
		if r.Pinned || !s.allowed.Matches(s.tools.of(k, r)) || !holdsOnlyText(r) {
			return false
		}
	}
	return true
}

// step returns the step from i to end as a part of a rewrite, which says how long it has been stale. The model has seen
// all of it in `carried` requests. step returns false if a record would save nothing.
func (f *folding) step(i, end, carried int) (rewrite.Part, bool) {
	least := f.wholeSteps()
	due := least
	for k := i + 1; k < end; k++ {
		due = max(due, f.stale.dueAfter(k, least))
	}
	p := rewrite.Part{
		Index: i, End: end, Calls: end > i+1, Injected: f.stale.view.messages[i].Role == RoleUser,
		Saving: f.saving(i, end), Overdue: carried - due, Reason: foldReason,
	}
	return p, p.Saving > 0
}

// wholeSteps returns how many of the newest steps stay whole.
func (f *folding) wholeSteps() int {
	d, early, asked := f.draft, f.stale.early, f.stale.options.KeepLastAssistants
	isBrief := d.opts.Keep.isBrief()
	switch {
	case d.isKeepLastSet && (early || isBrief):
		return max(1, asked)
	case isBrief && early:
		return 1
	case isBrief:
		return briefSteps
	case !early:
		return max(asked, carriedSteps)
	case d.keepsNewestOnly, d.opts.Keep == KeepAll, !d.isCold():
		return max(1, asked)
	}
	return coldSteps
}

// saving estimates how many tokens a record saves of the step from i to end.
func (f *folding) saving(i, end int) int {
	v := f.draft.view
	m := &v.unedited[i]
	left, isBrief, isAnswer := 0, f.draft.opts.Keep.isBrief(), !hasCalls(m)
	if m.Role == RoleUser {
		left = record.EstimateInserted(textBytes(m), isBrief)
	}
	for k := range m.Parts {
		switch p := &m.Parts[k]; {
		case p.Kind == KindToolCall:
			left += record.EstimateCall()
		case m.Role == RoleAssistant && p.Kind == KindText:
			left += record.EstimateSaid(len(p.Text), isAnswer, isBrief)
		}
	}
	sum := count.Sum(v.tokens[i:end])
	return sum - left - count.Share(sum, record.NamesShare/2)
}
