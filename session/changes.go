package session

import (
	"context"
	"errors"
	"fmt"
)

// Change says that a session changed.
type Change struct {
	Key string `json:"key"`

	// Log is the log that changed, as in [Status]. A reset or a rewrite of the log gives the session another one:
	// whatever a reader derived from the old log is then out of date.
	Log string `json:"log,omitempty"`

	From    int64 `json:"from"`              // offset in Log; earlier changes covered what lies before it
	To      int64 `json:"to"`                // offset after the new bytes
	Deleted bool  `json:"deleted,omitempty"` // the session is gone; Log, From and To are empty
}

// Changes is a piece of the feed.
type Changes struct {
	Changes []Change // in order within each session
	Cursor  string   // where to go on; keep it once the changes are processed

	// Resync says that the feed cannot continue from the given cursor, which is empty, too old, or from another store.
	// Changes then lists every session there is, from offset 0; forget all others.
	Resync bool
}

// Changes returns what changed since the cursor was returned. It does not wait: if nothing changed, it lists nothing.
// Every change is delivered at least once. It may be delivered again with a smaller From, so processing a change must
// be idempotent. The cursor "" is the beginning. The error is [errors.ErrUnsupported] if the backend has no feed.
//
// A cursor is a place in a record of changes that all processes share. A reader adds to that record what it finds in
// the logs. So a directory that cannot be written has no feed, and the error is that of its file system. [Store.List]
// and [Store.Read] work there.
//
// A reader that saves the cursor after it has processed the changes can be killed at any point.
func (s *Store) Changes(ctx context.Context, cursor string) (*Changes, error) {
	b, err := s.feeder()
	if err != nil {
		return nil, err
	}
	return b.Changes(ctx, cursor)
}

func (s *Store) feeder() (Feeder, error) {
	b, ok := s.backend.(Feeder)
	if !ok {
		return nil, fmt.Errorf("session: the backend has no feed: %w", errors.ErrUnsupported)
	}
	return b, nil
}

// NextChanges is like [Store.Changes], but waits until something has changed.
func (s *Store) NextChanges(ctx context.Context, cursor string) (*Changes, error) {
	b, err := s.feeder()
	if err != nil {
		return nil, err
	}
	for {
		c, err := b.Changes(ctx, cursor)
		if err != nil || c.Resync || len(c.Changes) > 0 {
			return c, err
		}
		cursor = c.Cursor
		if err := b.Wait(ctx, cursor); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// ReadChange calls yield with the entries of a change, in the order of the log. The error is [ErrNotFound] if the log
// is no longer the newest; a later change says so.
func (s *Store) ReadChange(ctx context.Context, c Change, yield func(*Entry) error) error {
	return s.readChange(ctx, c, func(l *line) error {
		e, err := l.decode()
		if errors.Is(err, ErrSealed) {
			return err
		}
		if err != nil {
			return nil // Verify reports it
		}
		return yield(e)
	})
}

func (s *Store) readChange(ctx context.Context, c Change, yield func(*line) error) error {
	log, err := s.opened(s.backend.Log(ctx, c.Key, false))
	if err != nil {
		return err
	}
	defer log.Close()
	size, err := log.Size()
	if err != nil {
		return err
	}
	if log.ID() != c.Log || c.To > size {
		return fmt.Errorf("%w: log %s of %q up to %d", ErrNotFound, c.Log, c.Key, c.To)
	}
	scan := newScanner(log, c.To)
	scan.from = c.From
	return scan.scan(ctx, yield)
}
