package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/record"
)

// What stays of a stale part: a record of a run of steps, or of one result what it reports, in a line or two; and the
// names in it that occur nowhere else. So the model still knows these names and what it can ask for again.

// drop replaces the stale parts of list by what stays of them, where that is worth an edit. It begins with the newest,
// because a name that several hold stays there.
func (d *draft) drop(list []part) {
	list = runsOf(list)
	if len(list) == 0 { // else everything that is kept would be read for its names in vain
		return
	}
	names := d.namesKept(list)
	var runs []recordedRun
	for _, p := range slices.Backward(list) {
		switch {
		case p.end > 0:
			if r, ok := d.writeRecord(p, names); ok {
				runs = append(runs, recordedRun{p.index, p.end, r})
			}
		case p.images:
			if out, after, ok := d.withoutImages(p.index); ok {
				d.project(p.index, out, after, OpClear, p.reason)
			}
		default:
			d.clearInPlace(p, names)
		}
	}
	slices.Reverse(runs)
	d.putNew(runs) // after the edits, because records change the positions of messages
	d.settleRepeats()
}

// clearInPlace leaves of result p what it reports, and the names in it that are not in names.
func (d *draft) clearInPlace(p part, names *excerpt.Names) {
	v := d.view
	m := &v.messages[p.index]
	out := *m
	if v.edited[p.index].isRepeat() {
		m, _ = d.beforeCut(p.index)
	}
	text := excerpt.Remainder(joinedText(m), excerpt.Room(v.tokens[p.index]), !p.isRead, names, d.recallNote(p.index))
	out.Parts, out.Source = []Part{{Text: text}}, nil
	if after := estimateWith(d.opts.Estimator, out); isWorthIt(after, v.tokens[p.index]) {
		d.project(p.index, out, after, OpClear, p.reason)
	}
}

// putNew puts records that were not sent before in the place of their runs in the view.
func (d *draft) putNew(runs []recordedRun) {
	if len(runs) == 0 {
		return
	}
	if d.why == "" {
		d.why = d.cause
	}
	d.unchangedPrefix = min(d.unchangedPrefix, runs[0].from)
	d.newRecords += len(runs)
	d.putRecords(runs)
}

// In the recorded sessions, what a request keeps has one name per 27 tokens. The set of names gets room for that many
// at first. The number is bounded because a host's own counts may be absurd.
const tokensPerName, mostExpectedNames = 27, 10_000

// namesKept returns the names in what the view keeps when the parts of list are dropped. Thinking counts only if every
// epoch keeps it.
func (d *draft) namesKept(list []part) *excerpt.Names {
	names := excerpt.NewNames(min(d.tokensKept(list)/tokensPerName, mostExpectedNames))
	keepsThinking := d.opts.Thinking == ThinkingKept
	next := 0
	for i := range d.view.messages {
		for next < len(list) && list[next].end > 0 && list[next].end <= i {
			next++
		}
		if next < len(list) && list[next].end > 0 && list[next].index <= i {
			continue // of a run
		}
		if next < len(list) && list[next].index == i {
			next++
			continue
		}
		for k := range d.view.messages[i].Parts {
			p := &d.view.messages[i].Parts[k]
			if keepsThinking || !isThinking(*p) {
				names.Add(p.Text)
			}
			names.Add(mem.String(p.Arguments))
		}
	}
	return names
}

// tokensKept estimates how many tokens the view keeps when the parts of list are dropped.
func (d *draft) tokensKept(list []part) int {
	kept := d.view.total
	for k := range list {
		switch p := &list[k]; {
		case p.end > 0:
			kept -= count.Sum(d.view.tokens[p.index:p.end])
		default:
			kept -= d.view.tokens[p.index]
		}
	}
	return max(0, kept)
}

// writeRecord returns the record of s, a run of steps. It returns false if the record saves too little. names are those
// that the request has elsewhere; those of the record are added.
func (d *draft) writeRecord(s part, names *excerpt.Names) (*runRecord, bool) {
	whole := d.whole()
	from, to := d.wholeAt(s.index), d.wholeAt(s.end)
	if d.writer == nil {
		d.writer = record.NewWriter(d.minifier.files)
	}
	d.writer.Reset(names)
	for i := from; i < to; i++ {
		d.writeStep(d.writer, whole, i)
	}
	r := d.recordOf(s.index, s.end, d.writer.Write(to-from, sumOf(whole.facts[from:to])))
	return r, isWorthIt(r.fact.tokens, count.Sum(d.view.tokens[s.index:s.end]))
}

// recordOf returns the record with text of the messages of the view from start to end.
func (d *draft) recordOf(start, end int, text string) *runRecord {
	whole, x := d.whole(), &d.ledger.index
	from := d.wholeAt(start)
	run, keys := d.keysOfRun(start, end)
	r := newRecord(&x.hasher, whole.position(from), len(keys), keys[len(keys)-1], run, text)
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

// bareRecords makes the older half of the records bare if all records together take more than share of the room. It
// returns false if there was nothing to make bare.
func (d *draft) bareRecords(share float64) bool {
	var sizes []record.Size
	for i := range d.view.facts {
		if r := d.recordAt(i); r != nil {
			sizes = append(sizes, record.Size{At: i, Tokens: d.view.tokens[i], IsBare: r.isBare})
		}
	}
	var runs []recordedRun
	for _, s := range record.Older(sizes, count.Share(d.room(), share)) {
		r := d.recordOf(s.From, s.To, record.Bare(d.wholeAt(s.To)-d.wholeAt(s.From)))
		r.isBare = true
		runs = append(runs, recordedRun{s.From, s.To, r})
	}
	d.putNew(runs)
	return len(runs) > 0
}
