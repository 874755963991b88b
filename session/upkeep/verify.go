package upkeep

import (
	"context"
	"fmt"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Report is what [Verify] found.
type Report struct {
	Log     string // the log that was read, by the backend's name
	Bytes   int64
	Entries int
	Damage  []entry.Damage // in the order of the log
}

// Verify reads the whole log of a session and lists all damage: lines that do not count, incomplete batches, entries
// whose parent is missing. It changes nothing and waits for nobody.
func Verify(ctx context.Context, s *session.Store, key string) (*Report, error) {
	log, err := s.Backend().Log(ctx, key, false)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	size, err := log.Size()
	if err != nil {
		return nil, err
	}
	t, err := jsonl.NewTree(ctx, log, size, s.Options().Seal, nil)
	if err != nil {
		return nil, fmt.Errorf("session: %q: %w", key, err)
	}
	r := &Report{Log: log.ID(), Bytes: size, Entries: len(t.Lines), Damage: append(t.Scan.Damage, t.Lost...)}
	if t.Header < 0 && size > 0 {
		r.Damage = append(r.Damage, entry.Damage{Reason: "there is no header"})
	}
	for i := range t.Lines {
		n := &t.Lines[i]
		if !n.IsPath() {
			continue
		}
		if _, whole := t.ParentOf(i); !whole {
			lost := entry.Damage{Offset: n.Offset, ID: n.ID, Reason: "its parent " + n.Parent + " is missing"}
			r.Damage = append(r.Damage, lost)
		}
	}
	return r, nil
}
