package session

import (
	"context"
	"errors"
	"fmt"
)

// Report is what [Store.Verify] found.
type Report struct {
	Log     string // the log that was read, by the backend's name
	Bytes   int64
	Entries int
	Damage  []Damage // in the order of the log
}

// Verify reads the whole log of a session and lists all damage: lines that do not count, incomplete batches, entries
// whose parent is missing. It changes nothing and waits for nobody.
func (s *Store) Verify(ctx context.Context, key string) (*Report, error) {
	log, err := s.opened(s.backend.Log(ctx, key, false))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	size, err := log.Size()
	if err != nil {
		return nil, err
	}
	t, err := newTree(ctx, log, size, nil)
	if err != nil {
		return nil, fmt.Errorf("session: %q: %w", key, err)
	}
	r := &Report{Log: log.ID(), Bytes: size, Entries: len(t.lines), Damage: append(t.scan.damage, t.lost...)}
	if t.header < 0 && size > 0 {
		r.Damage = append(r.Damage, Damage{Reason: "there is no header"})
	}
	for i := range t.lines {
		n := &t.lines[i]
		if !n.isPath() {
			continue
		}
		if _, whole := t.parentOf(i); !whole {
			lost := Damage{Offset: n.offset, ID: n.id, Reason: "its parent " + n.parent + " is missing"}
			r.Damage = append(r.Damage, lost)
		}
	}
	return r, nil
}

// Entries calls yield with every entry that counts of a session's newest log, on all branches, in the order of the log.
func (s *Store) Entries(ctx context.Context, key string, yield func(*Entry) error) error {
	log, err := s.opened(s.backend.Log(ctx, key, false))
	if err != nil {
		return err
	}
	defer log.Close()
	size, err := log.Size()
	if err != nil {
		return err
	}
	return newScanner(log, size).scan(ctx, func(l *line) error {
		e, err := l.decode()
		if errors.Is(err, ErrSealed) {
			return err
		}
		if err != nil {
			return nil // Verify reports it
		}
		if err := checkFormat(e); err != nil {
			return err
		}
		return yield(e)
	})
}
