package session_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// listProgram is a random program of several sessions whose list and feed are read.
type listProgram struct {
	t      *testing.T
	random *rand.Rand
	store  *session.Store
	open   map[string]*session.Session
	acked  map[string]int
	reader sessiontest.FeedReader
}

func (p *listProgram) step(ctx context.Context) error {
	key := fmt.Sprint("k", p.random.IntN(4))
	s := p.open[key]
	switch n := p.random.IntN(12); {
	case n == 0:
		for _, err := range p.store.All(ctx, session.Query{}) {
			if err != nil {
				return err
			}
		}
		return nil
	case n < 3:
		c, err := p.store.Changes(ctx, p.reader.Cursor)
		if err != nil {
			return err
		}
		return p.reader.Take(c)
	case n == 3:
		if s == nil {
			return nil
		}
		p.acked[key] = 0
		return s.Reset(ctx, "test", nil)
	case n == 4 && s == nil:
		p.acked[key] = 0
		return p.store.Delete(ctx, key)
	case n == 5:
		title := fmt.Sprint("title ", p.random.IntN(100))
		err := p.store.SetInfo(ctx, key, session.Info{Title: &title})
		if errors.Is(err, session.ErrNotFound) {
			err = nil
		}
		return err
	case s == nil:
		s, err := p.store.Open(ctx, key)
		if err == nil {
			p.open[key] = s
		}
		return err
	case n == 6:
		delete(p.open, key)
		return s.Close()
	}
	if err := s.Append(ctx, session.User("hello"), answer("hello")); err != nil {
		return err
	}
	p.acked[key]++
	return nil
}

// TestListSurvivesPowerLoss runs random programs that lose power after each of their file operations. What was
// acknowledged is listed, and a reader of the feed that continues from its cursor knows everything.
func TestListSurvivesPowerLoss(t *testing.T) {
	t.Parallel()
	for seed := range times.Of(uint64(3)) {
		fsys := sessiontest.NewCrashFS()
		random := rand.New(rand.NewPCG(seed, 1))
		p := &listProgram{t: t, random: random, open: map[string]*session.Session{}, acked: map[string]int{}}
		var err error
		p.store, err = sessiontest.OpenFiles(fsys, nil)
		require.NoError(t, err)
		inStep := false
		crash := rand.New(rand.NewPCG(seed, 2))
		fsys.After(func(op sessiontest.Operation) {
			if !inStep || crash.IntN(4) > 0 {
				return
			}
			loss := sessiontest.Losses()[crash.IntN(len(sessiontest.Losses()))]
			name := fmt.Sprintf("program %d, after %s %d of %s, loss %v", seed, op.Name, op.Index, op.Path, loss)
			checkAfterPowerLoss(t, fsys.Crash(loss, crash), p, name)
		})
		for range 120 {
			inStep = true
			require.NoError(t, p.step(t.Context()))
			inStep = false
		}
		requireListed(t, p.store, p.acked, fmt.Sprint("program ", seed, " at its end"))
		fsys.After(nil)
	}
}

func checkAfterPowerLoss(t *testing.T, fsys *sessiontest.CrashFS, p *listProgram, name string) {
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err, name)
	requireListed(t, store, p.acked, name)
	reader := sessiontest.FeedReader{Cursor: p.reader.Cursor, Known: map[string]session.Change{}}
	for key, change := range p.reader.Known {
		reader.Known[key] = change
	}
	c, err := store.Changes(t.Context(), reader.Cursor)
	require.NoError(t, err, name)
	require.NoError(t, reader.Take(c), name)
	require.NoError(t, reader.Check(t.Context(), store), name)
	sayTo(t, store, "k1", 1, "goes on")
	requireListed(t, store, nil, name)
	require.NoError(t, store.Close())
}
