// Package postgres keeps sessions in PostgreSQL, for agent servers on many machines that share a database:
// PostgreSQL 15 or newer, for the feed compares numbers of transactions with min and max.
//
//	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
//	…
//	err = postgres.Migrate(ctx, pool, "")
//	…
//	backend, err := postgres.New(ctx, pool, nil)
//	…
//	store := session.New(backend, nil)
//
// A turn is a lease: the process that has it renews it, and when that process dies the lease runs out. Each append
// compares the end of the log and the number of the turn with those that the session has in the database, in one
// statement. So a process that was paused for longer than its lease, and comes back, cannot write: it gets
// session.ErrConflict.
//
// An append whose connection broke is sent again. It carries a number of its own, by which the database tells whether
// it was committed before: it is there once, or the error says that it is not known.
//
// Nothing stays in a connection between two statements or transactions: PgBouncer may stand in front, in its
// transaction mode.
package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/internal/queue"
)

// ErrVersion: the tables are not those of this version of the package.
var ErrVersion = errors.New("postgres: the schema has another version")

const (
	defaultSchema   = "winnow"
	defaultLease    = 15 * time.Second
	defaultPatience = 30 * time.Second
	defaultPoll     = time.Second
)

var readCommitted = pgx.TxOptions{IsoLevel: pgx.ReadCommitted}

// Options are the options of a [Backend]; nil and the zero value mean the defaults.
type Options struct {
	// Schema has the tables ("winnow"). Its name has at most 63 bytes, as PostgreSQL keeps no more.
	Schema string

	// Lease is how long a turn lasts that is not renewed (15 s). It is renewed each third of that. So long the session
	// of a process that died is closed to others.
	Lease time.Duration

	// Patience is how long a database is waited for that cannot be reached, or that restarts (30 s).
	Patience time.Duration

	// Prepare keeps statements prepared in the connections, which spares the database their planning. Not for
	// PgBouncer in transaction mode before 1.21, nor where its max_prepared_statements is 0.
	Prepare bool

	// Poll is how often the feed is asked for changes while one waits for some (1 s).
	Poll time.Duration

	// Notify has each append tell those who wait for changes, so that they hear of it at once. Appends of all sessions
	// then commit one after the other, which was measured to make them 6 to 11 times fewer; and who waits keeps a
	// connection, which PgBouncer in transaction mode does not allow.
	Notify bool
}

// Backend is a [session.Backend] in PostgreSQL. It is safe for concurrent use.
type Backend struct {
	pool   *pgxpool.Pool
	opts   Options
	mode   pgx.QueryExecMode
	sql    statements
	queues queue.Queues // of those in this process who want the same turn
	leases leases
}

var (
	_ session.Lister     = (*Backend)(nil)
	_ session.Feeder     = (*Backend)(nil)
	_ session.Maintainer = (*Backend)(nil)
)

// New returns a backend on the tables that [Migrate] makes. The error is [ErrVersion] if they are not there. The pool
// stays the caller's: it is closed after the backend. As many appends run at the same time as it has connections.
func New(ctx context.Context, pool *pgxpool.Pool, opts *Options) (*Backend, error) {
	b := &Backend{pool: pool, mode: pgx.QueryExecModeCacheDescribe}
	if opts != nil {
		b.opts = *opts
	}
	b.opts.Schema = orDefault(b.opts.Schema)
	if b.opts.Lease <= 0 {
		b.opts.Lease = defaultLease
	}
	if b.opts.Patience <= 0 {
		b.opts.Patience = defaultPatience
	}
	if b.opts.Poll <= 0 {
		b.opts.Poll = defaultPoll
	}
	switch conn := pool.Config().ConnConfig; {
	case b.opts.Prepare:
		b.mode = pgx.QueryExecModeCacheStatement
	case conn.DescriptionCacheCapacity == 0: // the host wants none
		b.mode = pgx.QueryExecModeExec
	}
	if err := checkSchema(b.opts.Schema); err != nil {
		return nil, err
	}
	b.sql = newStatements(b.opts.Schema, b.opts.Notify)
	b.leases.backend = b
	if err := checkVersion(ctx, pool, b.opts.Schema); err != nil {
		return nil, err
	}
	return b, nil
}

// Keys implements [session.Backend].
func (b *Backend) Keys(ctx context.Context) (keys []string, err error) {
	err = b.retry(ctx, func(ctx context.Context) error {
		rows, err := b.pool.Query(ctx, b.sql.keys, b.mode)
		if err != nil {
			return err
		}
		keys, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			var key []byte
			err := row.Scan(&key)
			return string(key), err
		})
		return err
	})
	return keys, err
}

// Delete implements [session.Backend]. The row of the session stays, and says that it was deleted.
func (b *Backend) Delete(ctx context.Context, key string) error {
	if err := session.CheckKey(key); err != nil {
		return err
	}
	return b.retry(ctx, func(ctx context.Context) error {
		return pgx.BeginTxFunc(ctx, b.pool, readCommitted, func(tx pgx.Tx) error {
			var id int64
			err := tx.QueryRow(ctx, b.sql.markDeleted, b.mode, []byte(key)).Scan(&id)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
			// Statements of their own: they see what was appended while the first one waited for the row.
			if _, err = tx.Exec(ctx, b.sql.deleteChunks, b.mode, id); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, b.sql.deleteLogs, b.mode, id)
			return err
		})
	})
}

// Close implements [session.Backend]. Turns that are still held run out.
func (b *Backend) Close() error {
	b.leases.stop()
	return nil
}
