package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Fork makes a new session that begins with everything that the model sees at an entry of another one. The entry "" is
// the newest of its branch. The copied entries keep their ids and labels. The title and the rest of Info are not
// copied, and the counts begin with the copied entries. Fork waits for the turn of the new session, not for that of
// the other one. The error is [ErrExists] if the new session already has entries.
func (s *Store) Fork(ctx context.Context, key, id, newKey string) error {
	if newKey == key { // its holder would wait for itself
		return fmt.Errorf("%w: %q would be forked to itself", ErrExists, key)
	}
	source, err := s.opened(s.backend.Log(ctx, key, false))
	if err != nil {
		return err
	}
	defer source.Close()
	size, err := source.Size()
	if err != nil {
		return err
	}
	var beside jsonl.Sides
	t, err := jsonl.NewTree(ctx, source, size, &beside)
	if err != nil {
		return err
	}
	if id != "" {
		i, ok := t.IndexOf(id)
		if !ok || !t.Lines[i].IsPath() {
			return fmt.Errorf("%w: entry %q of %q", ErrNotFound, id, key)
		}
		t.Current = i
	}
	target, err := s.Resume(ctx, newKey)
	if err != nil {
		return err
	}
	err = target.become(ctx, t, key, beside.Labels)
	return errors.Join(err, target.Close())
}

// become fills an empty session with the part of a branch that its history uses.
func (s *Session) become(ctx context.Context, t *jsonl.Tree, key string, labels map[string]string) error {
	if s.at.Size > 0 {
		return fmt.Errorf("%w: %q", ErrExists, s.key)
	}
	var active jsonl.Loaded
	if err := active.Walk(t, nil); err != nil {
		return err
	}
	if t.Current < 0 {
		return ErrNotFound
	}
	indexes, err := t.InUse(&active)
	if err != nil {
		return err
	}
	room := 0
	for _, i := range indexes {
		room += t.Lines[i].Length + jsonl.CopiedHead
	}
	s.encoder.Lines = make([]byte, 0, room)
	s.at.From = &entry.From{Session: key, Entry: t.Lines[t.Current].ID}
	header := s.newHeader()
	if header.ID = "e1"; t.Header >= 0 {
		header.ID = t.Lines[t.Header].ID // none of the copied entries has it
	}
	lines, err := s.copyEntries(header, t.Copied(indexes), labels)
	if err != nil {
		return err
	}
	if err := s.log.Append(ctx, 0, lines, s.store.opts.Durability == Sync); err != nil {
		return err
	}
	return s.reload(ctx)
}

// copyEntries returns the lines of a log that holds a header and entries in this order. They keep their ids, and their
// seqs unless an earlier id has a higher number.
func (s *Session) copyEntries(
	header *entry.Entry, entries iter.Seq2[jsonl.Copied, error], labels map[string]string,
) ([]byte, error) {
	x := &s.encoder
	x.Lines = x.Lines[:0]
	offsets := map[string]int64{}
	var counts entry.Counts
	header.Seq, header.Time = 1, s.store.opts.Now()
	if err := x.Append(header); err != nil {
		return nil, err
	}
	jsonl.CountEntry(&counts, header)
	previous, seq := header.ID, header.Seq
	for c, err := range entries {
		if err != nil {
			return nil, err
		}
		e := c.Entry
		e.ParentID, e.At, e.Batch = previous, nil, [2]int64{} // the log is created whole or not at all
		e.Seq = jsonl.SeqAfter(seq, e)
		offsets[e.ID] = int64(len(x.Lines))
		if e.Type == entry.TypeCompaction {
			e.Keep = jsonl.Moved(e.Keep, offsets)
			if e.FirstKept != nil {
				kept := jsonl.Moved([]entry.Ref{*e.FirstKept}, offsets)
				if e.FirstKept = nil; len(kept) > 0 {
					e.FirstKept = &kept[0]
				}
			}
		}
		if e.Full != nil {
			e.Full = &entry.FullState{State: e.Full.State, Counts: jsonl.CloneCounts(counts)}
		}
		if err := x.AppendCopy(e, c.Original); err != nil {
			return nil, err
		}
		jsonl.CountEntry(&counts, e)
		previous, seq = e.ID, e.Seq
	}
	for _, id := range slices.Sorted(maps.Keys(labels)) {
		if _, ok := offsets[id]; !ok {
			continue
		}
		seq++
		e := &entry.Entry{Seq: seq, ID: "e" + strconv.FormatInt(seq, 10), Type: entry.TypeLabel, Time: header.Time}
		e.Target, e.Label = id, labels[id]
		if err := x.Append(e); err != nil {
			return nil, err
		}
	}
	return x.Lines, nil
}
