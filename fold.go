package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/record"
)

// What of a request a record may stand for, and from when on. A run is folded by steps: an answer of the model with the
// results of its calls.

// How many of the newest steps stay whole, unless the host says so by PruneOptions.KeepLastAssistants.
const (
	// While the prompt cache is warm. In a replay of the recorded sessions 2 and 8 cost the same within 0.7 %: what
	// lies behind a step decides when a record is made. See BENCHMARKS.md.
	carriedSteps = 4
	// Where folding costs nothing. Three cost 0.3 to 0.6 % more and keep the same names and lines; one costs 0.2 % less
	// and loses up to half a point of the lines that edits quote. KeepLittle keeps one.
	coldSteps = 2
)

// folding finds the steps of a view that records may stand for.
type folding struct {
	draft    *draft
	stale    *staleness
	foldable []bool // by message
	inWork   []bool // likewise, of steps that show a file in work; nil: none are
	request  int    // the oldest in which a person asks for something: what the host put before it stays
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
	if d.opts.Keep.keepsFiles() && !s.early {
		f.inWork = s.filesInWork()
	}
	return f
}

// isInWork reports whether the step that begins at message i shows a file in work, which an epoch leaves whole.
func (f *folding) isInWork(i int) bool { return f.inWork != nil && f.inWork[i] }

// isFoldable reports whether message i is of a step that a record may stand for: nothing of it is edited in place.
func (f *folding) isFoldable(i int) bool { return f.foldable[i] }

// mayFold reports whether a record may stand for the messages from i to end: an answer with all results of its calls,
// and more behind it.
func (f *folding) mayFold(i, end int) bool {
	v, s := f.draft.view, f.stale
	m := &v.messages[i]
	if m.Role == RoleUser {
		return i > f.request && i < s.newest && mayFoldInjected(m)
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
		case !isTextPart(p) && !isThinking(*p):
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

// step says when the step from i to end is stale. The model has seen all of it in `carried` requests.
func (f *folding) step(i, end, carried int) (stalePart, bool) {
	least := f.wholeSteps()
	due := least
	for k := i + 1; k < end; k++ {
		due = max(due, f.stale.dueAfter(k, least))
	}
	p := stalePart{
		index: i, end: end, calls: end > i+1, injected: f.stale.view.messages[i].Role == RoleUser,
		saving: f.saving(i, end), overdue: carried - due, reason: foldReason,
	}
	return p, p.saving > 0
}

// wholeSteps is how many of the newest steps stay whole.
func (f *folding) wholeSteps() int {
	asked, keep := f.stale.options.KeepLastAssistants, f.draft.opts.Keep
	switch {
	case !f.stale.early:
		return max(asked, carriedSteps)
	case f.draft.keepLast, keep == KeepAll, !f.draft.isCold():
		return max(1, asked)
	case keep == KeepLittle:
		return 1
	}
	return coldSteps
}

// saving is about what a record saves of the tokens of the step from i to end.
func (f *folding) saving(i, end int) int {
	v := f.draft.view
	m := &v.unedited[i]
	left := 0
	if m.Role == RoleUser {
		left = record.EstimateInserted(textBytes(m))
	}
	for k := range m.Parts {
		switch p := &m.Parts[k]; {
		case p.Kind == KindToolCall:
			left += record.EstimateCall()
		case m.Role == RoleAssistant && isTextPart(p):
			left += record.EstimateSaid(len(p.Text), !callsTools(m))
		}
	}
	sum := count.Sum(v.tokens[i:end])
	return sum - left - count.Share(sum, record.NamesShare/2)
}

// runsOf joins the neighbours among steps of a list, and leaves out runs that are not worth a record. Answers among
// which nothing was called are a conversation: what people were told stays as they were told it, but with KeepLittle.
func runsOf(list []stalePart, keep KeepPolicy) []stalePart {
	out := make([]stalePart, 0, len(list))
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[0].end > 0 && list[n-1].end == list[n].index {
			n++
		}
		group := list[:n]
		list = list[n:]
		isWork := keep == KeepLittle || slices.ContainsFunc(group, func(s stalePart) bool { return s.calls })
		for _, s := range group {
			switch k := len(out) - 1; {
			case s.end == 0:
				out = append(out, s)
			case !isWork && !s.injected:
			case k >= 0 && out[k].end == s.index:
				out[k].join(&s)
			default:
				out = append(out, s)
			}
		}
	}
	return slices.DeleteFunc(out, func(s stalePart) bool { return s.end > 0 && s.saving < leastStale })
}

// join makes one run of two neighbours. What was paid for both stays what it was.
func (s *stalePart) join(next *stalePart) {
	if sum := s.saving + next.saving; sum > 0 {
		paid := float64(s.overdue)*float64(s.saving) + float64(next.overdue)*float64(next.saving)
		s.overdue = int(paid / float64(sum))
	}
	s.saving, s.end = s.saving+next.saving, next.end
}
