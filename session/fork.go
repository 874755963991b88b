package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
)

// Fork makes a new session that begins with everything that the model sees at an entry of another one. The entry "" is
// the newest of its branch. The copied entries keep their ids and labels. The title and the rest of Info are not
// copied, and the counts begin with the copied entries. Fork waits for the turn of the new session, not for that of
// the other one. The error is [ErrExists] if the new session already has entries.
func (s *Store) Fork(ctx context.Context, key, entry, newKey string) error {
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
	var beside sides
	t, err := newTree(ctx, source, size, &beside)
	if err != nil {
		return err
	}
	if entry != "" {
		i, ok := t.indexOf(entry)
		if !ok || !t.lines[i].isPath() {
			return fmt.Errorf("%w: entry %q of %q", ErrNotFound, entry, key)
		}
		t.current = i
	}
	target, err := s.Resume(ctx, newKey)
	if err != nil {
		return err
	}
	err = target.become(ctx, t, key, beside.labels)
	return errors.Join(err, target.Close())
}

// become fills an empty session with the part of a branch that its history uses.
func (s *Session) become(ctx context.Context, t *tree, key string, labels map[string]string) error {
	if s.at.size > 0 {
		return fmt.Errorf("%w: %q", ErrExists, s.key)
	}
	var active loaded
	if err := active.walk(t, nil); err != nil {
		return err
	}
	if t.current < 0 {
		return ErrNotFound
	}
	indexes, err := t.inUse(&active)
	if err != nil {
		return err
	}
	room := 0
	for _, i := range indexes {
		room += t.lines[i].length + copiedHead
	}
	s.encoder.lines = make([]byte, 0, room)
	s.at.from = &From{Session: key, Entry: t.lines[t.current].id}
	header := s.newHeader()
	if header.ID = "e1"; t.header >= 0 {
		header.ID = t.lines[t.header].id // none of the copied entries has it
	}
	lines, err := s.copyEntries(header, t.copied(indexes), labels)
	if err != nil {
		return err
	}
	if err := s.log.Append(ctx, 0, lines, s.store.opts.Durability == Sync); err != nil {
		return err
	}
	return s.reload(ctx)
}

// copiedHead is by how many bytes a line may grow in a copy: its parent, an offset and a checksum change.
const copiedHead = 64

// copied is an entry of a fork.
type copied struct {
	*Entry
	original
}

// copied reads the entries of a fork one by one: a session may be too large to be held in memory twice.
func (t *tree) copied(indexes []int) iter.Seq2[copied, error] {
	return func(yield func(copied, error) bool) {
		for _, i := range indexes {
			l, err := t.line(i)
			var c copied
			if err == nil {
				c.Entry, err = t.entry(l)
			}
			if err == nil {
				c.original, err = originalOf(c.Entry, &l)
			}
			if err == nil && c.FirstKept != nil {
				c.FirstKept = t.firstCopied(c.FirstKept, indexes)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// firstCopied returns the first copied entry that does not lie before the first message that a compaction kept: an edit
// may have left out that message, which is then not copied.
func (t *tree) firstCopied(kept *Ref, indexes []int) *Ref {
	at, ok := t.indexOf(kept.ID)
	if !ok {
		return kept
	}
	n, _ := slices.BinarySearch(indexes, at)
	if n == len(indexes) {
		return kept
	}
	return &Ref{ID: t.lines[indexes[n]].id}
}

// inUse returns the entries that make up the history of a branch, and those between them.
func (t *tree) inUse(active *loaded) ([]int, error) {
	needed := map[int]bool{}
	low := t.current
	for _, p := range active.places {
		i, _ := t.indexOf(p.ref.ID)
		needed[i] = true
		if p.ref.By != nil {
			edit, _ := t.indexOf(p.ref.By.ID)
			needed[edit] = true
		}
	}
	if len(active.places) > active.prefix {
		low, _ = t.indexOf(active.places[active.prefix].ref.ID)
	}
	hasState := false
	for i := t.current; i >= 0 && t.lines[i].kind != TypeSession; {
		n := &t.lines[i]
		if i >= low || !hasState && n.kind == TypeState {
			needed[i] = true
		}
		if n.kind == TypeState {
			l, err := t.line(i)
			if err != nil {
				return nil, err
			}
			e, err := t.entry(l)
			hasState = hasState || err == nil && e.Full != nil
		}
		if i < low && hasState {
			break
		}
		i, _ = t.parentOf(i)
	}
	var indexes []int
	for i := range t.lines {
		if needed[i] {
			indexes = append(indexes, i)
		}
	}
	return indexes, nil
}

// copyEntries returns the lines of a log that holds a header and entries in this order. They keep their ids, and their
// seqs unless an earlier id has a higher number.
func (s *Session) copyEntries(
	header *Entry, entries iter.Seq2[copied, error], labels map[string]string,
) ([]byte, error) {
	x := &s.encoder
	x.lines = x.lines[:0]
	offsets := map[string]int64{}
	var counts Counts
	header.Seq, header.Time = 1, s.store.opts.Now()
	if err := x.append(header); err != nil {
		return nil, err
	}
	countEntry(&counts, header)
	previous, seq := header.ID, header.Seq
	for c, err := range entries {
		if err != nil {
			return nil, err
		}
		e := c.Entry
		e.ParentID, e.At, e.Batch = previous, nil, [2]int64{} // the log is created whole or not at all
		e.Seq = seqAfter(seq, e)
		offsets[e.ID] = int64(len(x.lines))
		if e.Type == TypeCompaction {
			e.Keep = moved(e.Keep, offsets)
			if e.FirstKept != nil {
				kept := moved([]Ref{*e.FirstKept}, offsets)
				if e.FirstKept = nil; len(kept) > 0 {
					e.FirstKept = &kept[0]
				}
			}
		}
		if e.Full != nil {
			e.Full = &FullState{State: e.Full.State, Counts: cloneCounts(counts)}
		}
		if err := x.appendCopy(e, c.original); err != nil {
			return nil, err
		}
		countEntry(&counts, e)
		previous, seq = e.ID, e.Seq
	}
	for _, id := range slices.Sorted(maps.Keys(labels)) {
		if _, ok := offsets[id]; !ok {
			continue
		}
		seq++
		e := &Entry{Seq: seq, ID: "e" + strconv.FormatInt(seq, 10), Type: TypeLabel, Time: header.Time}
		e.Target, e.Label = id, labels[id]
		if err := x.append(e); err != nil {
			return nil, err
		}
	}
	return x.lines, nil
}

// seqAfter returns the seq of an entry that has an id already, in the line after the one with seq. It is not below the
// number in the id: a writer looks at the last line alone to find ids that nothing in the log has.
func seqAfter(seq int64, e *Entry) int64 {
	h := head{id: e.ID, seq: max(seq+1, e.Seq)}
	return h.number()
}

// moved returns refs with the offsets of the copy. Entries that were not copied are not in use.
func moved(refs []Ref, offsets map[string]int64) (out []Ref) {
	for _, r := range refs {
		at, ok := offsets[r.ID]
		if !ok {
			continue
		}
		n := Ref{ID: r.ID, At: at}
		if r.By != nil {
			by, ok := offsets[r.By.ID]
			if !ok {
				continue
			}
			n.By = &Ref{ID: r.By.ID, At: by}
		}
		out = append(out, n)
	}
	return out
}
