package session

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Package backend has more about the following types, and package entry about the last two: a backend and an entry are
// made of them.
type (
	// Query selects and orders the sessions of a list; the zero value selects all. Prefix and Types are of the key,
	// Since and Until of the time of the last change, and Pinned and Archived (nil: either) of the Info. Order is
	// [ByKey] or [Newest], Limit the length of a page (100), and After is Page.Next of the page before.
	Query = backend.Query
	// Order is the order of a list: [ByKey] or [Newest].
	Order = backend.Order
	// Page is one page of a list: Sessions, and in Next what Query.After is for the next page ("": there is none).
	Page = backend.Page
	// Status is a row of a list: Key, Log (its newest), Bytes (of that), Created, Updated, LastInteraction (of a
	// person), Info, Counts, Damage (places found so far) and Open (somebody has the turn, as far as is known).
	Status = backend.Status
	// Changes is a piece of the feed: Changes in order, Cursor for the next piece, and Resync, which says that the
	// list begins from nothing.
	Changes = backend.Changes
	// Change says that a session changed: Key, the bytes From and To of its Log, or Deleted, and with another log than
	// before the Cause.
	Change = backend.Change
	// BusyError says who has the turn: PID (0: unknown, or this process), Host, Since, and with Cause why the wait
	// ended.
	BusyError = backend.BusyError
	// Info is the Title of a session, and whether it is Pinned or Archived. nil is unknown or, in a change, as before.
	Info = entry.Info
	// Counts counts what a session holds, on all branches: Entries, Messages by role, Turns, Compactions and those of
	// them that are Degraded, Flushes, Edits, Erased, Usage, LastUsage, usage by Models, LastTurn (the time), and
	// Tokens of Window that are in use.
	Counts = entry.Counts
)

const (
	ByKey  = backend.ByKey  // by the bytes of the key: paging visits every session once
	Newest = backend.Newest // the newest Updated first, then by key; paging may miss a session that is updated
)

// List returns a page of the sessions that exist now. It includes everything that was acknowledged before the call.
func (s *Store) List(ctx context.Context, q Query) (*Page, error) {
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
func (s *Store) All(ctx context.Context, q Query) iter.Seq2[Status, error] {
	return func(yield func(Status, error) bool) {
		for {
			page, err := s.List(ctx, q)
			if err != nil {
				yield(Status{}, err)
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
func (s *Store) Status(ctx context.Context, key string) (*Status, error) {
	if err := backend.CheckKey(key); err != nil {
		return nil, err
	}
	log, err := s.backend.Log(ctx, key, false)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	st, err := backend.ReadStatus(ctx, key, log)
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

// Parts lists everything that is stored of a session: logs, archives, and the files beside them. It changes nothing.
func (s *Store) Parts(ctx context.Context, key string) ([]backend.Part, error) {
	if err := backend.CheckKey(key); err != nil {
		return nil, err
	}
	return s.backend.Parts(ctx, key)
}

// Entries iterates over every entry that counts of a session's newest log, on all branches, in the order of the log. It
// ends with the first error.
func (s *Store) Entries(ctx context.Context, key string) iter.Seq2[*entry.Entry, error] {
	return sequence(func(yield func(*entry.Entry) error) error { return s.eachEntry(ctx, key, yield) })
}

// errStop ends a walk over entries that nobody wants to see the rest of.
var errStop = errors.New("stop")

// sequence returns the entries with which walk calls its function, and behind them the error of walk.
func sequence(walk func(yield func(*entry.Entry) error) error) iter.Seq2[*entry.Entry, error] {
	return func(yield func(*entry.Entry, error) bool) {
		err := walk(func(e *entry.Entry) error {
			if !yield(e, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

func (s *Store) eachEntry(ctx context.Context, key string, yield func(*entry.Entry) error) error {
	log, err := s.backend.Log(ctx, key, false)
	if err != nil {
		return err
	}
	defer log.Close()
	size, err := log.Size()
	if err != nil {
		return err
	}
	return entriesOf(ctx, jsonl.NewScanner(log, size, s.opts.Seal), yield)
}

// entriesOf calls yield with the entries that a scanner finds.
func entriesOf(ctx context.Context, scan *jsonl.Scanner, yield func(*entry.Entry) error) error {
	return scan.Scan(ctx, func(l *jsonl.Line) error {
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

// Changes returns what changed since the cursor was returned. It does not wait: if nothing changed, it lists nothing.
// Every change is delivered at least once. It may be delivered again with a smaller From, so processing a change must
// be idempotent. The cursor "" is the beginning. The error is [errors.ErrUnsupported] if the backend has no feed.
//
// In PostgreSQL a reader that saves the cursor after it has processed the changes can be killed at any point. In a
// directory and in memory, a cursor is valid only in the store that returned it: after a restart, Resync lists all
// sessions, and the reader skips what it had. Package follow does so.
func (s *Store) Changes(ctx context.Context, cursor string) (*Changes, error) {
	return s.changes(ctx, cursor, false)
}

// NextChanges is like [Store.Changes], but waits until something has changed. What this store writes is delivered at
// once. In a directory, changes of other processes in 1 000 sessions are found within 0.3 s, those in 100 000 within
// half a minute.
func (s *Store) NextChanges(ctx context.Context, cursor string) (*Changes, error) {
	return s.changes(ctx, cursor, true)
}

func (s *Store) changes(ctx context.Context, cursor string, wait bool) (*Changes, error) {
	c, err := s.backend.Changes(ctx, cursor, wait)
	if err != nil {
		return nil, err
	}
	return c, s.giveCauses(ctx, c)
}

// giveCauses says why logs are others than before.
func (s *Store) giveCauses(ctx context.Context, c *Changes) error {
	for i := range c.Changes {
		change := &c.Changes[i]
		if change.Deleted {
			change.Cause = backend.CauseDeleted
		}
		if change.Deleted || change.From > 0 || c.Resync {
			continue
		}
		logs, err := backend.LogsUpTo(ctx, s.backend, *change)
		if err != nil {
			return err
		}
		if len(logs) > 1 {
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

// ReadChange iterates over the entries of a change, in the order of the log, which may be older than the newest. It
// ends with the first error, which is [ErrNotFound] if the log was rewritten, removed or deleted; a later change says
// so.
func (s *Store) ReadChange(ctx context.Context, c Change) iter.Seq2[*entry.Entry, error] {
	return sequence(func(yield func(*entry.Entry) error) error { return s.eachOfChange(ctx, c, yield) })
}

func (s *Store) eachOfChange(ctx context.Context, c Change, yield func(*entry.Entry) error) error {
	if c.To <= c.From {
		return nil
	}
	log, err := s.backend.Log(ctx, c.Key, false)
	if err == nil && log.ID() != c.Log {
		log.Close()
		var logs []backend.Part
		if logs, err = backend.LogsUpTo(ctx, s.backend, c); err == nil && len(logs) == 0 {
			err = fmt.Errorf("%w: log %s of %q", ErrNotFound, c.Log, c.Key)
		}
		if err == nil {
			log, err = s.backend.OpenPart(ctx, c.Key, logs[len(logs)-1])
		}
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
	scan := jsonl.NewScanner(log, c.To, s.opts.Seal)
	scan.From = c.From
	return entriesOf(ctx, scan, yield)
}
