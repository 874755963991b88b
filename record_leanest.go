package winnow

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/record"
)

// Records of a history that is many times as long as the window: most of them are written in their leanest form at
// once.

// leanest has the leanest record of each run of a list, for runs that have no record yet. A history that is seen for
// the first time may be many times as long as the window. leanRecords would then remove lines until only the newest
// records have any, and those take no more tokens than all older records in their leanest form. To write the older ones
// with lines first would be most of the work.
type leanest struct {
	records   []*runRecord // of each part of the list; nil: the part is not a run
	older     []int        // for each part, the tokens of the leanest records in front of it
	newer     int          // tokens of the records with lines that are written so far, the newest first
	isReached bool         // no older record has lines
}

// leanestOf returns the leanest records of the runs of list. It returns nil if leanRecords may end for another reason:
// the request fits, or the records leave enough of the room.
func (d *draft) leanestOf(list []part) *leanest {
	if len(d.standing) > 0 || d.leastBeside(list) <= d.wholeRoom() {
		return nil
	}
	l := &leanest{make([]*runRecord, len(list)), make([]int, len(list)), 0, false}
	sum := 0
	for k, s := range list {
		if l.older[k] = sum; s.end > 0 {
			l.records[k] = d.newRecordOf(s.index, s.end, nil, record.Leanest)
			sum = count.Add(sum, l.records[k].fact.tokens)
		}
	}
	if sum <= count.Share(d.room(), recordsShare) {
		return nil
	}
	return l
}

// leastBeside returns a lower bound of the tokens that stay in the request beside the runs of list, whatever else is
// done: those of the messages that are not results and have no part in list.
func (d *draft) leastBeside(list []part) (sum int) {
	v, next := d.view, 0
	for i := range v.messages {
		for next < len(list) && max(list[next].index+1, list[next].end) <= i {
			next++
		}
		if isListed := next < len(list) && list[next].index <= i; !isListed && v.messages[i].Role != RoleTool {
			sum = count.Add(sum, v.tokens[i])
		}
	}
	return sum
}

// keeps reports whether r, the record of part k, keeps its lines. leanRecords takes them from the older half of all
// records, so keeps assumes that each record in front of r is the leanest, and looks whether r is in that half.
func (l *leanest) keeps(k int, r *runRecord) bool {
	newer := count.Add(l.newer, r.fact.tokens)
	if all := count.Add(l.older[k], newer); l.older[k] <= all/2 {
		l.isReached = true
		return false
	}
	l.newer = newer
	return true
}

// recordOf is writeRecord for part k of a list. lean has the leanest record of each run of the list. If lean is nil,
// the record gets its lines.
func (d *draft) recordOf(k int, s part, names *excerpt.Names, lean *leanest) (*runRecord, bool) {
	if lean == nil {
		return d.writeRecord(s, names)
	}
	if !lean.isReached {
		r, ok := d.writeRecord(s, names)
		if !ok || lean.keeps(k, r) {
			return r, ok
		}
	}
	r := lean.records[k]
	return r, isWorthIt(r.fact.tokens, count.Sum(d.view.tokens[s.index:s.end]))
}
