package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/rewrite"
)

// Small records beside each other become one record, which has one frame and says each path and name once.

const (
	// mergeRatio bounds the work. A record is written again only together with newer ones that take at least half of
	// its tokens. So each message is read for a record only a few times, however long the conversation goes on.
	mergeRatio = 2
	// mostMerged is the share of the room that a merged record may take. Larger ones stay apart, so that half of the
	// records can become leaner.
	mostMerged = recordsShare / 4
)

// mergeRecords joins neighbours among the records from message `from` of the view on. What stands there is written to
// the prompt cache in any case.
func (d *draft) mergeRecords(from int) {
	v := d.view
	var list []rewrite.Part
	for end := len(v.facts); end > from; {
		if !d.isMergeable(end - 1) {
			end--
			continue
		}
		start, sum := end-1, v.tokens[end-1]
		for start > from && d.isMergeable(start-1) && d.mayJoin(v.tokens[start-1], sum) {
			start--
			sum = count.Add(sum, v.tokens[start])
		}
		if end-start > 1 {
			list = append(list, rewrite.Part{Index: start, End: end, Saving: sum})
		}
		end = start
	}
	if len(list) == 0 {
		return
	}
	slices.Reverse(list)
	names := d.namesKept(list, nil)
	var runs []recordedRun
	for _, p := range slices.Backward(list) {
		if r := d.newRecordOf(p.Index, p.End, names, 0); r.fact.tokens < p.Saving {
			runs = append(runs, recordedRun{p.Index, p.End, r})
		}
	}
	slices.Reverse(runs)
	d.putNew(runs)
}

// isMergeable reports whether message i is a record that was not made leaner.
func (d *draft) isMergeable(i int) bool {
	r := d.recordAt(i)
	return r != nil && r.lean == 0
}

// mayJoin reports whether a record that takes `tokens` may become one with newer records that together take `newer`.
func (d *draft) mayJoin(tokens, newer int) bool {
	return tokens/mergeRatio <= newer && count.Add(tokens, newer) <= count.Share(d.room(), mostMerged)
}
