package winnow

import (
	"maps"
	"slices"
)

// Records in the place of what they stand for.

// recordedRun is a run of messages of a view, and its record.
type recordedRun struct {
	from, to int
	record   *runRecord
}

// replayRecords puts the records that were sent in the place of what they stand for. The texts of the view are not
// edited yet. stays says that no record may stand for message i of it.
func (d *draft) replayRecords(stays func(i int) bool) {
	known := d.toReplay
	d.toReplay = nil
	if len(known) == 0 {
		return
	}
	v := d.view
	// The same text may stand in a history many times: a record stays where it was made. Elsewhere it stands only for
	// a run with results, whose ids tell it from others: the host may have dropped what was before it.
	place := make(map[int]int, len(v.index))
	for i := len(v.index) - 1; i >= 0; i-- {
		place[v.index[i]] = i
	}
	byPlace, byFirst := map[int][]*runRecord{}, map[key][]*runRecord{}
	for _, r := range known {
		if i, ok := place[r.first.Index]; ok && r.standsAt(v, i) {
			byPlace[i] = append(byPlace[i], r)
		} else {
			byFirst[r.first.Key] = append(byFirst[r.first.Key], r)
		}
	}
	used, lost := map[*runRecord]bool{}, map[*runRecord]bool{}
	var runs []recordedRun
	for i := 0; i < len(v.facts); i++ {
		var found *runRecord
		for _, r := range byPlace[i] {
			if found == nil || r.count > found.count { // of several the one that was written last
				found = r
			}
		}
		for _, r := range byFirst[v.facts[i].key] {
			isLonger := found == nil || r.count > found.count
			if isLonger && !used[r] && r.standsAt(v, i) && holdsResult(v.messages[i:i+r.count]) {
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
	// One without a place is remembered for a history that comes back to its run. One whose run is here and has to be
	// sent whole is not: sent whole once, it stays so.
	for _, r := range known {
		if !used[r] && !lost[r] {
			d.idle = append(d.idle, r)
		}
	}
	d.putRecords(runs)
}

func holdsResult(messages []Message) bool {
	return slices.ContainsFunc(messages, func(m Message) bool { return m.Role == RoleTool })
}

// putRecords puts records in the place of runs of the view, which are in their order and apart from each other.
func (d *draft) putRecords(runs []recordedRun) {
	if len(runs) == 0 || d.putInPlace(runs) {
		return
	}
	v := d.view
	// Kept from before the first record: a summary stands for messages of the history, not for records of them.
	if d.unfolded == nil {
		d.unfolded = &view{messages: v.unedited, unedited: v.unedited, facts: v.facts, index: v.index, at: v.at}
		d.origin, d.standing = make([]int, len(v.facts)), map[int]*runRecord{}
		for i := range d.origin {
			d.origin[i] = i
		}
	}
	length := len(v.facts)
	for _, run := range runs {
		length -= run.to - run.from - 1
	}
	next := newFoldedView(length)
	origin := make([]int, 0, len(v.facts))
	done := 0
	for _, run := range runs {
		next.add(v, done, run.from)
		origin = append(origin, d.origin[done:run.from]...)
		done = run.to
		for i := run.from; i < run.to; i++ {
			delete(d.standing, d.origin[i])
		}
		r := run.record
		if r.fact == nil {
			r.fact = d.ledger.index.fact(&r.message, d.opts.Estimator)
		}
		next.addMade(r.message, r.fact)
		origin = append(origin, d.origin[run.from])
		d.standing[d.origin[run.from]] = r
	}
	next.add(v, done, len(v.facts))
	d.origin = append(origin, d.origin[done:]...)
	next.sum()
	*v = *next
}

// putInPlace is putRecords where each record takes the place of one message, as a leaner one does. Else it is false,
// and nothing has happened.
func (d *draft) putInPlace(runs []recordedRun) bool {
	v := d.view
	isLonger := func(run recordedRun) bool { return run.to-run.from != 1 }
	if d.unfolded == nil || v.shared || slices.ContainsFunc(runs, isLonger) {
		return false
	}
	for _, run := range runs {
		i, r := run.from, run.record
		if r.fact == nil {
			r.fact = d.ledger.index.fact(&r.message, d.opts.Estimator)
		}
		v.messages[i], v.unedited[i], v.facts[i], v.tokens[i] = r.message, r.message, r.fact, r.fact.tokens
		v.index[i], v.at[i], v.edited[i] = -1, -1, nil
		d.standing[d.origin[i]] = r
	}
	v.sum()
	return true
}

// appendFolds appends the edits that say which messages are gone, and which records stand for them.
func (d *draft) appendFolds(edits []Edit) []Edit {
	v, u := d.view, d.unfolded
	for i := range v.facts {
		if !d.isRecord(i) {
			continue
		}
		from, to := d.wholeAt(i), d.wholeAt(i+1)
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

// countFolds returns how many edits appendFolds appends.
func (d *draft) countFolds() (n int) {
	for _, r := range d.standing {
		n += r.count + 1
	}
	return n
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

// newFoldedView returns an empty view with room for n messages.
func newFoldedView(n int) *view {
	return &view{
		messages: make([]Message, 0, n), unedited: make([]Message, 0, n), facts: make([]*fact, 0, n),
		tokens: make([]int, 0, n),
		index:  make([]int, 0, n), at: make([]int, 0, n), edited: make([]*projection, 0, n),
	}
}

// add appends the messages of another view from one position to another.
func (v *view) add(of *view, from, to int) {
	v.messages, v.unedited = append(v.messages, of.messages[from:to]...), append(v.unedited, of.unedited[from:to]...)
	v.facts, v.tokens = append(v.facts, of.facts[from:to]...), append(v.tokens, of.tokens[from:to]...)
	v.index, v.at = append(v.index, of.index[from:to]...), append(v.at, of.at[from:to]...)
	v.edited = append(v.edited, of.edited[from:to]...)
}

// addMade appends a message that the library made.
func (v *view) addMade(m Message, f *fact) {
	v.messages, v.unedited = append(v.messages, m), append(v.unedited, m)
	v.facts, v.tokens = append(v.facts, f), append(v.tokens, f.tokens)
	v.index, v.at, v.edited = append(v.index, -1), append(v.at, -1), append(v.edited, nil)
}

// whole returns the view without records, and with the texts of messages as they are in the history.
func (d *draft) whole() *view {
	if d.unfolded != nil {
		return d.unfolded
	}
	v := d.view
	return &view{messages: v.unedited, unedited: v.unedited, facts: v.facts, index: v.index, at: v.at}
}

// wholeAt is the position in whole of message i of the view, or of the first message that it is the record of; -1 for
// -1.
func (d *draft) wholeAt(i int) int {
	switch {
	case d.unfolded == nil || i < 0:
		return i
	case i >= len(d.origin):
		return len(d.unfolded.facts)
	}
	return d.origin[i]
}

// foldedAt is the position in the view of message i of whole, or of its record; -1 for -1.
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

// wholeTokens is what message i of the view, or what it is the record of, takes in the history.
func (d *draft) wholeTokens(i int) int {
	if d.unfolded == nil {
		return d.view.facts[i].tokens
	}
	return sumOf(d.unfolded.facts[d.wholeAt(i):d.wholeAt(i+1)])
}

// uneditedTokens is what the history costs without edits of its texts.
func (d *draft) uneditedTokens() int {
	return sumOf(d.whole().facts)
}

// answersIn is how many answers of the model message i of the view is, or is the record of.
func (d *draft) answersIn(i int) int {
	from, to := i, i+1
	u := d.view
	if d.unfolded != nil {
		u, from, to = d.unfolded, d.wholeAt(i), d.wholeAt(i+1)
	}
	return countAnswers(u.messages[from:to])
}

// recordsBehind returns the records that are remembered when a request with those of d was sent: these, and of those
// that found no place as many as mostGoneEdits has room for. The history was rewound, or is that of another branch, and
// may come back. One whose run is there and may not be left out is gone for good: what was sent whole since stays so.
func (l *ledger) recordsBehind(d *draft) []*runRecord {
	all := append(slices.Collect(maps.Values(d.standing)), withinRoom(d.idle)...)
	slices.SortFunc(all, compareRecords)
	return all
}

// withinRoom returns of records that found no place as many as mostGoneEdits has room for, always the same ones.
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

// watchRecorded has the messages looked at closely that the records of d stand for, once these are sent: nobody wants
// the record of a text that is not there any more.
func (l *ledger) watchRecorded(d *draft) {
	for first, r := range d.standing {
		for i := first; i < first+r.count; i++ {
			l.index.watch(d.history, d.unfolded.index[i])
		}
	}
}

// forgetRecords drops what there is no room for of the records before an open run of Recover, once their runs are gone.
func (l *ledger) forgetRecords(d *draft) {
	if l.attempt == nil {
		return
	}
	open := *l.attempt
	open.before.records = withoutGoneRecords(open.before.records, l.index.facts, d.whole().facts)
	l.attempt = &open
}

// withoutGoneRecords returns records, and of those whose runs begin in none of the lists no more than there is room
// for.
func withoutGoneRecords(records []*runRecord, lists ...[]*fact) []*runRecord {
	begins := map[key]bool{}
	for _, facts := range lists {
		for _, f := range facts {
			begins[f.key] = true
		}
	}
	// One whose run begins in a list may find its place again. The others are kept only as far as there is room.
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
