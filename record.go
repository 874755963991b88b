package winnow

import (
	"cmp"
	"encoding/base64"
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/record"
	"github.com/winnowgo/winnow/internal/saved"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// A record stands for a run of old messages: answers of the model, its calls and their results, and texts that the host
// inserted. Code writes it, and no model. It is sent with the same bytes as long as the prompt cache has them. Later
// records stand behind it, so that the cache is read.

// runRecord is a record and what it stands for. The record itself never changes. If it comes from a snapshot, keys and
// fact are set later.
type runRecord struct {
	saved.Record
	message Message // with its Text: sent in the place of the run
	key     key     // of message
	keys    []key   // of the run; nil: not known yet
	fact    *fact   // of message; nil: not known yet
}

// The reasons in edits: for messages that are gone, and for the record in their place.
const (
	foldReason   = "an old step: a record stands for it"
	recordReason = "the record of old steps"
)

// recordsShare is the share of the room above which the older half of the records becomes bare. Hardly any recorded
// session reaches it. It is for conversations that go on for days.
const recordsShare = 0.3

func newRecord(h *hasher, s saved.Record) *runRecord {
	r := &runRecord{Record: s}
	r.message = Message{Role: RoleUser, Injected: true, Parts: []Part{{Text: string(s.Text)}}}
	r.key = h.key(&r.message)
	return r
}

// size estimates how many bytes r takes in a snapshot.
func (r *runRecord) size() int {
	return savedEditBytes + base64.StdEncoding.EncodedLen(len(r.Text))
}

// begins reports whether items begin with the run of r.
func (r *runRecord) begins(items []*item) bool {
	if r.Count > len(items) || items[r.Count-1].fact.key != r.Last {
		return false
	}
	items = items[:r.Count]
	if r.keys != nil {
		for k, x := range items {
			if x.fact.key != r.keys[k] {
				return false
			}
		}
		return true
	}
	keys := keysOf(items)
	if place.Of(keys) != r.Run {
		return false
	}
	r.keys = keys
	return true
}

// mayFoldInjected reports whether m is a text that the host inserted and that a record may stand for once the host lets
// it go. The host pins what must stay.
func mayFoldInjected(m *Message) bool {
	stays := m.Pinned || m.Summary || record.Is(joinedText(m))
	return m.Injected && holdsOnlyText(m) && !stays
}

// folds are the records that the draft was begun with, those of them that found no place, and how many were made anew.
type folds struct {
	toReplay []*runRecord // that were sent; nil once they are replayed
	idle     []*runRecord // that found no place in this history

	newRecords int // how many records were not sent before
}

// compareRecords orders records, in the same way in each process.
func compareRecords(a, b *runRecord) int {
	return cmp.Or(cmp.Compare(a.First.Index, b.First.Index), cmp.Compare(a.Count, b.Count),
		place.Compare(a.Run, b.Run), place.Compare(a.key, b.key))
}

// recordedRun is a run of messages in a request and the record that takes its place.
type recordedRun struct {
	from, to int
	record   *runRecord // nil: a bare one is still to be written
}

// recordsBehind returns the records to remember once a request with these items was sent. They are the records among
// the items and, of those that found no place, as many as mostGoneEdits has room for, always the same ones. The latter
// are of a history that was rewound, or of another branch, and the host may go back to it. A record whose run is there
// and may not be left out is gone for good: a run that was sent whole stays whole. It sorts f.idle.
func (f *folds) recordsBehind(items []*item) []*runRecord {
	slices.SortFunc(f.idle, compareRecords)
	var all []*runRecord
	room := mostGoneEdits
	for _, r := range f.idle {
		if room -= r.size(); room < 0 {
			break
		}
		all = append(all, r)
	}
	for _, x := range items {
		if x.record != nil {
			all = append(all, x.record.runRecord)
		}
	}
	slices.SortFunc(all, compareRecords)
	return all
}

// How a record is written, and what is left of it once it is bare.

// leastStale is the number of tokens below which a part is not worth an edit.
const leastStale = 100

// bareShare is the share of the room that bare records may take, for what failed and what was made.
const bareShare = 0.03

// folding writes new records into a draft.
type folding struct{ shortening }

// putNew puts records that were not sent before in the place of their runs. A run without one gets a bare
// record. Neighbours that are bare become one, because each of them would say the same.
func (f folding) putNew(news []recordedRun) {
	if len(news) == 0 {
		return
	}
	var runs []recordedRun
	for _, run := range news {
		if k := len(runs) - 1; run.record != nil {
			runs = append(runs, run)
		} else if run = f.withBareAround(run); k >= 0 && runs[k].record == nil && runs[k].to >= run.from {
			runs[k].to = run.to
		} else {
			runs = append(runs, run)
		}
	}
	f.makeBare(runs)
	f.firstWhy = cmp.Or(f.firstWhy, f.why)
	f.unchangedPrefix = min(f.unchangedPrefix, runs[0].from)
	f.newRecords += len(runs)
	f.putRecords(runs)
}

// writeRecord returns the record of the steps from start to end. names are those that the request has elsewhere; those
// of the record are added.
func (f folding) writeRecord(w *record.Writer, start, end int, names *excerpt.Names) *runRecord {
	run := unfolded(f.items[start:end])
	w.Reset(names)
	f.writeSteps(w, run)
	return f.recordOf(run, w.Write(len(run), historyTokens(run)))
}

// withBareAround returns run with the bare records of the request that stand beside it.
func (f folding) withBareAround(run recordedRun) recordedRun {
	for run.from > 0 && f.items[run.from-1].isBare() {
		run.from--
	}
	for run.to < len(f.items) && f.items[run.to].isBare() {
		run.to++
	}
	return run
}

// recordOf returns the record with text of the messages of run.
func (f folding) recordOf(run []*item, text string) *runRecord {
	x, keys := f.index, keysOf(run)
	r := newRecord(&x.hasher, saved.Record{
		First: run[0].position(), Count: len(keys), Last: keys[len(keys)-1], Run: place.Of(keys),
		Text: saved.Text(text),
	})
	r.keys = keys
	r.fact = x.factBy(r.key, &r.message, f.opts.Estimator)
	return r
}

func (f folding) writeSteps(w *record.Writer, run []*item) {
	for i, x := range run {
		note := ""
		if x.own.Role != RoleAssistant {
			note = f.recallNoteIn(run, i)
		}
		f.writeMessage(w, x, note)
	}
}

// writeMessage tells w of x. note says how to recall it.
func (f folding) writeMessage(w *record.Writer, x *item, note string) {
	m := x.own
	switch m.Role {
	case RoleTool:
		f.writeResult(w, x, note)
		return
	case RoleUser:
		switch {
		case f.inForceNow().restated[x]: // the same text stands behind it
		case len(m.InForce) > 0: // what is in force is in no record
			w.Replaced(joinedText(m), note)
		default:
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

// writeResult tells w of x, a result, and of what the agent's host reports behind it.
func (f folding) writeResult(w *record.Writer, x *item, note string) {
	m, shown := x.own, ""
	if isMissingResult(m) {
		w.Lost(m.ToolCallID)
		return
	}
	if f.opts.RecallImages { // behind an image that comes back: the line of a short result has no other note
		shown = note
	}
	text, reminders := toolcall.Reminders(textAndImages(m, shown))
	w.Returned(m.ToolCallID, text, note, m.IsError, x.fact.redundant&minify.Escapes != 0)
	for _, text := range reminders {
		w.Reported(text, note)
	}
}

// textAndImages returns the text of m, with a line for each of its images. note stands in these.
func textAndImages(m *Message, note string) string {
	if !hasImage(m) {
		return joinedText(m)
	}
	out := Message{Parts: partsWithoutImages(m, func(p *Part) string { return describeImage(p) + note + "]" }, -1)}
	return joinedText(&out)
}

// bareRecords makes the older half of the records bare if those that still have lines take more than `share` of the
// room. It returns false if there was nothing to make bare.
func (f folding) bareRecords(share float64) bool {
	var runs []recordedRun
	all, half := 0, 0
	for i, x := range f.items {
		if x.record != nil && !x.isBare() {
			runs, all = append(runs, recordedRun{from: i, to: i + 1}), count.Add(all, x.tokens())
		}
	}
	if all <= count.Share(f.room(), share) {
		return false
	}
	n := 0
	for ; n < len(runs) && half <= all/2; n++ {
		half = count.Add(half, f.items[runs[n].from].tokens())
	}
	f.putNew(runs[:n])
	return n > 0
}

// makeBare gives the runs without a record a bare one. The newest have lines first.
func (f folding) makeBare(runs []recordedRun) {
	left := count.Share(4*f.room(), bareShare) // bytes
	for _, x := range f.items {
		if x.isBare() {
			left -= len(joinedText(x.own))
		}
	}
	for k := range slices.Backward(runs) {
		if run := &runs[k]; run.record == nil {
			text := f.bareText(f.items[run.from:run.to], max(0, left))
			left -= len(text)
			run.record = f.recordOf(unfolded(f.items[run.from:run.to]), text)
			run.record.Bare = true
		}
	}
}

// bareText returns the bare record of items, some of which may be records, with lines in at most room bytes.
func (f folding) bareText(items []*item, room int) string {
	n := len(unfolded(items))
	if room == 0 {
		return record.Bare(n, 0)
	}
	var texts []string
	w := record.NewWriter(f.minifier.files)
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
		f.writeSteps(w, items[from:i])
		texts = append(texts, w.Write(0, 0))
	}
	return record.Bare(n, room, texts...)
}
