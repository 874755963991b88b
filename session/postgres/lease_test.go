package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/postgres"
)

// TestLeasesBesideLongArchive archives a log for longer than a lease. The process continues to renew its other turns,
// and still has the turn of the archived session afterwards.
func TestLeasesBesideLongArchive(t *testing.T) {
	const lease = 2 * time.Second // renewed each third of it, which a busy machine may delay
	pool := newPool(t, serverURL(t))
	schema := newSchema(t, pool)
	b := newBackend(t, pool, postgres.Options{Schema: schema, Lease: lease})
	store := session.New(b, nil)
	for _, key := range []string{"archived", "other"} {
		say(t, store, key)
	}
	archived, err := b.Turn(t.Context(), "archived")
	require.NoError(t, err)
	other, err := b.Turn(t.Context(), "other")
	require.NoError(t, err)
	parts, err := b.Parts(t.Context(), "archived")
	require.NoError(t, err)

	slow, err := pool.Begin(t.Context()) // the archive waits for it
	require.NoError(t, err)
	defer slow.Rollback(context.Background())
	_, err = slow.Exec(t.Context(), fmt.Sprintf("SELECT FROM %s.chunks FOR UPDATE", pgx.Identifier{schema}.Sanitize()))
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := b.Archive(context.Background(), archived, parts[0], time.Now())
		done <- err
	}()
	time.Sleep(5 * lease / 2)
	held, err := b.IsHeld(t.Context(), "other")
	require.NoError(t, err)
	require.True(t, held, "the lease of another session ran out")
	require.NoError(t, slow.Rollback(t.Context()))
	require.NoError(t, <-done)
	held, err = b.IsHeld(t.Context(), "archived")
	require.NoError(t, err)
	require.True(t, held, "the lease ran out while the session was archived")
	require.NoError(t, archived.Release())
	require.NoError(t, other.Release())
}

// TestLogWhileLeasesAreRenewed has the race detector look at a turn that is used while it is renewed.
func TestLogWhileLeasesAreRenewed(t *testing.T) {
	b := newBackend(t, newPool(t, serverURL(t)), postgres.Options{Lease: 3 * time.Millisecond})
	say(t, session.New(b, nil), "k")
	turn, err := b.Turn(t.Context(), "k")
	require.NoError(t, err)
	for range 30 {
		log, err := turn.Log(t.Context())
		require.NoError(t, err)
		require.NoError(t, log.Close())
	}
	require.NoError(t, turn.Release())
}

// say appends a message to a session.
func say(t *testing.T, store *session.Store, key string) {
	t.Helper()
	s, err := store.Open(t.Context(), key)
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), session.User("hello")))
	require.NoError(t, s.Close())
}
