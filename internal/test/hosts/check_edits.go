package hosts

import (
	"slices"

	"github.com/winnowgo/winnow"
)

// The edits of a request are compared with the request itself.

// checkSum: the edits add up to the difference between request and history.
func (w *world) checkSum(in []winnow.Message, r *winnow.Request) {
	if w.options.Estimator != 0 || w.damaged ||
		slices.ContainsFunc(r.Messages, func(m winnow.Message) bool { return m.Summary }) {
		return // repairs are counted by characters
	}
	n, nothing := w.estimate(in), 0
	for _, e := range r.Edits {
		n += e.After - e.Before
		if e.Before == 1 || e.After == 1 { // a message whose estimate may be 0
			nothing++
		}
	}
	if got := w.estimate(r.Messages); max(n-got, got-n) > nothing {
		w.fail("edits add up", "%d tokens with the edits, and the request has %d: %+v", n, got, r.Edits)
	}
}

// checkMinified: only new results that are not protected are minified.
func (w *world) checkMinified(in []winnow.Message, r *winnow.Request) {
	for _, e := range r.Edits {
		if e.Op != winnow.OpMinify {
			continue
		}
		m := &in[e.Index]
		isRecalled := w.options.Recall && m.ToolName == recallTool && !w.overwritten[m.ID]
		if m.Role != winnow.RoleTool || m.Pinned || m.IsError || isRecalled || e.After >= e.Before && e.Before > 1 {
			w.fail("only plain results are written shorter", "%+v: %s", e, show(m))
		}
	}
}

// checkEdits: kept + edited + dropped = input, and the edits say which is which.
func (w *world) checkEdits(in []winnow.Message, r *winnow.Request) {
	if w.setting.NoIDs {
		return
	}
	var dropped, changed = map[int]bool{}, map[int]winnow.Op{}
	inserted := 0
	for _, e := range r.Edits {
		if e.Reason == "" || e.Op == "" || e.Before <= 0 && e.After <= 0 || e.Index < 0 || e.Index >= max(1, len(in)) {
			w.fail("an edit says what was done", "%+v", e)
			continue
		}
		switch {
		case e.Before == 0:
			inserted++
		case e.ID == "": // a message that the library made
		case in[e.Index].ID != e.ID:
			w.fail("an edit says what was done", "%+v, and message %d is %s", e, e.Index, in[e.Index].ID)
		case e.After == 0 && dropped[e.Index]:
			w.fail("an edit says what was done", "%+v: it is dropped twice", e)
		case e.After == 0:
			dropped[e.Index] = true
		default:
			changed[e.Index] = e.Op
		}
	}
	at := places(r.Messages)
	made := 0
	for k := range r.Messages {
		if m := &r.Messages[k]; m.ID == "" && !m.Summary {
			made++
		}
	}
	for i := range in {
		if in[i].ID == "" && !in[i].Summary {
			made--
		}
	}
	if made > inserted {
		w.fail("nothing is made without an edit", "%d messages were made, %d edits say so", made, inserted)
	}
	var order []int
	for was, k := places(in), 0; k < len(r.Messages); k++ {
		if i := was[r.Messages[k].ID]; i != nil {
			order = append(order, i[0])
		}
	}
	moved := misplaced(order)
	for i := range in {
		if in[i].ID == "" {
			continue
		}
		k := at[in[i].ID]
		switch {
		case len(k) > 1:
			w.fail("a message is there once", "message %d (%s) is there %d times", i, in[i].ID, len(k))
		case len(k) == 0 && !dropped[i]:
			w.fail("nothing disappears without an edit", "message %d is gone: %s\n%+v", i, show(&in[i]), r.Edits)
		case len(k) == 1 && dropped[i]:
			w.fail("an edit says what was done", "message %d is there, and an edit says that it is gone", i)
		case len(k) == 1 && changed[i] == "" && (moved[i] || wireForm(&in[i]) != wireForm(&r.Messages[k[0]])):
			w.fail("nothing is changed without an edit", "message %d\nis  %s\nwas %s", i, show(&r.Messages[k[0]]),
				show(&in[i]))
		case len(k) == 1 && changed[i] != "" && changed[i] != winnow.OpRepair && !moved[i] &&
			wireForm(&in[i]) == wireForm(&r.Messages[k[0]]):
			w.fail("an edit says what was done", "message %d is as it was, and an edit says %s", i, changed[i])
		}
	}
}

// misplaced returns the numbers that precede a lower one.
func misplaced(order []int) map[int]bool {
	out := map[int]bool{}
	lowest := int(^uint(0) >> 1)
	for _, i := range slices.Backward(order) {
		if i > lowest {
			out[i] = true
		}
		lowest = min(lowest, i)
	}
	return out
}
