package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/record"
)

// Small records beside each other become one record, which has one frame and says each path and name once.

// mostMerged is the share of the room that a merged record may take. Larger ones stay apart, so that half of the
// records can become leaner.
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
