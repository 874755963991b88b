package hosts

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"

	"github.com/winnowgo/winnow"
)

// Pairs of requests that have to be the same: the planned and the prepared one, and those of a running and a restored
// manager.

// checkPlan: if neither compacts, the plan was right.
func (w *world) checkPlan(plan, got *winnow.Request) {
	if w.options.Background {
		return
	}
	if got.Compaction != nil && !plan.NeedsCompaction {
		w.fail("Plan is Prepare", "Prepare compacted, and Plan did not say so")
	}
	if plan.NeedsCompaction {
		return
	}
	if n := w.summarizer.calls.Load(); n > 0 {
		w.fail("Plan is Prepare", "%d calls of the summarizer, and Plan did not say so", n)
	}
	w.checkSame("Plan is Prepare", plan, got, nil, nil)
}

// checkSame compares everything except what the host put into messages.
func (w *world) checkSame(promise string, want, got *winnow.Request, wantErr, gotErr error) {
	if (wantErr == nil) != (gotErr == nil) {
		w.fail(promise, "one has the error %v, the other %v", wantErr, gotErr)
		return
	}
	if gotErr != nil {
		return
	}
	if a, b := want.Compaction, got.Compaction; !reflect.DeepEqual(a, b) {
		w.fail(promise, "compactions differ\nwant %s\ngot  %s", showCompaction(a), showCompaction(b))
	}
	for _, pair := range [][2][]winnow.Message{{want.Messages, got.Messages}, {want.History, got.History}} {
		a, b := wireForms(pair[0]), wireForms(pair[1])
		if !slices.Equal(a, b) {
			at := 0
			for at < min(len(a), len(b)) && a[at] == b[at] {
				at++
			}
			w.fail(promise, "message %d differs\nwant %s\ngot  %s\nwant %s\ngot  %s", at, sketch(pair[0]),
				sketch(pair[1]), showAt(pair[0], at), showAt(pair[1], at))
			return
		}
	}
	if !slices.Equal(want.Edits, got.Edits) {
		w.fail(promise, "edits differ\nwant %+v\ngot  %+v", want.Edits, got.Edits)
	}
	x, y := *want, *got
	for _, r := range []*winnow.Request{&x, &y} {
		r.Messages, r.History, r.Edits, r.Compaction = nil, nil, nil, nil
		r.SummaryCalls, r.SummaryUsage = 0, winnow.Usage{} // Plan asks nobody, and a restart forgets who was asked
	}
	if !reflect.DeepEqual(x, y) {
		w.fail(promise, "requests differ\nwant %+v\ngot  %+v", x, y)
	}
}

// checkJournal: after a request, an earlier state and its deltas add up to the state.
func (w *world) checkJournal() {
	if !w.options.Journal || w.damaged || w.recount {
		return
	}
	m := w.newManager(nil)
	if err := m.Restore(w.base, w.deltas...); err != nil {
		w.fail("a journal is the state", "%v", err)
		return
	}
	state, again := w.snapshot(), mustSnapshot(m)
	if !bytes.Equal(state, again) {
		w.fail("a journal is the state", "%d deltas\nwant %s\ngot  %s", len(w.deltas), clip(string(state)),
			clip(string(again)))
	}
}

// showCompaction returns a compaction in one line, with the end of its summary.
func showCompaction(c *winnow.Compaction) string {
	if c == nil {
		return "none"
	}
	short := *c
	short.Summary = fmt.Sprintf("%d bytes, %x", len(c.Summary), maphash.String(seed, c.Summary))
	return fmt.Sprintf("%+v", short)
}
