package session

import (
	"context"
	"errors"
	"iter"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// List returns a page of the sessions that exist now. It includes everything that was acknowledged before the call.
func (s *Store) List(ctx context.Context, q backend.Query) (*backend.Page, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	p, err := s.backend.List(ctx, q)
	if err != nil {
		return nil, err
	}
	for i := range p.Sessions {
		if err := s.openTitle(ctx, &p.Sessions[i]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// All iterates over the sessions that a query selects, page by page. It ends with the first error.
func (s *Store) All(ctx context.Context, q backend.Query) iter.Seq2[backend.Status, error] {
	return func(yield func(backend.Status, error) bool) {
		for {
			page, err := s.List(ctx, q)
			if err != nil {
				yield(backend.Status{}, err)
				return
			}
			for _, st := range page.Sessions {
				if !yield(st, nil) {
					return
				}
			}
			if q.After = page.Next; page.Next == "" {
				return
			}
		}
	}
}

// Status returns the status of a session. The error is [ErrNotFound] if the session does not exist.
func (s *Store) Status(ctx context.Context, key string) (*backend.Status, error) {
	if err := backend.CheckKey(key); err != nil {
		return nil, err
	}
	st, err := statusOf(ctx, s.backend, key)
	if err == nil {
		st.Open, err = s.backend.IsHeld(ctx, key)
	}
	if err == nil {
		err = s.openTitle(ctx, st)
	}
	if err != nil {
		return nil, err
	}
	return st, nil
}

// statusOf reads the status of a session from its log.
func statusOf(ctx context.Context, b backend.Backend, key string) (*backend.Status, error) {
	log, err := b.Log(ctx, key, false)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return backend.ReadStatus(ctx, key, log)
}

// Parts lists everything that is stored of a session: logs, archives, and the files beside them. It changes nothing.
func (s *Store) Parts(ctx context.Context, key string) ([]backend.Part, error) {
	if err := backend.CheckKey(key); err != nil {
		return nil, err
	}
	return s.backend.Parts(ctx, key)
}

// Entries calls yield with every entry that counts of a session's newest log, on all branches, in the order of the log.
func (s *Store) Entries(ctx context.Context, key string, yield func(*entry.Entry) error) error {
	log, err := s.opened(s.backend.Log(ctx, key, false))
	if err != nil {
		return err
	}
	defer log.Close()
	size, err := log.Size()
	if err != nil {
		return err
	}
	return jsonl.NewScanner(log, size).Scan(ctx, func(l *jsonl.Line) error {
		e, err := l.Decode()
		if errors.Is(err, ErrSealed) {
			return err
		}
		if err != nil {
			return nil // Verify reports it
		}
		if err := jsonl.CheckFormat(e); err != nil {
			return err
		}
		return yield(e)
	})
}
