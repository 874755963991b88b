package winnow

import (
	"maps"
	"slices"
)

// Records in the view, in the place of the runs that they stand for.

// recordedRun is a run of messages of a view, and its record.
type recordedRun struct {
	from, to int
	record   *runRecord
}

// replayRecords puts the records that were sent in the place of their runs. The texts of the view are not edited yet.
// stays reports whether message i of the view has to be sent whole.
func (d *draft) replayRecords(stays func(i int) bool) {
	known := d.toReplay
	d.toReplay = nil
	if len(known) == 0 {
		return
	}
	v := d.view
	// The same text may stand in a history many times, so a record stays where it was made. The host may have dropped
	// messages from before it; the run then stands elsewhere. There, a record stands only for a run with results,
	// because their ids distinguish it from other runs.
	find := v.finder(len(d.history))
	byPlace, byFirst := map[int][]*runRecord{}, map[key][]*runRecord{}
	for _, r := range known {
		if i := find(r.first.Index); i >= 0 && r.standsAt(v, i) {
			byPlace[i] = append(byPlace[i], r)
		} else {
			byFirst[r.first.Key] = append(byFirst[r.first.Key], r)
		}
	}
	isResult := func(m Message) bool { return returnsContent(&m) }
	used, lost := map[*runRecord]bool{}, map[*runRecord]bool{}
	var runs []recordedRun
	for i := 0; i < len(v.facts); i++ {
		var found *runRecord
		for _, r := range byPlace[i] {
			if found == nil || r.count > found.count { // the longest, which was written last
				found = r
			}
		}
		for _, r := range byFirst[v.facts[i].key] {
			isLonger := found == nil || r.count > found.count
			if isLonger && !used[r] && r.standsAt(v, i) && slices.ContainsFunc(v.messages[i:i+r.count], isResult) {
				found = r
			}
		}
		switch {
		case found == nil:
		case !found.maySend(v, i, stays):
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

// putRecords puts the record of each run in the place of that run in the view. The runs are in order and do not
// overlap.
func (d *draft) putRecords(runs []recordedRun) {
	if len(runs) == 0 {
		return
	}
	v := d.view
	// The view from before the first record is kept, because a summary stands for messages of the history and not for
	// records of them.
	if d.unfolded == nil {
		d.unfolded = d.unfoldedView()
		d.origin, d.standing = make([]int, len(v.facts)), map[int]*runRecord{}
		for i := range d.origin {
			d.origin[i] = i
		}
	}
	keep := slices.Repeat([]bool{true}, len(v.facts))
	for _, run := range runs {
		for i := run.from; i < run.to; i++ {
			delete(d.standing, d.origin[i])
			keep[i] = i == run.from
		}
	}
	v.keepOnly(keep)
	d.origin = kept(d.origin, keep)
	gone := 0
	for _, run := range runs {
		r, at := run.record, run.from-gone
		if r.fact == nil {
			r.fact = d.ledger.index.fact(&r.message, d.opts.Estimator)
		}
		v.replace(at, r.message, r.fact)
		d.standing[d.origin[at]] = r
		gone += run.to - run.from - 1
	}
}

// appendFolds appends the edits that say which messages are gone, and which records stand for them.
func (d *draft) appendFolds(edits []Edit) []Edit {
	v, u := d.view, d.unfolded
	if u != nil {
		edits = slices.Grow(edits, len(u.facts))
	}
	for i := range v.facts {
		if !d.isRecord(i) {
			continue
		}
		from, to := d.unfoldedAt(i), d.unfoldedAt(i+1)
		for k := from; k < to; k++ {
			edits = append(edits, Edit{
				Op: OpFold, Index: max(0, u.index[k]), ID: u.messages[k].ID, Before: max(1, u.facts[k].tokens),
				Reason: foldReason,
			})
		}
		edits = append(edits, Edit{Op: OpFold, Index: max(0, u.index[from]), After: max(1, v.tokens[i]),
			Reason: recordReason})
	}
	return edits
}

// isRecord reports whether message i of the view is a record.
func (d *draft) isRecord(i int) bool { return d.recordAt(i) != nil }

// recordAt returns the record that message i of the view is, or nil.
func (d *draft) recordAt(i int) *runRecord {
	if d.unfolded == nil {
		return nil
	}
	return d.standing[d.origin[i]]
}

// unfoldedView returns the view without records and without edits of texts.
func (d *draft) unfoldedView() *view {
	if d.unfolded != nil {
		return d.unfolded
	}
	v := d.view
	return &view{messages: v.unedited, unedited: v.unedited, facts: v.facts, index: v.index, at: v.at}
}

// unfoldedAt returns the position in unfoldedView of message i of the view. If that is a record, it is the position of
// the first message of its run. For -1 it returns -1.
func (d *draft) unfoldedAt(i int) int {
	switch {
	case d.unfolded == nil || i < 0:
		return i
	case i >= len(d.origin):
		return len(d.unfolded.facts)
	}
	return d.origin[i]
}

// foldedAt returns the position in the view of message i of unfoldedView, or of the record that stands for it. For -1
// it returns -1.
func (d *draft) foldedAt(i int) int {
	if d.unfolded == nil || i < 0 {
		return i
	}
	k, found := slices.BinarySearch(d.origin, i)
	if !found {
		k--
	}
	return k
}

// uneditedTokens returns the tokens of the history without records and without edits of texts.
func (d *draft) uneditedTokens() int {
	return sumOf(d.unfoldedView().facts)
}

// recordsBehind returns the records to remember once the request of d was sent. They are the records in that request
// and, of those that found no place, as many as mostGoneEdits has room for. The latter are of a history that was
// rewound, or of another branch, and the host may go back to it. A record whose run is there and may not be left out is
// gone for good: a run that was sent whole stays whole.
func (l *ledger) recordsBehind(d *draft) []*runRecord {
	all := append(slices.Collect(maps.Values(d.standing)), withinRoom(d.idle)...)
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

// withoutGoneRecords returns records. Of those whose runs begin in none of the lists, it returns only as many as there
// is room for.
func withoutGoneRecords(records []*runRecord, lists ...[]*fact) []*runRecord {
	begins := map[key]bool{}
	for _, facts := range lists {
		for _, f := range facts {
			begins[f.key] = true
		}
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
