package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/record"
)

// How a record is written, and what is left of it once it is bare.

// A part of fewer tokens is not worth an edit.
const leastStale = 100

// bareShare is the share of the room that bare records may take, for what failed and what was made.
const bareShare = 0.03

// putNew puts records that were not sent before in the place of their runs in the view. A run without one gets a bare
// record. Neighbours that are bare become one, because each of them would say the same.
func (d *draft) putNew(news []recordedRun) {
	if len(news) == 0 {
		return
	}
	var runs []recordedRun
	for _, run := range news {
		if k := len(runs) - 1; run.record != nil {
			runs = append(runs, run)
		} else if run = d.withBareAround(run); k >= 0 && runs[k].record == nil && runs[k].to >= run.from {
			runs[k].to = run.to
		} else {
			runs = append(runs, run)
		}
	}
	d.makeBare(runs)
	if d.firstReason == "" {
		d.firstReason = d.passReason
	}
	d.unchangedPrefix = min(d.unchangedPrefix, runs[0].from)
	d.newRecords += len(runs)
	d.putRecords(runs)
}

// writeRecord returns the record of the steps from start to end. names are those that the request has elsewhere; those
// of the record are added.
func (d *draft) writeRecord(w *record.Writer, start, end int, names *excerpt.Names) *runRecord {
	unfolded := d.unfoldedView()
	from, to := d.unfoldedAt(start), d.unfoldedAt(end)
	w.Reset(names)
	for i := from; i < to; i++ {
		d.writeStep(w, unfolded, i)
	}
	return d.recordOf(start, end, w.Write(to-from, sumOf(unfolded.facts[from:to])))
}

// withBareAround returns run with the bare records of the view that stand beside it.
func (d *draft) withBareAround(run recordedRun) recordedRun {
	isBare := func(i int) bool { r := d.recordAt(i); return r != nil && r.isBare }
	for run.from > 0 && isBare(run.from-1) {
		run.from--
	}
	for run.to < len(d.view.facts) && isBare(run.to) {
		run.to++
	}
	return run
}

// recordOf returns the record with text of the messages of the view from start to end.
func (d *draft) recordOf(start, end int, text string) *runRecord {
	unfolded, x := d.unfoldedView(), &d.ledger.index
	from := d.unfoldedAt(start)
	run, keys := d.keysOfRun(start, end)
	r := newRecord(&x.hasher, unfolded.position(from), len(keys), keys[len(keys)-1], run, text)
	r.keys = keys
	r.fact = x.factBy(r.key, &r.message, d.opts.Estimator)
	return r
}

// keysOfRun returns the keys of the messages that the view has, or has records of, from start to end: run is the key of
// all of them together, and keys has them one by one. A record that becomes bare passes on its own keys.
func (d *draft) keysOfRun(start, end int) (run key, keys []key) {
	if old := d.recordAt(start); old != nil && end-start == 1 && old.keys != nil {
		return old.run, old.keys
	}
	keys = keysIn(d.unfoldedView().facts[d.unfoldedAt(start):d.unfoldedAt(end)])
	return place.Of(keys), keys
}

// writeStep tells w of message i of unfoldedView.
func (d *draft) writeStep(w *record.Writer, unfolded *view, i int) {
	m := &unfolded.unedited[i]
	note := ""
	if m.Role != RoleAssistant && unfolded.facts[i].tokens >= leastStale { // a shorter text is mostly whole in its line
		note = d.recallNoteIn(unfolded, i)
	}
	switch m.Role {
	case RoleTool:
		if isMissingResult(m) {
			w.Lost(m.ToolCallID)
		} else {
			w.Returned(m.ToolCallID, textAndImages(m), note, m.IsError, unfolded.facts[i].redundant&minify.Escapes != 0)
		}
		return
	case RoleUser:
		if len(m.InForce) > 0 || d.inForceNow().again[i] { // what is in force is in no record
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
	out := Message{Parts: partsWithoutImages(m, func(p *Part) string { return describeImage(p) + "]" }, -1)}
	return joinedText(&out)
}

// makeBare gives the runs without a record a bare one. The newest have lines first.
func (d *draft) makeBare(runs []recordedRun) {
	left := count.Share(4*d.room(), bareShare) // bytes
	for i := range d.view.facts {
		if r := d.recordAt(i); r != nil && r.isBare {
			left -= len(joinedText(&r.message))
		}
	}
	for k := range slices.Backward(runs) {
		if run := &runs[k]; run.record == nil {
			text := d.bareText(run.from, run.to, max(0, left))
			left -= len(text)
			run.record = d.recordOf(run.from, run.to, text)
			run.record.isBare = true
		}
	}
}

// bareText returns the bare record of the messages of the view from start to end, some of which may be records, with
// lines in at most room bytes.
func (d *draft) bareText(start, end, room int) string {
	var texts []string
	if room == 0 {
		return record.Bare(d.unfoldedAt(end)-d.unfoldedAt(start), 0)
	}
	w := record.NewWriter(d.minifier.files)
	for i := start; i < end; {
		if r := d.recordAt(i); r != nil {
			texts = append(texts, joinedText(&r.message))
			i++
			continue
		}
		w.Reset(new(excerpt.Names))
		for ; i < end && d.recordAt(i) == nil; i++ {
			d.writeStep(w, d.unfoldedView(), d.unfoldedAt(i))
		}
		texts = append(texts, w.Write(0, 0))
	}
	return record.Bare(d.unfoldedAt(end)-d.unfoldedAt(start), room, texts...)
}
