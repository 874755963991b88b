package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/record"
)

// writeRecord writes the record of a run. It is false if that is not worth it. names are those that the request has
// besides; those of the record are added.
func (d *draft) writeRecord(s stale, names excerpt.Names) (*runRecord, bool) {
	v, whole := d.view, d.whole()
	from, to := d.wholeAt(s.index), d.wholeAt(s.end)
	facts := whole.facts[from:to]
	run := keyOf(facts)
	if slices.ContainsFunc(d.records, func(r *runRecord) bool { return r.run == run }) {
		return nil, false // a second one would be taken for it
	}
	w := record.NewWriter(d.opts.Compact.fileTools(), names)
	for i := from; i < to; i++ {
		m := &whole.unedited[i]
		if m.Role == RoleTool {
			note := ""
			if facts[i-from].tokens >= leastStale { // what is shorter is mostly in its line
				note = d.recallNoteIn(whole, i)
			}
			w.Returned(m.ToolCallID, joinedText(m), note, m.IsError)
			continue
		}
		for k := range m.Parts {
			switch p := &m.Parts[k]; {
			case p.Kind == KindToolCall:
				w.Called(p.ID, p.Name, p.Arguments)
			case isText(p):
				w.Said(p.Text)
			}
		}
	}
	before := count.Sum(v.tokens[s.index:s.end])
	r := newRecord(position{facts[0].key, whole.index[from]}, to-from, facts[len(facts)-1].key, run, w.Write(to-from, sumOf(facts)))
	for _, f := range facts {
		r.keys = append(r.keys, f.key)
	}
	r.fact = d.ledger.index.fact(&r.message, d.opts.Estimator)
	return r, isWorthIt(r.fact.tokens, before)
}
