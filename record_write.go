package winnow

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/record"
	"github.com/winnowgo/winnow/internal/rewrite"
)

// writeRecord writes the record of a run of steps. It is false if that is not worth it. names are those that the
// request has besides; those of the record are added.
func (d *draft) writeRecord(s rewrite.Part, names *excerpt.Names) (*runRecord, bool) {
	r := d.newRecordOf(s.Index, s.End, names, 0)
	return r, isWorthIt(r.fact.tokens, count.Sum(d.view.tokens[s.Index:s.End]))
}

// newRecordOf writes a record of what stands in the view from one position to another, a leaner one where lean is not
// 0.
func (d *draft) newRecordOf(start, end int, names *excerpt.Names, lean int) *runRecord {
	whole := d.whole()
	from, to := d.wholeAt(start), d.wholeAt(end)
	facts := whole.facts[from:to]
	if d.writer == nil {
		d.writer = record.NewWriter(d.minifier.files, names, lean)
	}
	w := d.writer
	w.Reset(names, lean)
	for i := from; i < to && lean < record.Leanest; i++ {
		d.writeStep(w, whole, i)
	}
	run, keys := d.keysOfRun(start, end)
	x := &d.ledger.index
	r := newRecord(&x.hasher, whole.position(from), to-from, keys[len(keys)-1], run,
		w.Write(to-from, sumOf(facts)))
	r.lean, r.keys = lean, keys
	r.fact = x.factBy(r.key, &r.message, d.opts.Estimator)
	return r
}

// keysOfRun returns the keys of what stands in the view from one position to another, together and one by one. A
// leaner record of one run has those of the record in whose place it stands.
func (d *draft) keysOfRun(start, end int) (run key, keys []key) {
	if old := d.recordAt(start); old != nil && end-start == 1 && old.keys != nil {
		return old.run, old.keys
	}
	keys = keysIn(d.whole().facts[d.wholeAt(start):d.wholeAt(end)])
	return place.Of(keys), keys
}

// writeStep tells w of message i of the view without records.
func (d *draft) writeStep(w *record.Writer, whole *view, i int) {
	m := &whole.unedited[i]
	note := ""
	if m.Role != RoleAssistant && whole.facts[i].tokens >= leastStale { // what is shorter is mostly in its line
		note = d.recallNoteIn(whole, i)
	}
	switch m.Role {
	case RoleTool:
		w.Returned(m.ToolCallID, joinedText(m), note, m.IsError)
		return
	case RoleUser:
		w.Inserted(joinedText(m), note)
		return
	}
	for k := range m.Parts {
		switch p := &m.Parts[k]; {
		case p.Kind == KindToolCall:
			w.Called(p.ID, p.Name, p.Arguments)
		case p.Kind == KindText:
			w.Said(p.Text, !hasCalls(m))
		}
	}
}
