package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/postgres"
)

// follower follows the feed.
type follower struct {
	t      *testing.T
	store  *session.Store
	cursor string
	known  map[string]session.Change // the newest of each session
}

// follow takes changes, and requires that each begins where the last change of its session ended, or before.
func (f *follower) follow(c *session.Changes) {
	f.t.Helper()
	if c.Resync {
		f.known = map[string]session.Change{}
	}
	for _, change := range c.Changes {
		before, isKnown := f.known[change.Key]
		switch {
		case change.Deleted:
			delete(f.known, change.Key)
			continue
		case !isKnown || before.Log != change.Log:
			require.Zero(f.t, change.From, "%+v after %+v", change, before)
		default:
			require.LessOrEqual(f.t, change.From, before.To, "%+v after %+v", change, before)
		}
		f.known[change.Key] = change
	}
	f.cursor = c.Cursor
}

// agrees requires that the feed and the store agree.
func (f *follower) agrees() {
	f.t.Helper()
	n := 0
	for st, err := range f.store.All(f.t.Context(), session.Query{}) {
		require.NoError(f.t, err)
		require.Equal(f.t, st.Bytes, f.known[st.Key].To, st.Key)
		require.Equal(f.t, st.Log, f.known[st.Key].Log, st.Key)
		n++
	}
	require.Len(f.t, f.known, n)
}

func (f *follower) changes() *session.Changes {
	f.t.Helper()
	c, err := f.store.Changes(f.t.Context(), f.cursor)
	require.NoError(f.t, err)
	f.follow(c)
	return c
}

// TestFeed follows the feed while others write, reset and delete.
func TestFeed(t *testing.T) {
	pool := newPool(t, serverURL(t))
	store := session.New(newBackend(t, pool, postgres.Options{Poll: 5 * time.Millisecond}), nil)
	f := &follower{t: t, store: store}
	require.True(t, f.changes().Resync)
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			for n := range 25 {
				if err := writeSome(t.Context(), store, fmt.Sprint("k", (w+n)%8), n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	rounds := 0
	for isDone := false; !isDone; rounds++ {
		select {
		case <-done:
			isDone = true
		default:
		}
		require.False(t, f.changes().Resync)
	}
	f.changes()
	f.agrees()
	require.Empty(t, f.changes().Changes)
	require.Greater(t, rounds, 1)

	stranger := &follower{t: t, store: session.New(newBackend(t, pool, postgres.Options{}), nil), cursor: f.cursor}
	require.True(t, stranger.changes().Resync, "a cursor of another store")
	for _, cursor := range []string{"", "x", f.cursor[:36], f.cursor + "x", f.cursor + "000000"} {
		again := &follower{t: t, store: store, cursor: cursor}
		require.True(t, again.changes().Resync, cursor)
		again.agrees()
	}
}

func writeSome(ctx context.Context, store *session.Store, key string, n int) error {
	s, err := store.Open(ctx, key)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Append(ctx, session.User(fmt.Sprint("hello ", n))); err != nil {
		return err
	}
	switch rand.IntN(8) {
	case 0:
		return s.Reset(ctx, "test", nil)
	case 1:
		return store.Delete(ctx, key)
	}
	return s.Append(ctx, answer("hello"))
}

// TestFeedWaitsForOlderTransactions: a change is told only once nothing can come before it any more.
func TestFeedWaitsForOlderTransactions(t *testing.T) {
	pool := newPool(t, serverURL(t))
	store := session.New(newBackend(t, pool, postgres.Options{}), nil)
	f := &follower{t: t, store: store}
	f.changes()
	older, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer older.Rollback(context.Background()) // where the test ends early
	_, err = older.Exec(t.Context(), "SELECT pg_current_xact_id()")
	require.NoError(t, err)
	require.NoError(t, writeOne(t.Context(), store, "k"))
	require.Empty(t, f.changes().Changes)
	require.NoError(t, older.Commit(t.Context()))
	require.Len(t, f.changes().Changes, 1)
	f.agrees()
}

func writeOne(ctx context.Context, store *session.Store, key string) error {
	s, err := store.Open(ctx, key)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Append(ctx, session.User("hello"))
}

// TestNotify: a waiting reader gets a change at once.
func TestNotify(t *testing.T) {
	pool := newPool(t, serverURL(t))
	store := session.New(newBackend(t, pool, postgres.Options{Notify: true, Poll: time.Minute}), nil)
	f := &follower{t: t, store: store}
	f.changes()
	for n := range 5 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			c, err := store.NextChanges(t.Context(), f.cursor)
			if err == nil {
				f.follow(c)
			} else {
				t.Error(err)
			}
		}()
		time.Sleep(rand.N(20 * time.Millisecond))
		require.NoError(t, writeOne(t.Context(), store, fmt.Sprint("k", n)))
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("nobody told of a change")
		}
	}
	for len(f.changes().Changes) > 0 {
	}
	f.agrees()
}

// TestFeedTellsOfArchived: changes that were archived before a follower read them are delivered, exactly once.
func TestFeedTellsOfArchived(t *testing.T) {
	b := newBackend(t, newPool(t, serverURL(t)), postgres.Options{})
	f := &follower{t: t, store: session.New(b, nil)}
	f.changes()
	say(t, f.store, "k")
	turn, err := b.Turn(t.Context(), "k")
	require.NoError(t, err)
	parts, err := b.Parts(t.Context(), "k")
	require.NoError(t, err)
	_, err = b.Archive(t.Context(), turn, parts[0], time.Now())
	require.NoError(t, err)
	require.NoError(t, turn.Release())
	require.Eventually(t, func() bool { return len(f.changes().Changes) > 0 }, 10*time.Second, 20*time.Millisecond)
	f.agrees()
	require.Empty(t, f.changes().Changes)
}
