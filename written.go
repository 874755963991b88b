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

// putNew puts records that were not sent before in the place of their runs. A run without one gets a bare
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
	run := unfolded(d.items[start:end])
	w.Reset(names)
	d.writeSteps(w, run)
	return d.recordOf(run, w.Write(len(run), historyTokens(run)))
}

// withBareAround returns run with the bare records of the request that stand beside it.
func (d *draft) withBareAround(run recordedRun) recordedRun {
	for run.from > 0 && d.items[run.from-1].isBare() {
		run.from--
	}
	for run.to < len(d.items) && d.items[run.to].isBare() {
		run.to++
	}
	return run
}

// recordOf returns the record with text of the messages of run.
func (d *draft) recordOf(run []*item, text string) *runRecord {
	x, keys := d.index, keysOf(run)
	r := newRecord(&x.hasher, run[0].position(), len(keys), keys[len(keys)-1], place.Of(keys), text)
	r.keys = keys
	r.fact = x.factBy(r.key, &r.message, d.opts.Estimator)
	return r
}

// writeSteps tells w of the messages of run.
func (d *draft) writeSteps(w *record.Writer, run []*item) {
	for i, x := range run {
		note := ""
		if x.own.Role != RoleAssistant && x.fact.tokens >= leastStale { // a shorter text is mostly whole in its line
			note = d.recallNoteIn(run, i)
		}
		d.writeMessage(w, x, note)
	}
}

// writeMessage tells w of x. note says how to recall it.
func (d *draft) writeMessage(w *record.Writer, x *item, note string) {
	m := x.own
	switch m.Role {
	case RoleTool:
		if isMissingResult(m) {
			w.Lost(m.ToolCallID)
		} else {
			w.Returned(m.ToolCallID, textAndImages(m), note, m.IsError, x.fact.redundant&minify.Escapes != 0)
		}
		return
	case RoleUser:
		if len(m.InForce) > 0 || d.inForceNow().again[x] { // what is in force is in no record
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
	for _, x := range d.items {
		if x.isBare() {
			left -= len(joinedText(x.own))
		}
	}
	for k := range slices.Backward(runs) {
		if run := &runs[k]; run.record == nil {
			text := d.bareText(d.items[run.from:run.to], max(0, left))
			left -= len(text)
			run.record = d.recordOf(unfolded(d.items[run.from:run.to]), text)
			run.record.isBare = true
		}
	}
}

// bareText returns the bare record of items, some of which may be records, with lines in at most room bytes.
func (d *draft) bareText(items []*item, room int) string {
	n := len(unfolded(items))
	if room == 0 {
		return record.Bare(n, 0)
	}
	var texts []string
	w := record.NewWriter(d.minifier.files)
	for i := 0; i < len(items); {
		if items[i].record != nil {
			texts = append(texts, joinedText(items[i].own))
			i++
			continue
		}
		from := i
		for i < len(items) && items[i].record == nil {
			i++
		}
		w.Reset(new(excerpt.Names))
		d.writeSteps(w, items[from:i])
		texts = append(texts, w.Write(0, 0))
	}
	return record.Bare(n, room, texts...)
}
