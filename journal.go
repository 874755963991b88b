package winnow

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// journalFrom is the journal of a ledger that was restored from a state to which that many deltas were added.
func (l *ledger) journalFrom(deltas int) journal {
	return journal{
		deltas: deltas, sent: len(l.sent), edits: maps.Clone(l.projections), records: l.records,
		checkpoint: l.checkpoint,
	}
}

// delta is what a snapshot holds now and did not at the delta before it. Sent has the keys from From on, and Edits and
// Records those that are new. All else stands in full, because it is small.
type delta struct {
	snapshot                // Deltas is the number of this one, from 1
	From           int      `json:"from"`
	Gone           []string `json:"gone,omitempty"`        // edits that are of no use any more
	GoneRecords    []string `json:"goneRecords,omitempty"` // likewise, by their runs
	SameCheckpoint bool     `json:"sameCheckpoint,omitempty"`
}

// journaled runs record, which makes a request what was sent last, and has Options.Journal write the delta. rewrites
// says that record does more than to append what is new. An error is the journal's, and nothing was recorded then.
func (m *Manager) journaled(rewrites bool, record func()) error {
	if m.opts.Journal == nil {
		record()
		return nil
	}
	l := &m.ledger
	before := *l
	before.tail = tail{} // record writes to its maps
	if rewrites {
		l.sent, l.projections = slices.Clone(l.sent), maps.Clone(l.projections)
	}
	record()
	text, next, err := l.delta(rewrites)
	if err == nil {
		err = m.opts.Journal(text)
	}
	if err != nil {
		*l = before
		return fmt.Errorf("winnow: writing the journal: %w", err)
	}
	l.journal = next
	return nil
}

// delta returns what changed since the last one, and the journal as it is once that is written. Edits are compared
// only where they may have changed.
func (l *ledger) delta(edits bool) ([]byte, journal, error) {
	j := l.journal
	d := delta{snapshot: l.head(), From: min(j.sent, len(l.sent)), SameCheckpoint: j.checkpoint == l.checkpoint}
	j.deltas++
	d.Deltas, d.Sent = j.deltas, hexKeys(l.sent[d.From:])
	if d.SameCheckpoint {
		d.Checkpoint = nil
	}
	if edits {
		d.compareEdits(j.edits, l.projections)
		d.compareRecords(j.records, l.records)
		j.edits, j.records = maps.Clone(l.projections), l.records
	}
	j.sent, j.checkpoint = len(l.sent), l.checkpoint
	text, err := json.Marshal(d)
	return text, j, err
}

// compareEdits tells the edits that are new, and those that are gone. Edits never change, so their addresses are
// compared.
func (d *delta) compareEdits(written, now map[key]*projection) {
	changed := make(map[key]*projection)
	for k, p := range now {
		if written[k] != p {
			changed[k] = p
		}
	}
	d.Edits = savedEdits(changed)
	for k := range written {
		if now[k] == nil {
			d.Gone = append(d.Gone, hex.EncodeToString(k[:]))
		}
	}
	slices.Sort(d.Gone)
}

// compareRecords tells the records that are new, and those that are gone.
func (d *delta) compareRecords(written, now []*runRecord) {
	var added []*runRecord
	for _, r := range now {
		if !slices.Contains(written, r) {
			added = append(added, r)
		}
	}
	d.Records = savedRecords(added)
	for _, r := range written {
		if !slices.Contains(now, r) {
			d.GoneRecords = append(d.GoneRecords, hex.EncodeToString(r.run[:]))
		}
	}
}

var errNoSuccessor = errors.New("it does not follow what is before it")

// add takes a delta in. One that s holds already changes nothing.
func (s *snapshot) add(text []byte) error {
	var d delta
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	switch {
	case d.Winnow != snapshotVersion || d.Deltas <= 0:
		return fmt.Errorf("no delta of version %d", snapshotVersion)
	case d.Deltas <= s.Deltas:
		return nil
	case d.Deltas != s.Deltas+1, d.From < 0, d.From > len(s.Sent):
		return errNoSuccessor
	}
	sent, edits, checkpoint := append(s.Sent[:d.From:d.From], d.Sent...), s.Edits, s.Checkpoint
	if edits == nil {
		edits = map[string]savedEdit{}
	}
	for _, k := range d.Gone {
		delete(edits, k)
	}
	maps.Copy(edits, d.Edits)
	records := slices.DeleteFunc(s.Records, func(r savedRecord) bool { return slices.Contains(d.GoneRecords, r.Run) })
	records = append(records, d.Records...)
	*s = d.snapshot
	s.Sent, s.Edits, s.Records = sent, edits, records
	if d.SameCheckpoint {
		s.Checkpoint = checkpoint
	}
	return nil
}
