package winnow

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/record"
	"github.com/winnowgo/winnow/internal/rewrite"
)

// Records that became many: the older ones get leaner.

// recordsShare is the share of the room above which records become leaner, the older half of them at a time. Of the
// recorded sessions hardly any gets there; it is for conversations that go on for days.
const recordsShare = 0.3

// leanRecords makes the older half of the records leaner where records take more than a share of the room. It is false
// if nothing became smaller.
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
	var runs []recordedRun
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
		if r, ok := d.leaner(from, i, lean+1); ok {
			runs = append(runs, recordedRun{from, i, r})
		}
	}
	d.putNew(runs)
	return len(runs) > 0
}

// isSameFrame reports whether record i has nothing left but its frame, and so has one that is so lean: beside each
// other they would say the same twice.
func (d *draft) isSameFrame(i, lean int) bool {
	return lean >= record.Leanest && d.recordAt(i).lean >= record.Leanest
}

// leaner returns one record, so lean, for what the records of the view from one position to another stand for. It is
// false if that is not worth it.
func (d *draft) leaner(from, to, lean int) (*runRecord, bool) {
	if to-from == 1 && d.recordAt(from).lean >= record.Leanest {
		return nil, false // it is nothing but its frame
	}
	var names *excerpt.Names
	if lean < record.Leanest {
		names = d.namesKept([]rewrite.Part{{Index: from, End: to}}, nil)
	}
	r := d.newRecordOf(from, to, names, lean)
	return r, isWorthIt(r.fact.tokens, count.Sum(d.view.tokens[from:to]))
}
