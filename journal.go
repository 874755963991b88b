package winnow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/saved"
)

// journalFrom returns the journal of l once l was restored from a snapshot and the number of deltas that followed it.
func (l *ledger) journalFrom(deltas int) journal {
	return journal{
		deltas: deltas, sent: len(l.sent), edits: maps.Clone(l.projections), records: l.records,
		checkpoint: l.checkpoint, names: l.newestNames(),
	}
}

// journaled runs record, which notes a request as the last one sent, and passes the delta to Options.Journal. If
// journaled returns an error, or if the journal panics, nothing was recorded.
func (m *Manager) journaled(record func()) error {
	if m.opts.Journal == nil {
		record()
		return nil
	}
	l := &m.ledger
	before := *l // copies the struct only: before and l share their maps and lists, to which record may write
	l.sent, l.projections = slices.Clone(l.sent), maps.Clone(l.projections)
	isWritten := false
	defer func() {
		if !isWritten {
			*l = before
		}
	}()
	record()
	text, next, err := l.delta()
	if err == nil {
		err = m.opts.Journal(text)
	}
	if err != nil {
		return fmt.Errorf("winnow: writing the journal: %w", err)
	}
	l.journal, isWritten = next, true
	return nil
}

// delta returns what changed in l since the last delta, and the journal as it will be once that is written.
func (l *ledger) delta() ([]byte, journal, error) {
	j := l.journal
	d := saved.Delta{Snapshot: l.head(), From: min(j.sent, len(l.sent)), SameCheckpoint: j.checkpoint == l.checkpoint}
	j.deltas++
	d.Deltas, d.Sent = j.deltas, l.sent[d.From:]
	if d.SameCheckpoint { // the largest text of a snapshot, which most deltas do not change
		d.Checkpoint = nil
	}
	if n := l.newestNames(); n != j.names {
		d.Names, j.names = savedNames([]*givenNames{n}), n
	}
	if j.isUnknown {
		d.Whole, d.Names, j.isUnknown = true, savedNames(l.names), false
	}
	compareEdits(&d, j.edits, l.projections)
	compareRecordLists(&d, j.records, l.records)
	j.edits, j.records = maps.Clone(l.projections), l.records
	j.sent, j.checkpoint = len(l.sent), l.checkpoint
	text, err := json.Marshal(d)
	return text, j, err
}

// compareEdits adds to d the edits of now that are not in written, and the keys of those that are gone. Edits never
// change, so it compares their addresses.
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

// compareRecordLists adds to d the records of now that are not in written, and the runs of those that are gone.
func compareRecordLists(d *saved.Delta, written, now []*runRecord) {
	before, after := setOf(written), setOf(now)

	// A record is removed by the key of its run. That removes every record of an equal run; those that remain are added
	// again.
	gone := map[key]bool{}
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
