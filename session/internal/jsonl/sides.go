package jsonl

import (
	"context"
	"errors"
	"time"

	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/errs"
)

// Sides is what a log says beside the branch. It is read backwards: the first value found is the newest.
type Sides struct {
	Info   entry.Info
	Labels map[string]string
	known  map[string]bool // labels that were set or removed
	newer  []*entry.Entry  // entries to count, the newest first
	base   entry.Counts
	at     int64 // offset of the entry with totals; 0: none
}

// add takes in e. complete says that entries before e do not matter.
func (s *Sides) add(e *entry.Entry) (complete bool) {
	if e.Full != nil {
		older := e.Full.Info
		MergeInfo(&older, &s.Info)
		s.Info = older
		for id, label := range e.Full.Labels {
			s.label(id, label)
		}
		s.base = CloneCounts(e.Full.Counts)
		s.newer = append(s.newer, &entry.Entry{Type: e.Type})
		return true
	}
	s.newer = append(s.newer, e)
	switch {
	case e.Type == entry.TypeInfo && e.Info != nil:
		older := *e.Info
		MergeInfo(&older, &s.Info)
		s.Info = older
	case e.Type == entry.TypeLabel:
		s.label(e.Target, e.Label)
	}
	return false
}

func (s *Sides) label(id, label string) {
	if s.known[id] {
		return
	}
	if s.known == nil {
		s.known, s.Labels = map[string]bool{}, map[string]string{}
	}
	s.known[id] = true
	if label != "" {
		s.Labels[id] = label
	}
}

// Counts returns the counts of the whole log.
func (s *Sides) Counts() entry.Counts {
	c := s.base
	for i := len(s.newer) - 1; i >= 0; i-- {
		CountEntry(&c, s.newer[i])
	}
	return c
}

// ReadInfo is look for an open log. It reads from the end if that is in order.
func ReadInfo(ctx context.Context, log Log) (info entry.Info, updated time.Time, err error) {
	size, err := log.Size()
	if err != nil || size == 0 {
		return entry.Info{}, time.Time{}, err
	}
	var s Sides
	t := NewTail(log, size)
	t.W.Step, t.Ahead.Step = StatusStep, HeadStep
	t.Counted = t.seal == nil // without a key only what is not sealed can be read
	err = t.Sides(&s)
	if errors.Is(err, ErrSlow) || errors.Is(err, errs.ErrTooLarge) {
		s = Sides{}
		_, err = NewTree(ctx, log, size, &s)
	}
	return s.Info, t.NewestAt, err
}
