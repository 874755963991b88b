package session

import (
	"bytes"
	"context"

	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/dir"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// CountedLines returns the texts of the lines of a log that count, and the damage.
func CountedLines(data []byte) (lines []string, damage []entry.Damage, err error) {
	s := jsonl.NewScanner(bytes.NewReader(data), int64(len(data)), nil)
	err = s.Scan(context.Background(), func(l *jsonl.Line) error {
		lines = append(lines, string(l.Data))
		return nil
	})
	return lines, s.Damage, err
}

// CompactTo writes a compaction that keeps the newest messages, without a summarizer.
func CompactTo(ctx context.Context, s *Session, keep int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.ready(); err != nil {
		return err
	}
	ref := s.at.Places[len(s.at.Places)-keep].Ref
	e := &entry.Entry{Type: entry.TypeCompaction, Summary: "what was before", FirstKept: &entry.Ref{ID: ref.ID, At: ref.At}}
	state, err := s.fullState()
	if err != nil {
		return err
	}
	return s.rewrite(ctx, e, state)
}

// ReadWithOne has one goroutine read the logs of a directory, so that its operations have an order.
func ReadWithOne(store *Store) { store.backend.(*dir.Directory).Readers = 1 }
