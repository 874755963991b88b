package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Changes returns what changed since the cursor was returned. It does not wait: if nothing changed, it lists nothing.
// Every change is delivered at least once. It may be delivered again with a smaller From, so processing a change must
// be idempotent. The cursor "" is the beginning. The error is [errors.ErrUnsupported] if the backend has no feed.
//
// In PostgreSQL a reader that saves the cursor after it has processed the changes can be killed at any point. In a
// directory and in memory, a cursor is valid only in the store that returned it: after a restart, Resync lists all
// sessions, and the reader skips what it had. Package follow does so.
//
// In a directory, Changes looks at all sessions, as [Store.List] does, which takes about 15 ms for 1 000 of them.
func (s *Store) Changes(ctx context.Context, cursor string) (*backend.Changes, error) {
	return s.changes(ctx, cursor, false)
}

// NextChanges is like [Store.Changes], but waits until something has changed. What this store writes is delivered at
// once. In a directory, changes of other processes are looked for so often that it takes a twentieth of one processor,
// and at most every 100 ms: those in 1 000 sessions are found within 0.3 s, those in 100 000 within half a minute.
func (s *Store) NextChanges(ctx context.Context, cursor string) (*backend.Changes, error) {
	return s.changes(ctx, cursor, true)
}

func (s *Store) changes(ctx context.Context, cursor string, wait bool) (*backend.Changes, error) {
	c, err := s.backend.Changes(ctx, cursor, wait)
	if err != nil {
		return nil, err
	}
	return c, s.giveCauses(ctx, c)
}

// giveCauses says why logs are others than before.
func (s *Store) giveCauses(ctx context.Context, c *backend.Changes) error {
	for i := range c.Changes {
		change := &c.Changes[i]
		if change.Deleted {
			change.Cause = backend.CauseDeleted
		}
		if change.Deleted || change.From > 0 || c.Resync {
			continue
		}
		if isReset, err := s.hasOlder(ctx, *change); err != nil {
			return err
		} else if isReset {
			change.Cause = backend.CauseReset
		}
		st, err := s.Status(ctx, change.Key)
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrDeleted) { // the next change says so
			continue
		}
		if err != nil {
			return err
		}
		if st.Log == change.Log && st.Counts.Erased > 0 {
			change.Cause = backend.CauseRewritten
		}
	}
	return nil
}

// hasOlder reports whether a session has logs that are older than that of a change.
func (s *Store) hasOlder(ctx context.Context, c backend.Change) (bool, error) {
	parts, err := s.Parts(ctx, c.Key)
	if errors.Is(err, errors.ErrUnsupported) {
		return false, nil
	}
	parts = slices.DeleteFunc(parts, func(p backend.Part) bool { return p.Kind == backend.PartSide })
	return slices.IndexFunc(parts, func(p backend.Part) bool { return p.Log == c.Log }) > 0, err
}

// ReadChange calls yield with the entries of a change, in the order of the log. The log need not be the newest: what
// was written before a reset can be read too; [Part].Log names the older logs. The error is [ErrNotFound] if the log
// was rewritten, removed or deleted; a later change says so.
func (s *Store) ReadChange(ctx context.Context, c backend.Change, yield func(*entry.Entry) error) error {
	if c.To <= c.From {
		return nil
	}
	log, err := s.opened(s.backend.Log(ctx, c.Key, false))
	if err == nil && log.ID() != c.Log {
		log.Close()
		log, err = s.openOlder(ctx, c)
	}
	if err != nil {
		return err
	}
	defer log.Close()
	size, err := log.Size()
	if err != nil {
		return err
	}
	if c.To > size {
		return fmt.Errorf("%w: log %s of %q up to %d", ErrNotFound, c.Log, c.Key, c.To)
	}
	scan := jsonl.NewScanner(log, c.To)
	scan.From = c.From
	return scan.Scan(ctx, func(l *jsonl.Line) error {
		e, err := l.Decode()
		if errors.Is(err, ErrSealed) {
			return err
		}
		if err != nil {
			return nil // Verify reports it
		}
		return yield(e)
	})
}

// openOlder opens the log of a change that is not the newest one.
func (s *Store) openOlder(ctx context.Context, c backend.Change) (backend.Log, error) {
	parts, err := s.Parts(ctx, c.Key)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	isOf := func(p backend.Part) bool { return p.Kind != backend.PartSide && p.Log == c.Log }
	if at := slices.IndexFunc(parts, isOf); at >= 0 {
		return s.opened(s.backend.OpenPart(ctx, c.Key, parts[at]))
	}
	return nil, fmt.Errorf("%w: log %s of %q", ErrNotFound, c.Log, c.Key)
}
