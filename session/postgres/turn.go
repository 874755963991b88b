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
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/keys"
)

// How often to try a turn that somebody else has.
const (
	firstTry = 5 * time.Millisecond
	lastTry  = 200 * time.Millisecond
)

// longestFarewell is how long to wait for the answer to a statement that takes a turn after its caller gave up. If the
// answer does not come, it also limits giving the turn back.
const longestFarewell = 2 * time.Second

// turn is a lease on a session.
type turn struct {
	backend *Backend
	key     string
	mu      sync.Mutex // protects the fields below, except the id and the fence of head, which never change
	head    head       // as of taking the turn; log and made as the turn left them
	isFresh bool       // head may be used: it is still up to date
	once    sync.Once
}

// Turn implements [backend.Backend]. If ctx ends while the database is asked for the turn, the call may take some
// seconds longer, to give back a turn that it got nevertheless.
func (b *Backend) Turn(ctx context.Context, key string) (backend.Turn, error) {
	if err := backend.CheckKey(key); err != nil {
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

// takeTurn takes the turn. It waits while somebody else has the lease.
func (b *Backend) takeTurn(ctx context.Context, key string) (*turn, error) {
	t := &turn{backend: b, key: key}
	asker := make([]byte, 16)
	rand.Read(asker) // never fails
	for pause := firstTry; ; pause = min(2*pause, lastTry) {
		mayHaveIt := false
		err := b.retry(ctx, func(ctx context.Context) error {
			sent, err := t.take(ctx, asker)
			if t.isFresh || sent && err != nil && isUnknown(err) {
				mayHaveIt = true
			}
			return err
		})
		if err == nil && t.isFresh {
			err = context.Cause(ctx)
		}
		if err != nil && mayHaveIt {
			t.giveBack(ctx, asker)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, b.busy(ctx, key)
		case err != nil:
			return nil, err
		case t.isFresh:
			return t, nil
		}
		if wait(ctx, pause) != nil {
			return nil, b.busy(ctx, key)
		}
	}
}

// take takes the turn if nobody has it. Once the statement is sent, take waits for the answer for some time after ctx
// has ended, because the turn may already be taken. sent is false if the database was not asked.
func (t *turn) take(ctx context.Context, asker []byte) (sent bool, err error) {
	b := t.backend
	c, err := b.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer c.Release()
	answered, cancel := outlast(ctx, longestTry, longestFarewell)
	defer cancel()
	host, _ := os.Hostname() // for information only
	kind := string(keys.TypeOf(t.key))
	args := []any{b.mode, []byte(t.key), b.opts.Lease.Microseconds(), asker, os.Getpid(), host, kind}
	for _, sql := range []string{b.sql.takeTurn, b.sql.makeSession} {
		err := t.head.scan(c.QueryRow(answered, sql, args...))
		if !errors.Is(err, pgx.ErrNoRows) {
			t.isFresh = err == nil
			return true, err
		}
	}
	return true, nil
}

// giveBack releases the turn if the asker, who gives up, has it: otherwise the session would be blocked for a whole
// lease. A failure is not reported, because the lease then runs out.
func (t *turn) giveBack(ctx context.Context, asker []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestFarewell)
	defer cancel()
	b := t.backend
	_ = b.retry(ctx, func(ctx context.Context) error {
		hasIt := t.isFresh
		if !hasIt {
			err := t.head.scan(b.pool.QueryRow(ctx, b.sql.asked, b.mode, []byte(t.key), asker), &hasIt)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
		}
		if !hasIt {
			return nil
		}
		return t.release(ctx)
	})
}

// busy returns an error that says who has the turn, if the database answers at once: ctx has ended.
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

// IsHeld implements [backend.Backend].
func (b *Backend) IsHeld(ctx context.Context, key string) (held bool, err error) {
	err = b.retry(ctx, func(ctx context.Context) error {
		return b.pool.QueryRow(ctx, b.sql.isHeld, b.mode, []byte(key)).Scan(&held)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return held, err
}

// Log implements [backend.Turn].
func (t *turn) Log(ctx context.Context) (backend.Log, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.head
	if !t.isFresh {
		if err := t.backend.readHead(ctx, &now, t.backend.sql.current, t.head.id); err != nil {
			return nil, err
		}
	}
	t.isFresh = false
	l, err := t.backend.openHead(ctx, t.key, now)
	if err != nil {
		return nil, err
	}
	t.head.log, t.head.made = now.log, now.made
	l.turn = t
	return l, nil
}

// Next implements [backend.Turn].
func (t *turn) Next(ctx context.Context, lines []byte) (backend.Log, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := &log{backend: t.backend, turn: t, key: t.key, session: t.head.id, number: t.head.made + 1, isWritable: true}
	next.status = &session.Status{Key: t.key, Log: logID(next.number)}
	a, err := newAppend(next, 0, lines, true)
	if err != nil {
		return nil, err
	}
	a.log, a.end, a.fence = t.head.log, anyEnd, t.head.fence
	if err := a.run(ctx); err != nil {
		return nil, err
	}
	t.head.log, t.head.made = next.number, next.number
	next.known, next.statusEnd = int64(len(lines)), int64(len(lines))
	return next, nil
}

// Flush implements [backend.Turn].
func (t *turn) Flush(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.backend
	flushed := false
	err := b.retry(ctx, func(ctx context.Context) error {
		tag, err := b.pool.Exec(ctx, b.sql.flush, b.mode, t.head.id, t.head.fence, b.opts.Lease.Microseconds())
		flushed = tag.RowsAffected() > 0
		return err
	})
	if err == nil && !flushed {
		if err = t.Check(); err == nil {
			err = errTurnEnded
		}
	}
	return err
}

// begun records a log that an append made.
func (t *turn) begun(number int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.head.log, t.head.made = number, number
}

// Check implements [backend.Turn].
func (t *turn) Check() error {
	var now head
	return t.backend.readHead(context.Background(), &now, t.backend.sql.current, t.head.id)
}

// Release implements [backend.Turn]. It deletes a session without a log, so that looking for a session leaves nothing
// behind.
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
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.backend
	if t.head.log == 0 {
		tag, err := b.pool.Exec(ctx, b.sql.forget, b.mode, t.head.id, t.head.fence)
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
	}
	_, err := b.pool.Exec(ctx, b.sql.release, b.mode, t.head.id, t.head.fence)
	return err
}
