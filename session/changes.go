package session

import (
	"context"
	"errors"
	"fmt"
)

// Change says that a session changed.
type Change struct {
	Key string `json:"key"`

	// Log is what changed of it, as in [Status]. After a reset, and where a log was written anew, it is another one:
	// what was known of the session by the old one is out of date.
	Log string `json:"log,omitempty"`

	From    int64 `json:"from"`              // offset in Log; what is before it was told by earlier changes
	To      int64 `json:"to"`                // offset behind what is new
	Deleted bool  `json:"deleted,omitempty"` // the session is gone; Log, From and To are empty
}

// Changes is a piece of the feed.
type Changes struct {
	Changes []Change // in order for each session
	Cursor  string   // for what comes next; to be kept once the changes were dealt with

	// Resync says that the feed cannot go on behind the cursor that was given: it is empty, of another store, or too
	// old. Changes then has every session there is, from offset 0: what is known of others is to be forgotten.
	Resync bool
}

// Changes returns what changed since a cursor was given, without waiting: nothing, where nothing did. Every change is
// told at least once, and may be told again with a smaller From: a change is dealt with by what it says, not by that it
// came. "" is the beginning. The error is [errors.ErrUnsupported] if the backend has no feed.
//
// A reader that keeps the cursor after it has dealt with the changes may be killed at any point.
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

// NextChanges is [Store.Changes] that waits until there are some.
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

// ReadChange calls yield with the entries that a change tells of, in the order of the log. The error is [ErrNotFound]
// if the log is not the newest any more: a later change tells of that.
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
