package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// write appends entries after the leaf, as one batch. The lock is held.
func (s *Session) write(ctx context.Context, durable bool, entries ...*entry.Entry) error {
	if s.dead != nil {
		return s.dead
	}
	for {
		all := s.withHeader(entries)
		lines, err := s.encode(all)
		if err != nil {
			return err
		}
		err = s.log.Append(ctx, s.at.Size, lines, durable && s.store.opts.Durability == Sync)
		var moved *backend.MovedError
		switch {
		case err == nil:
			s.advance(all)
			s.offsets = s.offsets[len(all)-len(entries):]
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
	final := []error{ErrConflict, ErrDeleted, ErrSync, ErrClosed}
	return slices.ContainsFunc(final, func(f error) bool { return errors.Is(err, f) })
}

// kill ends the use of the session.
func (s *Session) kill(err error) error {
	s.dead = fmt.Errorf("session %q: %w", s.key, err)
	return s.dead
}

// withHeader returns entries behind a header, if the log needs one: it is new, or completely unreadable.
func (s *Session) withHeader(entries []*entry.Entry) []*entry.Entry {
	if s.at.Leaf.ID != "" || s.beside {
		return entries
	}
	return append([]*entry.Entry{s.newHeader()}, entries...)
}

// encode completes the heads of entries and returns their lines.
func (s *Session) encode(entries []*entry.Entry) ([]byte, error) {
	x := &s.encoder
	x.Lines = x.Lines[:0]
	if s.at.Unended {
		x.Lines = append(x.Lines, '\n')
	}
	now := s.store.opts.Now()
	c := cursor{seq: s.at.Seq, previous: s.at.Newest.Offset, leaf: s.at.Leaf.ID, leafAt: s.at.Leaf.Offset}
	c.isBeside = s.beside
	if s.at.Newest.Next != s.at.Size { // damage lies between
		c.previous = -1
	}
	headers := 0 // no part of a batch
	if len(entries) > 0 && entries[0].Type == entry.TypeSession {
		headers = 1
	}
	batch := len(entries) - headers
	if batch > jsonl.MaxBatch {
		return nil, ErrTooLarge
	}
	s.offsets = s.offsets[:0]
	for i, e := range entries {
		e.Time = now
		if e.Batch = [2]int64{}; batch > 1 && i >= headers {
			e.Batch = [2]int64{int64(i - headers + 1), int64(batch)}
		}
		at := s.at.Size + int64(len(x.Lines))
		s.offsets = append(s.offsets, at)
		c.place(e, at)
		if e.Full != nil {
			e.Full.Counts, e.Full.Info, e.Full.Labels = s.countsWith(entries[:i]), s.at.Info, s.at.Labels
		}
		if err := x.Append(e); err != nil {
			return nil, err
		}
	}
	if c.seq > jsonl.MaxSeq {
		return nil, fmt.Errorf("%w: %q has no number left for an entry", ErrFormat, s.key)
	}
	return x.Lines, nil
}

// countsWith returns the counts of the log including entries.
func (s *Session) countsWith(entries []*entry.Entry) Counts {
	counts := jsonl.CloneCounts(s.at.Counts)
	for _, e := range entries {
		jsonl.CountEntry(&counts, e)
	}
	return counts
}

func (s *Session) newHeader() *entry.Entry {
	return &entry.Entry{Type: entry.TypeSession, Format: jsonl.FormatVersion, Key: s.key, From: s.at.From}
}

// cursor is the place of the next entry.
type cursor struct {
	seq      int64
	previous int64  // offset of the last line
	leaf     string // entry
	leafAt   int64
	isBeside bool // nothing is written to the branch
}

// place sets the parent of e, which will lie at offset.
func (c *cursor) place(e *entry.Entry, offset int64) {
	c.seq++
	e.Seq, e.ID, e.ParentID = c.seq, "e"+strconv.FormatInt(c.seq, 10), ""
	if e.Type != entry.TypeLeaf {
		e.At = nil
	}
	if jsonl.IsOnBranch(e.Type) && !c.isBeside {
		e.ParentID = c.leaf
		if c.leafAt != c.previous {
			at := c.leafAt
			e.At = &at
		}
	}
	c.previous = offset
	switch {
	case e.Type == entry.TypeSession || e.ParentID != "":
		c.leaf, c.leafAt = e.ID, offset
	case e.Type == entry.TypeLeaf:
		c.leaf, c.leafAt = e.Target, *e.At
	}
}

// advance updates the session with entries that were written.
func (s *Session) advance(entries []*entry.Entry) {
	for i, e := range entries {
		s.at.Take(e, s.offsets[i])
		switch {
		case e.Type == entry.TypeSession || e.ParentID != "":
			s.at.Leaf = jsonl.Line{Head: jsonl.Head{Seq: e.Seq, ID: e.ID, Kind: e.Type}, Offset: s.offsets[i]}
		case e.Type == entry.TypeLeaf:
			s.at.Leaf = jsonl.Line{Head: jsonl.Head{ID: e.Target}, Offset: *e.At}
		}
	}
	last, lastAt := entries[len(entries)-1], s.offsets[len(entries)-1]
	s.at.Size += int64(len(s.encoder.Lines))
	head := jsonl.Head{Seq: last.Seq, ID: last.ID, Kind: last.Type}
	s.at.Newest = jsonl.Line{Head: head, Offset: lastAt, Next: s.at.Size}
	s.at.Seq = last.Seq
	s.at.Unended = false
	if cap(s.encoder.Lines) > maxSpare {
		s.encoder = jsonl.Encoder{Seal: s.encoder.Seal}
	}
}

// maxSpare is how much memory a session keeps for the next append.
const maxSpare = 256 << 10

// takeIn reads what others wrote after the known end. Anybody may write titles, labels and usage at any time; only the
// holder of the turn writes to the branch.
func (s *Session) takeIn(ctx context.Context, size int64) error {
	if size < s.at.Size {
		return ErrConflict
	}
	scan := jsonl.NewScanner(s.log, size, s.store.opts.Seal)
	scan.From, scan.Seq = s.at.Size, s.at.Seq
	err := scan.Scan(ctx, func(l *jsonl.Line) error {
		if s.beside {
			s.at.Newest = jsonl.WithoutText(*l)
			return nil
		}
		if l.IsPath() || l.Kind == entry.TypeLeaf || l.Kind == entry.TypeSession {
			return ErrConflict
		}
		e, err := l.Decode()
		if errors.Is(err, ErrSealed) {
			return err
		}
		if err != nil {
			return nil // it does not count, here or for other readers
		}
		s.at.Take(e, l.Offset)
		s.at.Newest = jsonl.WithoutText(*l)
		return nil
	})
	s.at.Damage = append(s.at.Damage, scan.Damage...)
	s.at.Size, s.at.Seq, s.at.Unended = size, max(scan.Seq, scan.Highest), scan.Unended
	return err
}
