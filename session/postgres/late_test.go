package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/postgres"
)

// TestLateStatementAfterRelease: a statement of a turn arrives when the turn was released, because its connection broke
// or was slow. It neither appends nor begins a lease that nobody holds.
func TestLateStatementAfterRelease(t *testing.T) {
	pool := newPool(t, serverURL(t))
	for name, late := range map[string]func(backend.Turn) (func() error, error){
		"an append": func(turn backend.Turn) (func() error, error) {
			return postgres.BareAppend(context.Background(), turn, []byte("{}\n"))
		},
		"a renewal": postgres.BareRenewal,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBackend(t, pool, postgres.Options{})
			say(t, session.New(b, nil), "k")
			turn, err := b.Turn(t.Context(), "k")
			require.NoError(t, err)
			send, err := late(turn)
			require.NoError(t, err)
			before := logsOf(t, b)
			require.NoError(t, turn.Release())
			require.NoError(t, send())
			requireFree(t, b, "k")
			require.Equal(t, before, logsOf(t, b))
		})
	}
}

// TestTurnCancelledInFlight: the caller gives up while the server is about to give it the turn, and a pooler that does
// not pass on cancellations lets the server finish.
func TestTurnCancelledInFlight(t *testing.T) {
	for name, locked := range map[string]time.Duration{
		"the answer comes soon":                      200 * time.Millisecond,
		"the answer comes too late to be waited for": 2500 * time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			direct := newPool(t, serverURL(t))
			schema := newSchema(t, direct)
			p := newPooler(t, serverURL(t))
			b := newBackend(t, newPool(t, p.address()), postgres.Options{Schema: schema})
			say(t, session.New(b, nil), "k")

			lock, err := direct.Begin(t.Context()) // the statement that takes the turn waits for it
			require.NoError(t, err)
			_, err = lock.Exec(t.Context(), "SELECT FROM "+sessionsOf(schema)+" FOR UPDATE")
			require.NoError(t, err)
			unlocked := make(chan error, 1)
			time.AfterFunc(locked, func() { unlocked <- lock.Rollback(context.Background()) })
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err = b.Turn(ctx, "k")
			require.ErrorIs(t, err, context.DeadlineExceeded)
			var busy *session.BusyError
			require.ErrorAs(t, err, &busy)

			require.NoError(t, <-unlocked)
			requireFree(t, newBackend(t, direct, postgres.Options{Schema: schema}), "k")
		})
	}
}

// TestTurnAnswerLost: the turn was taken, its answer is lost, and the asker gives up before it can ask again.
func TestTurnAnswerLost(t *testing.T) {
	for _, test := range []struct {
		name, key  string
		statements int64 // until the turn is taken
		timeout    time.Duration
		patience   time.Duration
	}{
		{"the caller gives up", "k", 1, 600 * time.Millisecond, time.Minute},
		{"the backend gives up", "k", 1, time.Minute, 600 * time.Millisecond},
		{"of a session that is new", "new", 2, 600 * time.Millisecond, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			direct := newPool(t, serverURL(t))
			schema := newSchema(t, direct)
			p := newPooler(t, serverURL(t))
			b := newBackend(t, newPool(t, p.address()), postgres.Options{Schema: schema, Patience: test.patience})
			say(t, session.New(b, nil), "k")

			p.refuseAfterCut.Store(true)
			p.cutMode = cutAfter
			p.cutAt.Store(p.statements.Load() + test.statements)
			reachable := time.AfterFunc(700*time.Millisecond, func() { p.refuse.Store(false) })
			defer reachable.Stop()
			ctx, cancel := context.WithTimeout(t.Context(), test.timeout)
			defer cancel()
			_, err := b.Turn(ctx, test.key)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			requireFree(t, newBackend(t, direct, postgres.Options{Schema: schema}), test.key)
			require.Equal(t, 1, countSessions(t, direct, schema), "only that which was there before")
		})
	}
}

// requireFree requires that nobody has the turn.
func requireFree(t *testing.T, b *postgres.Backend, key string) {
	t.Helper()
	held, err := b.IsHeld(t.Context(), key)
	require.NoError(t, err)
	require.False(t, held, "nobody has the turn, and it is taken")
}

func countSessions(t *testing.T, pool *pgxpool.Pool, schema string) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM "+sessionsOf(schema)).Scan(&n))
	return n
}

func sessionsOf(schema string) string {
	return fmt.Sprint(pgx.Identifier{schema}.Sanitize(), ".sessions")
}
