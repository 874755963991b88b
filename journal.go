package winnow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/saved"
)

// journalFrom returns the journal of a ledger that was restored from a state and the deltas that were added to it.
func (l *ledger) journalFrom(deltas int) journal {
	return journal{
		deltas: deltas, sent: len(l.sent), edits: maps.Clone(l.projections), records: l.records,
		checkpoint: l.checkpoint,
	}
}

// journaled runs record, which makes a request what was sent last, and has Options.Journal write the delta. isRewrite
// says that record does more than to append what is new. An error is the journal's, and nothing was recorded then; nor
// was it if the journal panics.
func (m *Manager) journaled(isRewrite bool, record func()) error {
	if m.opts.Journal == nil {
		record()
		return nil
	}
	l := &m.ledger
	before := *l // a copy of the struct only: record may write to the maps and lists that both hold, see below
	// Where record only appends, it writes behind the end of what before holds, and nothing has to be copied.
	if isRewrite {
		l.sent, l.projections = slices.Clone(l.sent), maps.Clone(l.projections)
	}
	isWritten := false
	defer func() {
		if !isWritten {
			*l = before
			m.tail = requestTail{} // what record wrote to is of no use any more
		}
	}()
	record()
	text, next, err := l.delta(isRewrite)
	if err == nil {
		err = m.opts.Journal(text)
	}
	if err != nil {
		return fmt.Errorf("winnow: writing the journal: %w", err)
	}
	l.journal, isWritten = next, true
	return nil
}

// delta returns what changed since the last one, and the journal as it is once that is written. Edits are compared
// only where they may have changed.
func (l *ledger) delta(edits bool) ([]byte, journal, error) {
	j := l.journal
	d := saved.Delta{Snapshot: l.head(), From: min(j.sent, len(l.sent)), SameCheckpoint: j.checkpoint == l.checkpoint}
	j.deltas++
	d.Deltas, d.Sent = j.deltas, l.sent[d.From:]
	if d.SameCheckpoint { // it is the largest text of a snapshot, and most deltas change nothing of it
		d.Checkpoint = nil
	}
	if edits {
		compareEdits(&d, j.edits, l.projections)
		compareRecordLists(&d, j.records, l.records)
		j.edits, j.records = maps.Clone(l.projections), l.records
	}
	j.sent, j.checkpoint = len(l.sent), l.checkpoint
	text, err := json.Marshal(d)
	return text, j, err
}

// compareEdits tells the edits that are new, and those that are gone. Edits never change, so their addresses are
// compared.
func compareEdits(d *saved.Delta, written, now map[key]*projection) {
	changed := make(map[key]*projection)
	for k, p := range now {
		if written[k] != p {
			changed[k] = p
		}
	}
	d.Edits = savedEdits(changed)
	for k := range written {
		if now[k] == nil {
			d.Gone = append(d.Gone, k)
		}
	}
	// A map has no order, and the delta of the same change must have the same bytes.
	slices.SortFunc(d.Gone, place.Compare)
}

// compareRecordLists tells the records that are new, and those that are gone.
func compareRecordLists(d *saved.Delta, written, now []*runRecord) {
	before, after := setOf(written), setOf(now)
	gone := map[key]bool{} // runs may read the same: what goes by its run goes with its likes, which are told again
	for _, r := range written {
		if !after[r] && !gone[r.run] {
			gone[r.run] = true
			d.GoneRecords = append(d.GoneRecords, r.run)
		}
	}
	var added []*runRecord
	for _, r := range now {
		if !before[r] || gone[r.run] {
			added = append(added, r)
		}
	}
	d.Records = savedRecords(added)
}

func setOf(records []*runRecord) map[*runRecord]bool {
	set := make(map[*runRecord]bool, len(records))
	for _, r := range records {
		set[r] = true
	}
	return set
}
