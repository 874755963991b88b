// Package postgres keeps sessions in PostgreSQL, for agent servers on many machines that share a database. It needs
// PostgreSQL 15 or newer, whose min and max take the numbers of transactions that the feed compares.
//
//	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
//	…
//	err = postgres.Migrate(ctx, pool, "")
//	…
//	backend, err := postgres.New(ctx, pool, nil)
//	…
//	store := session.New(backend, nil)
//
// A turn is a lease: its process renews it, and when that process dies the lease runs out. In one statement, each
// append compares the end of the log and the number of the turn with those in the database. So a process that was
// paused for longer than its lease can no longer write: it gets session.ErrConflict.
//
// If the connection breaks during an append, the append is sent again. It carries a random number, by which the
// database recognizes whether it was already committed. So it is stored once, or the error says that the outcome is
// unknown.
//
// No state stays in a connection between statements or transactions, so PgBouncer may stand in front, in its
// transaction mode.
package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/queue"
)

// ErrVersion: the tables do not fit this version of the package.
var ErrVersion = errors.New("postgres: the schema has another version")

const (
	defaultSchema   = "winnow"
	defaultLease    = 15 * time.Second
	defaultPatience = 30 * time.Second
	defaultPoll     = time.Second
)

var readCommitted = pgx.TxOptions{IsoLevel: pgx.ReadCommitted}

// Options are the options of a [Backend]. nil and the zero value mean the defaults.
type Options struct {
	// Schema is the schema of the tables ("winnow"). Its name has at most 63 bytes, because PostgreSQL keeps no more.
	Schema string

	// Lease is how long a turn lasts unless it is renewed (15 s). It is renewed after each third of that. If a process
	// dies, its sessions are blocked until their leases run out.
	Lease time.Duration

	// Patience is how long to wait for a database that restarts or cannot be reached (30 s).
	Patience time.Duration

	// Prepare keeps statements prepared in the connections, which saves planning time. Do not set it with PgBouncer in
	// transaction mode before version 1.21, or if its max_prepared_statements is 0.
	Prepare bool

	// Poll is how often the feed looks for changes while somebody waits for them (1 s).
	Poll time.Duration

	// Notify makes each append notify those who wait for changes, so that they hear of it at once. The appends of all
	// sessions then commit one after another: we measured 6 to 11 times fewer appends per second. Each waiting call
	// also keeps a connection, which PgBouncer in transaction mode does not allow.
	Notify bool
}

// Backend is a [backend.Backend] in PostgreSQL. It is safe for concurrent use.
type Backend struct {
	pool   *pgxpool.Pool
	opts   Options
	mode   pgx.QueryExecMode
	sql    statements
	queues queue.Queues // orders the callers in this process that want the same turn
	leases leases
}

var (
	_ backend.Backend = (*Backend)(nil)
)

// New returns a backend on the tables that [Migrate] creates. The error is [ErrVersion] if they are missing. The caller
// keeps the pool, and closes it after the backend. At most one append runs at a time on each connection of the pool.
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
	case conn.DescriptionCacheCapacity == 0: // the host disabled the cache
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

// Keys implements [backend.Backend].
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

// Delete implements [backend.Backend]. The row of the session stays and marks it as deleted.
func (b *Backend) Delete(ctx context.Context, key string) error {
	if err := backend.CheckKey(key); err != nil {
		return err
	}
	return b.retry(ctx, func(ctx context.Context) error {
		return b.durably(ctx, func(tx pgx.Tx) error {
			var id int64
			err := tx.QueryRow(ctx, b.sql.markDeleted, b.mode, []byte(key)).Scan(&id)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
			// Separate statements: they see what was appended while the first one waited for the row.
			if _, err = tx.Exec(ctx, b.sql.deleteChunks, b.mode, id); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, b.sql.deleteLogs, b.mode, id)
			return err
		})
	})
}

// durably runs f in a transaction that survives a power loss once durably has returned, even if the role commits
// without waiting for the disk.
func (b *Backend) durably(ctx context.Context, f func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, b.pool, readCommitted, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, b.sql.commitDurable, b.mode); err != nil {
			return err
		}
		return f(tx)
	})
}

// Close implements [backend.Backend]. Turns that are still held run out.
func (b *Backend) Close() error {
	b.leases.stop()
	return nil
}
