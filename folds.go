package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/record"
)

// Records in a request, in the place of the runs that they stand for.

// recordedRun is a run of messages of a request, and its record.
type recordedRun struct {
	from, to int
	record   *runRecord
}

// replayRecords puts the records that were sent in the place of their runs, before texts are edited. stays reports
// whether message i has to be sent whole.
func (d *draft) replayRecords(stays func(i int) bool) {
	known := d.toReplay
	d.toReplay = nil
	if len(known) == 0 {
		return
	}
	// The same text may stand in a history many times, so a record stays where it was made. The host may have dropped
	// messages from before it; the run then stands elsewhere. There, a record stands only for a run with results,
	// because their ids distinguish it from other runs.
	byPlace, byFirst := map[int][]*runRecord{}, map[key][]*runRecord{}
	at := d.byIndex()
	for _, r := range known {
		if i := r.first.Index; i >= 0 && i < len(at) && at[i] > 0 && r.standsFor(d.items[at[i]-1:]) {
			byPlace[int(at[i]-1)] = append(byPlace[int(at[i]-1)], r)
		} else {
			byFirst[r.first.Key] = append(byFirst[r.first.Key], r)
		}
	}
	isResult := func(x *item) bool { return returnsContent(x.own) }
	used, lost := map[*runRecord]bool{}, map[*runRecord]bool{}
	var runs []recordedRun
	for i := 0; i < len(d.items); i++ {
		var found *runRecord
		for _, r := range byPlace[i] {
			if found == nil || r.count > found.count { // the longest, which was written last
				found = r
			}
		}
		for _, r := range byFirst[d.items[i].fact.key] {
			isLonger := found == nil || r.count > found.count
			if isLonger && !used[r] && r.standsFor(d.items[i:]) && slices.ContainsFunc(d.items[i:i+r.count], isResult) {
				found = r
			}
		}
		switch {
		case found == nil:
		case !d.maySend(found, i, stays):
			lost[found] = true
		default:
			used[found] = true
			runs = append(runs, recordedRun{i, i + found.count, found})
			i += found.count - 1
		}
	}
	// A record without a place is remembered, because the history may come back to its run. A record whose run is here
	// and has to be sent whole is not: a run that was sent whole once stays whole.
	for _, r := range known {
		if !used[r] && !lost[r] {
			d.idle = append(d.idle, r)
		}
	}
	d.putRecords(runs)
}

// byIndex returns, by index in the history, one more than the position of the first message with that index; 0: there
// is none.
func (d *draft) byIndex() []int32 {
	at := make([]int32, len(d.history))
	for i, x := range slices.Backward(d.items) {
		if x.index >= 0 {
			at[x.index] = int32(i + 1)
		}
	}
	return at
}

// maySend reports whether r may still be sent for its run, which begins at message i. It may not if the run is the end
// of the request, or has a pin or a message for which stays returns true. This can change: a history that was rewound
// ends elsewhere, and a host may set a pin later.
func (d *draft) maySend(r *runRecord, i int, stays func(i int) bool) bool {
	end := i + r.count
	for k := i; k < end; k++ {
		if d.items[k].own.Pinned || stays(k) {
			return false
		}
	}
	return end < len(d.items)
}

// putRecords puts the record of each run in the place of that run. The runs are in order and do not overlap. A record
// stands for the messages of the history, and not for the records in its run.
func (d *draft) putRecords(runs []recordedRun) {
	if len(runs) == 0 {
		return
	}
	gone := 0
	for _, run := range runs {
		gone += run.to - run.from - 1
	}
	items, next := make([]*item, 0, len(d.items)-gone), 0
	for _, run := range runs {
		r := run.record
		if r.fact == nil {
			r.fact = d.index.fact(&r.message, d.opts.Estimator)
		}
		x := madeItem(&r.message, r.fact)
		x.record = &folded{r, unfolded(d.items[run.from:run.to])}
		for _, m := range x.record.stands {
			m.in = x
		}
		items = append(append(items, d.items[next:run.from]...), x)
		next = run.to
	}
	d.setItems(append(items, d.items[next:]...))
}

// appendFolds appends the edits that say which messages are gone, and which records stand for them.
func (d *draft) appendFolds(edits []Edit) []Edit {
	for _, x := range d.items {
		if x.record == nil {
			continue
		}
		edits = slices.Grow(edits, len(x.record.stands)+1)
		for _, m := range x.record.stands {
			edits = append(edits, Edit{
				Op: OpFold, Index: max(0, m.index), ID: m.own.ID, Before: max(1, m.fact.tokens), Reason: foldReason,
			})
		}
		edits = append(edits, Edit{
			Op: OpFold, Index: max(0, x.record.stands[0].index), After: max(1, x.tokens()), Reason: recordReason,
		})
	}
	return edits
}

// recordsBehind returns the records to remember once the request of d was sent. They are the records in that request
// and, of those that found no place, as many as mostGoneEdits has room for. The latter are of a history that was
// rewound, or of another branch, and the host may go back to it. A record whose run is there and may not be left out is
// gone for good: a run that was sent whole stays whole.
func (d *draft) recordsBehind() []*runRecord {
	all := slices.Clip(withinRoom(d.idle))
	for _, x := range d.items {
		if x.record != nil {
			all = append(all, x.record.runRecord)
		}
	}
	slices.SortFunc(all, compareRecords)
	return all
}

// withinRoom returns as many of the idle records as mostGoneEdits has room for, always the same ones. It sorts idle.
func withinRoom(idle []*runRecord) []*runRecord {
	slices.SortFunc(idle, compareRecords)
	room := mostGoneEdits
	for k, r := range idle {
		if room -= r.size(); room < 0 {
			return idle[:k]
		}
	}
	return idle
}

// withoutGoneRecords returns records. Of those whose runs begin nowhere among d's messages, it returns only as many as
// there is room for.
func (d *draft) withoutGoneRecords(records []*runRecord) []*runRecord {
	begins := map[key]bool{}
	for f := range d.eachFact() {
		begins[f.key] = true
	}
	// A record whose run begins in a list may find its place again. The others are kept only as far as there is room.
	var kept, idle []*runRecord
	for _, r := range records {
		if begins[r.first.Key] {
			kept = append(kept, r)
		} else {
			idle = append(idle, r)
		}
	}
	kept = append(kept, withinRoom(idle)...)
	slices.SortFunc(kept, compareRecords)
	return kept
}

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
		if x.own.Role != RoleAssistant {
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
