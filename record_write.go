package winnow

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/record"
)

// writeRecord returns the record of s, a run of steps. It returns false if the record saves too little. names are those
// that the request has elsewhere; those of the record are added.
func (d *draft) writeRecord(s part, names *excerpt.Names) (*runRecord, bool) {
	r := d.newRecordOf(s.index, s.end, names, 0)
	return r, isWorthIt(r.fact.tokens, count.Sum(d.view.tokens[s.index:s.end]))
}

// newRecordOf returns a record of the messages of the view from start to end. names is as in writeRecord, and lean says
// how often the record was made leaner.
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

// keysOfRun returns the keys of the messages that the view has, or has records of, from start to end: run is the key of
// all of them together, and keys has them one by one. A record that is made leaner passes on its own keys.
func (d *draft) keysOfRun(start, end int) (run key, keys []key) {
	if old := d.recordAt(start); old != nil && end-start == 1 && old.keys != nil {
		return old.run, old.keys
	}
	keys = keysIn(d.whole().facts[d.wholeAt(start):d.wholeAt(end)])
	return place.Of(keys), keys
}

// writeStep tells w of message i of whole, the view without records.
func (d *draft) writeStep(w *record.Writer, whole *view, i int) {
	m := &whole.unedited[i]
	note := ""
	if m.Role != RoleAssistant && whole.facts[i].tokens >= leastStale { // a shorter text is mostly whole in its line
		note = d.recallNoteIn(whole, i)
	}
	switch m.Role {
	case RoleTool:
		if isMissingResult(m) {
			w.Lost(m.ToolCallID)
		} else {
			w.Returned(m.ToolCallID, textAndImages(m), note, m.IsError, whole.facts[i].redundant&minify.Escapes != 0)
		}
		return
	case RoleUser:
		if len(m.InForce) > 0 { // what is in force is in no record
			w.Replaced(joinedText(m), note)
		} else {
			w.Inserted(joinedText(m), note)
		}
		return
	}
	for k := range m.Parts {
		switch p := &m.Parts[k]; {
		case p.Kind == KindToolCall:
			w.Called(p.ID, p.Name, p.Arguments)
		case p.Kind == KindText:
			w.Said(p.Text)
		}
	}
}

// textAndImages returns the text of m, with a line for each of its images.
func textAndImages(m *Message) string {
	if !hasImage(m) {
		return joinedText(m)
	}
	out := Message{Parts: partsWithoutImages(m, func(p *Part) string { return describeImage(p) + "]" })}
	return joinedText(&out)
}
