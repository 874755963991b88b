package session

import (
	"context"
	"errors"
	"fmt"
)

// Fork makes a new session that begins as another is at an entry: with all that the model sees there. "" is the newest
// entry of its branch. The entries keep their ids. The error is [ErrConflict] if the new session has entries already.
func (s *Store) Fork(ctx context.Context, key, entry, newKey string) error {
	source, err := s.backend.Log(ctx, key, false)
	if err != nil {
		return err
	}
	defer source.Close()
	size, err := source.Size()
	if err != nil {
		return err
	}
	t, err := newTree(ctx, source, size, nil)
	if err != nil {
		return err
	}
	if entry != "" {
		i, ok := t.index[entry]
		if !ok || !t.lines[i].isPath() {
			return fmt.Errorf("%w: entry %q of %q", ErrNotFound, entry, key)
		}
		t.current = i
	}
	target, err := s.Open(ctx, newKey)
	if err != nil {
		return err
	}
	err = target.become(ctx, t, key)
	return errors.Join(err, target.Close())
}

// become fills an empty session with the part of a branch that is in use.
func (s *Session) become(ctx context.Context, t *tree, key string) error {
	if s.at.size > 0 {
		return fmt.Errorf("%w: %q has entries already", ErrConflict, s.key)
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
	entries := make([]*Entry, 0, len(indexes))
	offsets := map[string]int64{}
	for _, i := range indexes {
		l, err := t.line(i)
		if err != nil {
			return err
		}
		e, err := t.entry(l)
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	s.at.from = &From{Session: key, Entry: t.lines[t.current].id}
	lines, err := s.copyEntries(entries, offsets)
	if err != nil {
		return err
	}
	if err := s.log.Append(ctx, 0, lines, s.store.opts.Durability == Sync); err != nil {
		return err
	}
	return s.reload(ctx)
}

// inUse returns the entries of a branch that its history is made of, and those that stand between them.
func (t *tree) inUse(active *loaded) ([]int, error) {
	needed := map[int]bool{}
	low := t.current
	for _, p := range active.places {
		i := t.index[p.ref.ID]
		needed[i] = true
		if p.ref.By != nil {
			needed[t.index[p.ref.By.ID]] = true
		}
	}
	if len(active.places) > active.prefix {
		low = t.index[active.places[active.prefix].ref.ID]
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

// copyEntries returns the lines of a log that holds entries, one behind the other. They keep their ids and seqs.
func (s *Session) copyEntries(entries []*Entry, offsets map[string]int64) ([]byte, error) {
	x := &s.encoder
	x.lines = x.lines[:0]
	header := s.newHeader()
	header.Seq, header.ID, header.Time = 1, "e1", s.store.opts.Now()
	if err := x.append(header); err != nil {
		return nil, err
	}
	previous := header.ID
	for _, e := range entries {
		e.ParentID, e.At, e.Batch = previous, nil, [2]int64{} // the log is made whole or not at all
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
		if err := x.append(e); err != nil {
			return nil, err
		}
		previous = e.ID
	}
	return x.lines, nil
}

// moved returns refs with the offsets of the copy. What was not copied is not in use.
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
