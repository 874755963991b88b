package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/record"
)

// Records that are written anew: where they take too much of the room, the older ones become leaner, and small ones
// beside each other become one, which has one frame and says each path and name once.

// leanRecords makes the older half of the records leaner if all records together take more than share of the room. It
// returns false if nothing became smaller.
func (d *draft) leanRecords(share float64) bool {
	runs := d.leaner(record.Older(d.recordSizes(), count.Share(d.room(), share)), share == 0)
	d.putNew(runs)
	return len(runs) > 0
}

// recordSizes returns the sizes of the records in the view.
func (d *draft) recordSizes() []record.Size {
	sizes := make([]record.Size, 0, len(d.standing))
	for i := range d.view.facts {
		if r := d.recordAt(i); r != nil {
			sizes = append(sizes, record.Size{At: i, Tokens: d.view.tokens[i], Lean: r.lean})
		}
	}
	return sizes
}

// leaner returns a leaner record for each run of list, without those that save too little. A name that several hold
// stays in the newest. With mustFit, the request does not fit otherwise.
func (d *draft) leaner(list []record.Run, mustFit bool) (runs []recordedRun) {
	var names *excerpt.Names
	for _, s := range slices.Backward(list) {
		var named *excerpt.Names
		if s.Lean < record.Leanest {
			if names == nil { // what is kept is read once, and only if a record has names
				names = d.namesBeside(list)
			}
			named = names
		}
		if r, ok := d.leanerRecord(s, named, mustFit); ok {
			runs = append(runs, recordedRun{s.From, s.To, r})
		}
	}
	slices.Reverse(runs)
	return runs
}

// leanerRecord returns a leaner record for s, or false if it saves too little. With mustFit, it loses its names if too
// little is saved otherwise, and then its lines: unchanged, it would keep the older half from ever getting smaller.
func (d *draft) leanerRecord(s record.Run, names *excerpt.Names, mustFit bool) (*runRecord, bool) {
	r := d.newRecordOf(s.From, s.To, names, s.Lean)
	saves := func() bool { return isWorthIt(r.fact.tokens, s.Tokens) }
	if mustFit && names != nil && !saves() {
		r = d.newRecordOf(s.From, s.To, nil, s.Lean)
	}
	if mustFit && s.Lean < record.Leanest && !saves() {
		r = d.newRecordOf(s.From, s.To, nil, record.Leanest)
	}
	return r, saves()
}

// namesBeside returns the names in the messages of the view that are in no run of list.
func (d *draft) namesBeside(list []record.Run) *excerpt.Names {
	parts := make([]part, len(list))
	for k, s := range list {
		parts[k] = part{index: s.From, end: s.To}
	}
	return d.namesKept(parts)
}

// mostMerged is the share of the room that a merged record may take. Larger records stay separate, so that the older
// half of the records can become leaner without the newer half.
const mostMerged = recordsShare / 4

// mergeRecords joins neighbours among the records.
func (d *draft) mergeRecords() {
	list := record.Small(d.recordSizes(), count.Share(d.room(), mostMerged))
	if len(list) == 0 {
		return
	}
	names := d.namesBeside(list)
	var runs []recordedRun
	for _, s := range slices.Backward(list) {
		if r := d.newRecordOf(s.From, s.To, names, 0); r.fact.tokens < s.Tokens {
			runs = append(runs, recordedRun{s.From, s.To, r})
		}
	}
	slices.Reverse(runs)
	d.putNew(runs)
}
