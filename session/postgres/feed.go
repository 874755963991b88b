package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/winnowgo/winnow/session"
)

// Changes implements [backend.Backend].
func (b *Backend) Changes(ctx context.Context, cursor string, wait bool) (*session.Changes, error) {
	for {
		c, err := b.changesNow(ctx, cursor)
		if err != nil || !wait || c.Resync || len(c.Changes) > 0 {
			return c, err
		}
		cursor = c.Cursor
		b.wait(ctx, cursor)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// changesNow returns what has changed by now.
func (b *Backend) changesNow(ctx context.Context, cursor string) (*session.Changes, error) {
	id, err := b.storeID(ctx)
	if err != nil {
		return nil, err
	}
	store, since, _ := strings.Cut(cursor, ".")
	if store == id && isNumber(since) {
		c, err := b.changes(ctx, id, b.sql.changes, since)
		if err != nil || !isBefore(c.Cursor[len(id)+1:], since) { // a copy of the database has other numbers
			return c, err
		}
	}
	c, err := b.changes(ctx, id, b.sql.everything)
	if err == nil {
		c.Resync = true
	}
	return c, err
}

// storeID returns the id of this store.
func (b *Backend) storeID(ctx context.Context) (id string, err error) {
	err = b.retry(ctx, func(ctx context.Context) error {
		return b.pool.QueryRow(ctx, b.sql.storeID, b.mode).Scan(&id)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = fmt.Errorf("%w: its table store is empty", ErrVersion)
	}
	return id, err
}

func isNumber(text string) bool {
	return text != "" && len(text) <= 20 && strings.Trim(text, "0123456789") == ""
}

// isBefore compares numbers of transactions, which have no leading zeros.
func isBefore(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

// changes runs a query whose first row holds the horizon.
func (b *Backend) changes(ctx context.Context, id, sql string, args ...any) (c *session.Changes, err error) {
	err = b.retry(ctx, func(ctx context.Context) error {
		c = &session.Changes{}
		rows, err := b.pool.Query(ctx, sql, append([]any{b.mode}, args...)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := addChange(c, rows, id); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return c, err
}

// addChange takes a row.
func addChange(c *session.Changes, rows pgx.Rows, id string) error {
	var key []byte
	var number int32
	var change session.Change
	var seen string
	to := []any{&key, &number, &change.From, &change.To, &change.Deleted, &seen}
	if len(rows.FieldDescriptions()) > len(to) {
		to = append(to, nil) // the sort columns
	}
	if err := rows.Scan(to...); err != nil {
		return err
	}
	if seen != "" {
		c.Cursor = id + "." + seen
		return nil
	}
	change.Key, change.Log = string(key), logID(number)
	c.Changes = append(c.Changes, change)
	return nil
}

// wait waits until something may have changed.
func (b *Backend) wait(ctx context.Context, cursor string) {
	if b.opts.Notify {
		b.listen(ctx, cursor)
		return
	}
	select {
	case <-time.After(b.opts.Poll):
	case <-ctx.Done():
	}
}

// listen waits on a separate connection until somebody notifies of a change.
func (b *Backend) listen(ctx context.Context, cursor string) {
	short, cancel := context.WithTimeout(ctx, b.opts.Poll)
	defer cancel()
	conn, err := b.pool.Acquire(short)
	if err != nil {
		return // the next query reports it
	}
	c := conn.Hijack() // it listens, so it must not return to the pool
	defer c.Close(context.WithoutCancel(ctx))
	if _, err := c.Exec(short, "LISTEN "+channel); err != nil {
		return
	}
	_, since, _ := strings.Cut(cursor, ".")
	hasNews := !isNumber(since)
	if !hasNews {
		err = c.QueryRow(short, b.sql.news, b.mode, since).Scan(&hasNews)
	}
	if err == nil && !hasNews {
		_, _ = c.WaitForNotification(short) // or until Poll has passed
	}
}
