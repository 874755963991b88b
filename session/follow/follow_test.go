package follow_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/follow"
	"github.com/winnowgo/winnow/session/upkeep"
)

// index is a reader of a follower that keeps the time at which each session was told.
type index struct {
	t      *testing.T
	store  *session.Store
	began  time.Time
	told   []string // "after 5s: k 0-100"
	cursor string
}

func (i *index) run(ctx context.Context, opts *follow.Options) {
	f := follow.New(i.store, i.cursor, opts)
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
		first := follow.New(store, "", nil)
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

		second := follow.New(store, c.Cursor, nil) // the first one is gone
		sayTo(t, store, "k", 20, "more")
		c2, err := second.Next(t.Context())
		require.NoError(t, err)
		require.Len(t, c2.Changes, 1)
		assert.Equal(t, known, c2.Changes[0].From, "the 30 of before are told too")

		third := follow.New(store, c.Cursor, nil)
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

		fourth := follow.New(store, "nonsense", nil)
		c4, err := fourth.Next(t.Context())
		require.NoError(t, err)
		assert.True(t, c4.Resync)
		assert.Len(t, c4.Changes, 2)
	})
}

// TestFollowerReadsWhatWasThereBeforeAReset: nothing that was written before a session was begun anew stays unread, in
// however many logs, whether or not some of it was pending.
func TestFollowerReadsWhatWasThereBeforeAReset(t *testing.T) {
	for name, open := range map[string]func() (*session.Store, error){
		"memory":    func() (*session.Store, error) { return session.NewMemory(nil), nil },
		"directory": func() (*session.Store, error) { return session.OpenDirectory(t.TempDir(), nil) },
	} {
		for _, pending := range []int{0, 3} {
			t.Run(fmt.Sprint(name, " ", pending, " pending"), func(t *testing.T) {
				store, err := open()
				require.NoError(t, err)
				sayTo(t, store, "k", 1, "known")
				f := follow.New(store, "", &follow.Options{Debounce: -1})
				_, err = f.Next(t.Context())
				require.NoError(t, err)
				sayTo(t, store, "k", pending, "pending")
				sayTo(t, store, "other", 1, "begun")
				c, err := f.Next(t.Context())
				require.NoError(t, err)
				require.Len(t, c.Changes, 1, "the other one; what is pending is too little")
				assert.Empty(t, c.Changes[0].Cause, "it is new")

				f = follow.New(store, c.Cursor, &follow.Options{Debounce: -1})
				sayTo(t, store, "k", 2, "before")
				for _, text := range []string{"between", "after"} {
					s, err := store.Open(t.Context(), "k")
					require.NoError(t, err)
					require.NoError(t, s.Reset(t.Context(), "asked", nil))
					require.NoError(t, s.Append(t.Context(), session.User(text)))
					require.NoError(t, s.Close())
				}
				c, err = f.Next(t.Context())
				require.NoError(t, err)
				require.Len(t, c.Changes, 3, "a change for each log")
				assert.Equal(t, backend.CauseReset, c.Changes[2].Cause)
				var said []string
				for _, change := range c.Changes {
					for e, err := range store.ReadChange(t.Context(), change) {
						require.NoError(t, err)
						if e.Type == entry.TypeMessage {
							said = append(said, e.Message.Parts[0].Text)
						}
					}
				}
				want := append(slices.Repeat([]string{"pending"}, pending), "before", "before", "between", "after")
				if said[0] == "known" { // delivered again
					said = said[1:]
				}
				assert.Equal(t, want, said)

				c, err = f.Flush(t.Context())
				require.NoError(t, err)
				assert.Empty(t, c.Changes)
			})
		}
	}
}

// TestFollowerSkipsWhatItHas: an index whose process was killed is told only what it has not read, whatever happened to
// the sessions meanwhile.
func TestFollowerSkipsWhatItHas(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	have := map[string]session.Change{}
	said := map[string][]string{}
	run := func() {
		store, err := session.OpenDirectory(dir, nil)
		require.NoError(t, err)
		f := follow.New(store, "", &follow.Options{Have: func(key string) (string, int64) {
			return have[key].Log, have[key].To
		}})
		c, err := f.Flush(ctx)
		require.NoError(t, err)
		there := map[string]bool{}
		for _, change := range c.Changes {
			if change.Deleted {
				delete(said, change.Key)
				continue
			}
			there[change.Key], have[change.Key] = true, change
			for e, err := range store.ReadChange(ctx, change) {
				require.NoError(t, err)
				if e.Type == entry.TypeMessage {
					said[change.Key] = append(said[change.Key], e.Message.Parts[0].Text)
				}
			}
		}
		for key := range said {
			if !there[key] {
				delete(said, key)
				delete(have, key)
			}
		}
		require.NoError(t, store.Close())
	}
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	for _, key := range []string{"same", "grown", "reset", "deleted", "anew", "rewritten"} {
		sayTo(t, store, key, 2, "one")
	}
	run()
	sayTo(t, store, "grown", 1, "two")
	sayTo(t, store, "reset", 1, "two")
	for _, text := range []string{"three", "four"} {
		s, err := store.Open(ctx, "reset")
		require.NoError(t, err)
		require.NoError(t, s.Reset(ctx, "asked", nil))
		require.NoError(t, s.Append(ctx, session.User(text)))
		require.NoError(t, s.Close())
	}
	require.NoError(t, store.Delete(ctx, "deleted"))
	require.NoError(t, store.Delete(ctx, "anew"))
	sayTo(t, store, "anew", 1, "two")
	_, err = upkeep.EraseEntries(ctx, store, "rewritten", "", "e2")
	require.NoError(t, err)
	for range 2 {
		run()
		require.Equal(t, map[string][]string{
			"same": {"one", "one"}, "grown": {"one", "one", "two"}, "reset": {"one", "one", "two", "three", "four"},
			"anew": {"two"}, "rewritten": {"one"},
		}, said)
	}
	require.NoError(t, store.Close())
}
