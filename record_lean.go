package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/record"
	"github.com/winnowgo/winnow/internal/rewrite"
)

// When records take too much of the room, the older ones become leaner.

// leanRecords makes the older half of the records leaner if all records together take more than share of the room. It
// returns false if nothing became smaller.
func (d *draft) leanRecords(share float64) bool {
	v := d.view
	all := 0
	for i := range v.facts {
		if d.isRecord(i) {
			all = count.Add(all, v.tokens[i])
		}
	}
	if all == 0 || all <= count.Share(d.room(), share) {
		return false
	}
	var list []leanRun
	half := 0
	for i := 0; i < len(v.facts) && half <= all/2; i++ {
		if !d.isRecord(i) {
			continue
		}
		from, lean := i, 0
		for i < len(v.facts) && d.isRecord(i) && (half <= all/2 || d.isSameFrame(i, lean+1)) {
			half, lean = count.Add(half, v.tokens[i]), max(lean, d.recordAt(i).lean)
			i++
		}
		if i-from > 1 || lean < record.Leanest { // else nothing of it is left but its frame
			list = append(list, leanRun{from, i, lean + 1})
		}
	}
	runs := d.leaner(list, share == 0)
	d.putNew(runs)
	return len(runs) > 0
}

// leanRun is a run of records of the view that become one record, and how lean that record is.
type leanRun struct{ from, to, lean int }

// leaner returns a leaner record for each run of list, without those that save too little. A name that several hold
// stays in the newest. With mustFit, the request does not fit otherwise.
func (d *draft) leaner(list []leanRun, mustFit bool) (runs []recordedRun) {
	var names *excerpt.Names
	for _, s := range slices.Backward(list) {
		var named *excerpt.Names
		if s.lean < record.Leanest {
			if names == nil { // what is kept is read once, and only if a record has names
				names = d.namesBeside(list)
			}
			named = names
		}
		if r, ok := d.leanerRecord(s, named, mustFit); ok {
			runs = append(runs, recordedRun{s.from, s.to, r})
		}
	}
	slices.Reverse(runs)
	return runs
}

// leanerRecord returns a leaner record for s, or false if it saves too little. With mustFit its names go where they
// leave too little to save, and then its lines: as it is, it would keep the older half from ever getting smaller.
func (d *draft) leanerRecord(s leanRun, names *excerpt.Names, mustFit bool) (*runRecord, bool) {
	before := count.Sum(d.view.tokens[s.from:s.to])
	r := d.newRecordOf(s.from, s.to, names, s.lean)
	saves := func() bool { return isWorthIt(r.fact.tokens, before) }
	if mustFit && names != nil && !saves() {
		r = d.newRecordOf(s.from, s.to, nil, s.lean)
	}
	if mustFit && s.lean < record.Leanest && !saves() {
		r = d.newRecordOf(s.from, s.to, nil, record.Leanest)
	}
	return r, saves()
}

// namesBeside returns the names in the messages of the view that are in no run of list.
func (d *draft) namesBeside(list []leanRun) *excerpt.Names {
	parts := make([]rewrite.Part, len(list))
	for k, s := range list {
		parts[k] = rewrite.Part{Index: s.from, End: s.to}
	}
	return d.namesKept(parts, nil)
}

// isSameFrame reports whether record i has nothing left but its frame, and whether the same is true of a record that
// was made leaner `lean` times. Beside each other, the two would say the same twice.
func (d *draft) isSameFrame(i, lean int) bool {
	return lean >= record.Leanest && d.recordAt(i).lean >= record.Leanest
}
