package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/postgres"
	"github.com/winnowgo/winnow/session/upkeep"
)

// TestDurableWhateverTheRole kills the server, whose roles do not wait for the disk when they commit, as soon as
// something was acknowledged. All of that is there afterwards: appends, deletions, erasures, and copies, even those into a
// store with less durability.
func TestDurableWhateverTheRole(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	// The server's own writer must not come to the rescue: what no commit waits for stays in memory for 10 s.
	server := ownCluster(t, "synchronous_commit=off", "wal_writer_delay=10s", "wal_writer_flush_after=1GB",
		"autovacuum=off", "checkpoint_timeout=1d", "bgwriter_delay=10s")
	pool := newPool(t, server.URL())
	backend := newBackend(t, pool, postgres.Options{Lease: time.Second})
	store := session.New(backend, nil)
	soon := session.New(backend, &session.Options{Durability: session.OS})
	source := session.NewMemory(nil)
	say(t, source, "k")
	text := func(s *session.Store, key string) string {
		t.Helper()
		log, err := s.Backend().Log(ctx, key, false)
		if err != nil {
			return err.Error()
		}
		size, err := log.Size()
		require.NoError(t, err)
		data := make([]byte, size)
		_, err = log.ReadAt(data, 0)
		require.NoError(t, err)
		return string(data)
	}
	// kill does something, kills the server at once, and returns what is stored under a key before and after.
	kill := func(key string, do func() error) (before, after string) {
		t.Helper()
		require.NoError(t, do())
		before = text(store, key)
		require.NoError(t, server.Kill())
		require.NoError(t, server.Restart())
		pool.Reset()
		require.Eventually(t, func() bool { return pool.Ping(ctx) == nil }, time.Minute, 10*time.Millisecond)
		return before, text(store, key)
	}

	say(t, soon, "soon") // a new log is durable in any case
	before, after := "", ""
	for range 5 { // on a slow machine the server has time to write it
		if before, after = kill("soon", func() error { say(t, soon, "soon"); return nil }); before != after {
			break
		}
	}
	require.NotEqual(t, before, after, "the server loses what nobody waited for, or this test shows nothing")
	for _, round := range []string{"a new copy", "an updated one"} {
		before, after = kill("k", func() error { return upkeep.Copy(ctx, source, soon, "k") })
		require.Equal(t, before, after, round)
		require.Equal(t, text(source, "k"), after, round)
		say(t, source, "k")
	}

	for _, key := range []string{"a", "b"} {
		before, after = kill(key, func() error { say(t, store, key); return nil })
		require.Equal(t, before, after, "an append")
	}
	before, after = kill("a", func() error { return store.Delete(ctx, "a") })
	require.Equal(t, before, after, "a deletion")
	require.Contains(t, after, session.ErrNotFound.Error())
	ids, err := store.Read(ctx, "b")
	require.NoError(t, err)
	before, after = kill("b", func() error {
		_, err := upkeep.EraseEntries(context.Background(), store, "b", "", ids.IDs[0])
		return err
	})
	require.Equal(t, before, after, "an erasure")
	require.Contains(t, after, `"type":"erased"`)
}
