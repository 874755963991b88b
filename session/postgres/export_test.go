package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
)

// ExplainList returns the plan of a list, with its cost.
func ExplainList(ctx context.Context, b *Backend, q session.Query) (string, error) {
	sql, args, err := b.listSQL(&q)
	if err != nil {
		return "", err
	}
	rows, err := b.pool.Query(ctx, "EXPLAIN ANALYZE "+sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
	if err != nil {
		return "", err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}

// BareAppend returns a function that runs the statement of an append to a session that is open, and nothing else.
func BareAppend(ctx context.Context, of backend.Turn, lines []byte) (func() error, error) {
	t := of.(*turn)
	l, err := t.Log(ctx)
	if err != nil {
		return nil, err
	}
	a, err := newAppend(l.(*log), l.(*log).known, lines, true)
	if err != nil {
		return nil, err
	}
	if a.log != a.next {
		if _, err := a.try(ctx, ctx); err != nil {
			return nil, err
		}
		a.log, a.end, a.at = a.next, int64(len(lines)), int64(len(lines))
	}
	b := t.backend
	return func() error {
		_, err := b.pool.Exec(ctx, b.sql.one.durable, b.mode, a.session, a.log, a.end, a.fence, a.next,
			a.end+int64(len(lines)), a.number, b.opts.Lease.Microseconds(), a.end, lines,
			a.status, a.updated, a.isPinned, a.isArchived)
		a.end += int64(len(lines))
		return err
	}, nil
}

// BareRenewal returns a function that runs the statement which renews a turn.
func BareRenewal(of backend.Turn) (func() error, error) {
	t := of.(*turn)
	b := t.backend
	return func() error {
		ids, fences := []int64{t.head.id}, []int64{t.head.fence}
		_, err := b.pool.Exec(context.Background(), b.sql.renew, b.mode, ids, fences, b.opts.Lease.Microseconds())
		return err
	}, nil
}
