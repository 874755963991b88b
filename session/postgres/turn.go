package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/winnowgo/winnow/session"
)

// How often a turn is tried that somebody else has.
const (
	firstTry = 5 * time.Millisecond
	lastTry  = 200 * time.Millisecond
)

// turn is a lease on a session.
type turn struct {
	backend *Backend
	key     string
	id      int64 // of the session
	fence   int64 // its turns, with this one
	log     int32 // the newest; only the holder of the turn makes another
	size    int64 // of log, when the turn was taken; -1: it was told already
	once    sync.Once
}

// Turn implements [session.Backend].
func (b *Backend) Turn(ctx context.Context, key string) (session.Turn, error) {
	if err := session.CheckKey(key); err != nil {
		return nil, err
	}
	if err := b.queues.Enter(ctx, key); err != nil {
		return nil, &session.BusyError{Cause: err}
	}
	t, err := b.takeTurn(ctx, key)
	if err != nil {
		b.queues.Leave(key)
		return nil, err
	}
	b.leases.add(t)
	return t, nil
}

// takeTurn waits for the lease of somebody else to end.
func (b *Backend) takeTurn(ctx context.Context, key string) (*turn, error) {
	t := &turn{backend: b, key: key}
	asker := make([]byte, 16)
	rand.Read(asker) // never fails
	for pause := firstTry; ; pause = min(2*pause, lastTry) {
		taken := false
		err := b.retry(ctx, func(ctx context.Context) (err error) {
			taken, err = t.take(ctx, asker)
			return err
		})
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, b.busy(ctx, key)
		case err != nil:
			return nil, err
		case taken:
			return t, nil
		}
		if wait(ctx, pause) != nil {
			return nil, b.busy(ctx, key)
		}
	}
}

// take takes the turn if nobody has it.
func (t *turn) take(ctx context.Context, asker []byte) (taken bool, err error) {
	b := t.backend
	host, _ := os.Hostname() // it only informs
	args := []any{b.mode, []byte(t.key), b.opts.Lease.Microseconds(), asker, os.Getpid(), host}
	for _, sql := range []string{b.sql.takeTurn, b.sql.makeSession} {
		err = b.pool.QueryRow(ctx, sql, args...).Scan(&t.id, &t.fence, &t.log, &t.size)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err == nil, err
		}
	}
	return false, nil
}

// busy says who has the turn, if that can be had at once: ctx has ended.
func (b *Backend) busy(ctx context.Context, key string) error {
	busy := &session.BusyError{Cause: context.Cause(ctx)}
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	row := b.pool.QueryRow(short, b.sql.holder, b.mode, []byte(key))
	if row.Scan(&busy.PID, &busy.Host, &busy.Since) != nil {
		busy.PID = 0
	}
	return busy
}

// Log implements [session.Turn].
func (t *turn) Log(context.Context) (session.Log, error) {
	l := &log{backend: t.backend, turn: t, session: t.id, number: t.log, known: t.size, writable: true}
	t.size = -1
	return l, nil
}

// Next implements [session.Turn].
func (t *turn) Next(ctx context.Context, lines []byte) (session.Log, error) {
	next := &log{backend: t.backend, turn: t, session: t.id, number: t.log + 1, known: int64(len(lines)), writable: true}
	a := newAppend(next, 0, lines, true)
	a.log, a.end = t.log, anyEnd
	if err := a.run(ctx); err != nil {
		return nil, err
	}
	t.log++
	return next, nil
}

// Check implements [session.Turn].
func (t *turn) Check() error {
	deleted := false
	err := t.backend.retry(context.Background(), func(ctx context.Context) error {
		return t.backend.pool.QueryRow(ctx, t.backend.sql.check, t.backend.mode, t.id).Scan(&deleted)
	})
	if deleted || errors.Is(err, pgx.ErrNoRows) {
		return session.ErrDeleted
	}
	return err
}

// Release implements [session.Turn]. A session that has no log goes, so that nothing is left of one that was only
// looked for.
func (t *turn) Release() (err error) {
	t.once.Do(func() {
		b := t.backend
		b.leases.remove(t)
		err = b.retry(context.Background(), t.release)
		b.queues.Leave(t.key)
	})
	if err != nil {
		return fmt.Errorf("postgres: the turn of %q ends with its lease: %w", t.key, err)
	}
	return nil
}

func (t *turn) release(ctx context.Context) error {
	b := t.backend
	if t.log == 0 {
		tag, err := b.pool.Exec(ctx, b.sql.forget, b.mode, t.id, t.fence)
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
	}
	_, err := b.pool.Exec(ctx, b.sql.release, b.mode, t.id, t.fence)
	return err
}
