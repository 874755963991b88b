package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
)

// index is a reader of a follower that keeps the time at which each session was told.
type index struct {
	t      *testing.T
	store  *session.Store
	began  time.Time
	told   []string // "after 5s: k 0-100"
	cursor string
}

func (i *index) run(ctx context.Context, opts *session.FollowOptions) {
	f := i.store.Follow(i.cursor, opts)
	for {
		c, err := f.Next(ctx)
		if err != nil {
			assert.ErrorIs(i.t, err, context.Canceled)
			return
		}
		i.take(c)
	}
}

func (i *index) take(c *session.Changes) {
	var keys []string
	for _, change := range c.Changes {
		text := change.Key
		if change.Deleted {
			text += " deleted"
		}
		keys = append(keys, text)
	}
	if c.Resync {
		keys = append([]string{"all:"}, keys...)
	}
	i.told = append(i.told, fmt.Sprintf("%v %s", time.Since(i.began).Round(time.Second), strings.Join(keys, " ")))
	i.cursor = c.Cursor
}

func sayTo(t *testing.T, store *session.Store, key string, n int, text string) {
	s, err := store.Open(t.Context(), key)
	require.NoError(t, err)
	for range n {
		require.NoError(t, s.Append(t.Context(), session.User(text)))
	}
	require.NoError(t, s.Close())
}

func TestFollowerWaitsForEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := session.NewMemory(nil)
		i := &index{t: t, store: store, began: time.Now()}
		sayTo(t, store, "old", 3, "what was there before")
		ctx, cancel := context.WithCancel(t.Context())
		go i.run(ctx, nil)
		synctest.Wait()
		time.Sleep(time.Minute)
		sayTo(t, store, "old", 49, "short")
		time.Sleep(time.Minute)
		sayTo(t, store, "old", 1, "the fiftieth")
		time.Sleep(time.Minute)
		sayTo(t, store, "old", 1, strings.Repeat("x", 99_000))
		time.Sleep(time.Minute)
		sayTo(t, store, "old", 1, strings.Repeat("x", 1_000))
		time.Sleep(3 * time.Second)
		sayTo(t, store, "new", 1, "begun within the same five seconds")
		time.Sleep(time.Minute)
		require.NoError(t, store.Delete(t.Context(), "new"))
		time.Sleep(time.Minute)
		cancel()
		synctest.Wait()
		assert.Equal(t, []string{
			"0s all: old",  // at once
			"2m5s old",     // 50 messages, 5 s after the last of them
			"4m5s new old", // 100 000 bytes, and one that is new
			"5m8s new deleted",
		}, i.told)
	})
}

// TestFollowerIsKilled: changes that are pending when an index is killed are delivered later, or at once on request.
func TestFollowerIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := session.NewMemory(nil)
		sayTo(t, store, "k", 1, "one")
		first := store.Follow("", nil)
		c, err := first.Flush(t.Context())
		require.NoError(t, err)
		require.True(t, c.Resync)
		known := c.Changes[0].To
		sayTo(t, store, "k", 30, "more")
		sayTo(t, store, "other", 1, "begins")
		c, err = first.Next(t.Context())
		require.NoError(t, err)
		require.Len(t, c.Changes, 1, "30 messages are not enough")
		require.Equal(t, "other", c.Changes[0].Key)

		second := store.Follow(c.Cursor, nil) // the first one is gone
		sayTo(t, store, "k", 20, "more")
		c2, err := second.Next(t.Context())
		require.NoError(t, err)
		require.Len(t, c2.Changes, 1)
		assert.Equal(t, known, c2.Changes[0].From, "the 30 of before are told too")

		third := store.Follow(c.Cursor, nil)
		c3, err := third.Flush(t.Context())
		require.NoError(t, err)
		assert.Equal(t, c2.Changes, c3.Changes)
		c3, err = third.Flush(t.Context())
		require.NoError(t, err)
		assert.Empty(t, c3.Changes)

		short, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err = third.Next(short)
		assert.ErrorIs(t, err, context.DeadlineExceeded)

		fourth := store.Follow("nonsense", nil)
		c4, err := fourth.Next(t.Context())
		require.NoError(t, err)
		assert.True(t, c4.Resync)
		assert.Len(t, c4.Changes, 2)
	})
}
