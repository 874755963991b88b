package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/postgres"
	"github.com/winnowgo/winnow/session/upkeep"
)

// TestErasersAtTheSameTime: the erasers of two processes erase in a session and its forks, while others write to them
// and archive them. Nothing of what was asked for is left, and nothing that was acknowledged is missing.
func TestErasersAtTheSameTime(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	pool := newPool(t, serverURL(t))
	schema := newSchema(t, pool)
	var stores [2]*session.Store
	for i := range stores {
		stores[i] = session.New(newBackend(t, pool, postgres.Options{Schema: schema}), nil)
	}
	keys := []string{"k", "fork", "fork of the fork"}
	const secrets = 4
	s, err := stores[0].Open(ctx, keys[0])
	require.NoError(t, err)
	for n := range secrets {
		yes := winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: "yes"}}}
		require.NoError(t, s.Append(ctx, session.User(fmt.Sprintf("secret <%d>", n)), yes))
	}
	ids := s.View().IDs
	require.NoError(t, s.Close())
	for i, key := range keys[1:] {
		require.NoError(t, stores[0].Fork(ctx, keys[i], "", key))
	}

	var erasers, others sync.WaitGroup
	done := make(chan struct{})
	meanwhile := func(f func() error) {
		others.Go(func() {
			for ctx.Err() == nil {
				assert.NoError(t, f())
				select {
				case <-done:
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
	turns, said := 0, map[string]int{}
	meanwhile(func() error {
		key := keys[turns%len(keys)]
		turns++
		s, err := stores[1].Open(ctx, key)
		if err != nil {
			return err
		}
		defer s.Close()
		if err = s.Append(ctx, session.User("more")); err == nil {
			said[key]++
		}
		return err
	})
	meanwhile(func() error {
		plan, err := upkeep.MakePlan(ctx, stores[0], upkeep.Maintenance{ArchiveAfter: 1})
		if err == nil {
			_, err = upkeep.Apply(ctx, stores[0], plan)
		}
		return err
	})
	for n := range secrets {
		erasers.Go(func() {
			r, err := upkeep.EraseEntries(ctx, stores[n%2], keys[0], "", ids[2*n])
			if assert.NoError(t, err) {
				assert.Equal(t, []string{ids[2*n]}, r.Entries)
				assert.Empty(t, r.Unread)
			}
		})
	}
	erasers.Wait()
	close(done)
	others.Wait()
	for _, key := range keys {
		v, err := stores[0].Read(ctx, key)
		require.NoError(t, err)
		require.Len(t, v.History, 2*secrets+said[key], key)
		for _, m := range v.History {
			assert.NotContains(t, m.Parts[0].Text, "secret", key)
		}
	}
}
