package session

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// write appends entries after the leaf, as one batch. The lock is held.
func (s *Session) write(ctx context.Context, durable bool, entries ...*Entry) error {
	if s.dead != nil {
		return s.dead
	}
	for {
		lines, err := s.encode(entries)
		if err != nil {
			return err
		}
		err = s.log.Append(ctx, s.at.size, lines, durable && s.store.opts.Durability == Sync)
		var moved *MovedError
		switch {
		case err == nil:
			s.advance(entries)
			return nil
		case errors.As(err, &moved) && !moved.Written && !moved.Next:
			if err := s.takeIn(ctx, moved.Size); err != nil {
				return s.kill(err)
			}
			continue
		case errors.As(err, &moved) && moved.Written && s.beside:
			return nil // its place does not matter
		case errors.As(err, &moved):
			err = ErrConflict
		}
		if isFinal(err) {
			return s.kill(err)
		}
		return fmt.Errorf("session: writing to %q: %w", s.key, err)
	}
}

// isFinal reports whether a session is unusable after err.
func isFinal(err error) bool {
	for _, target := range []error{ErrConflict, ErrDeleted, ErrSync, ErrClosed} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// kill ends the use of the session.
func (s *Session) kill(err error) error {
	s.dead = fmt.Errorf("session %q: %w", s.key, err)
	return s.dead
}

// encode completes the heads of entries and returns their lines.
func (s *Session) encode(entries []*Entry) ([]byte, error) {
	x := &s.encoder
	x.lines = x.lines[:0]
	if s.at.unended {
		x.lines = append(x.lines, '\n')
	}
	now := s.store.opts.Now()
	c := cursor{seq: s.at.seq, previous: s.at.newest.offset, leaf: s.at.leaf.id, leafAt: s.at.leaf.offset}
	c.isBeside, c.isEmpty = s.beside, s.hasNoEntry()
	if s.at.newest.next != s.at.size { // damage lies between
		c.previous = -1
	}
	if c.isEmpty {
		header := s.newHeader()
		header.Time = now
		s.at.headerAt = s.at.size + int64(len(x.lines))
		c.place(header, s.at.headerAt)
		if err := x.append(header); err != nil {
			return nil, err
		}
		s.at.header = header
	}
	if len(entries) > maxBatch {
		return nil, ErrTooLarge
	}
	s.offsets = s.offsets[:0]
	for i, e := range entries {
		e.Time = now
		if e.Batch = [2]int64{}; len(entries) > 1 {
			e.Batch = [2]int64{int64(i) + 1, int64(len(entries))}
		}
		at := s.at.size + int64(len(x.lines))
		s.offsets = append(s.offsets, at)
		c.place(e, at)
		if e.Full != nil {
			e.Full.Counts, e.Full.Info, e.Full.Labels = s.countsWith(entries[:i]), s.at.info, s.at.labels
		}
		if err := x.append(e); err != nil {
			return nil, err
		}
	}
	if c.seq > maxSeq {
		return nil, fmt.Errorf("%w: %q has no number left for an entry", ErrFormat, s.key)
	}
	return x.lines, nil
}

// countsWith returns the counts of the log including entries.
func (s *Session) countsWith(entries []*Entry) Counts {
	counts := cloneCounts(s.at.counts)
	if s.hasNoEntry() {
		countEntry(&counts, s.at.header)
	}
	for _, e := range entries {
		countEntry(&counts, e)
	}
	return counts
}

// hasNoEntry reports whether the log needs a header: it is new, or completely unreadable.
func (s *Session) hasNoEntry() bool { return s.at.leaf.id == "" && !s.beside }

func (s *Session) newHeader() *Entry {
	return &Entry{Type: TypeSession, Format: formatVersion, Key: s.key, From: s.at.from}
}

// cursor is the place of the next entry.
type cursor struct {
	seq      int64
	previous int64  // offset of the last line
	leaf     string // entry
	leafAt   int64
	isEmpty  bool // the log has no header
	isBeside bool // nothing is written to the branch
}

// place sets the parent of e, which will lie at offset.
func (c *cursor) place(e *Entry, offset int64) {
	c.seq++
	e.Seq, e.ID, e.ParentID = c.seq, "e"+strconv.FormatInt(c.seq, 10), ""
	if e.Type != TypeLeaf {
		e.At = nil
	}
	if isOnBranch(e.Type) && !c.isBeside {
		e.ParentID = c.leaf
		if c.leafAt != c.previous {
			at := c.leafAt
			e.At = &at
		}
	}
	c.previous = offset
	switch {
	case e.Type == TypeSession || e.ParentID != "":
		c.leaf, c.leafAt = e.ID, offset
	case e.Type == TypeLeaf:
		c.leaf, c.leafAt = e.Target, *e.At
	}
}

// advance updates the session with entries that were written.
func (s *Session) advance(entries []*Entry) {
	if s.hasNoEntry() {
		countEntry(&s.at.counts, s.at.header)
		h := s.at.header
		s.at.leaf = line{head: head{id: h.ID, seq: h.Seq, kind: TypeSession}, offset: s.at.headerAt}
	}
	for i, e := range entries {
		countEntry(&s.at.counts, e)
		switch {
		case e.ParentID != "":
			s.at.leaf = line{head: head{seq: e.Seq, id: e.ID, kind: e.Type}, offset: s.offsets[i]}
		case e.Type == TypeLeaf:
			s.at.leaf = line{head: head{id: e.Target}, offset: *e.At}
		}
		s.takeSide(e)
		s.at.updated = e.Time
		if e.Full != nil {
			s.at.summed = s.offsets[i]
		}
	}
	last, lastAt := entries[len(entries)-1], s.offsets[len(entries)-1]
	s.at.size += int64(len(s.encoder.lines))
	s.at.newest = line{head: head{seq: last.Seq, id: last.ID, kind: last.Type}, offset: lastAt, next: s.at.size}
	s.at.seq = last.Seq
	s.at.unended = false
	if cap(s.encoder.lines) > maxSpare {
		s.encoder = encoder{seal: s.encoder.seal}
	}
}

// maxSpare is how much memory a session keeps for the next append.
const maxSpare = 256 << 10

// takeSide updates the session with a side entry.
func (s *Session) takeSide(e *Entry) {
	switch e.Type {
	case TypeInfo:
		mergeInfo(&s.at.info, e.Info)
	case TypeLabel:
		if s.at.labels == nil {
			s.at.labels = map[string]string{}
		}
		if s.at.labels[e.Target] = e.Label; e.Label == "" {
			delete(s.at.labels, e.Target)
		}
	}
}

// takeIn reads what others wrote after the known end. Anybody may write titles, labels and usage at any time; only the
// holder of the turn writes to the branch.
func (s *Session) takeIn(ctx context.Context, size int64) error {
	if size < s.at.size {
		return ErrConflict
	}
	scan := newScanner(s.log, size)
	scan.from, scan.seq = s.at.size, s.at.seq
	err := scan.scan(ctx, func(l *line) error {
		if s.beside {
			s.at.newest = withoutText(*l)
			return nil
		}
		if l.isPath() || l.kind == TypeLeaf || l.kind == TypeSession {
			return ErrConflict
		}
		e, err := l.decode()
		if errors.Is(err, ErrSealed) {
			return err
		}
		if err != nil {
			return nil // it does not count, here or for other readers
		}
		s.takeSide(e)
		countEntry(&s.at.counts, e)
		s.at.newest, s.at.updated = withoutText(*l), e.Time
		return nil
	})
	s.at.damage = append(s.at.damage, scan.damage...)
	s.at.size, s.at.seq, s.at.unended = size, max(scan.seq, scan.highest), scan.unended
	return err
}
