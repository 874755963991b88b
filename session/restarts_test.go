package session_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// TestRestartChangesNoRequest runs random programs, whose clock jumps back at times, on a session, its forks and
// theirs. After each step another process takes over from the log alone: its next request has the bytes of the one that
// the running process makes, if it makes one.
func TestRestartChangesNoRequest(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	requests, refused := 0, 0
	for seed := range times.Of(uint64(7)) {
		fsys := sessiontest.NewCrashFS()
		p := &program{t: t, random: rand.New(rand.NewPCG(seed, 3)), key: "k", now: time.Unix(1_700_000_000, 0)}
		clock := func() time.Time { return p.now }
		opts := &session.Options{Now: clock, Manager: func(string) (int, *winnow.Options) {
			return window, &winnow.Options{Now: clock}
		}}
		var err error
		p.store, err = sessiontest.OpenFiles(fsys, opts)
		require.NoError(t, err)
		for step := range 40 {
			name := fmt.Sprintf("program %d, step %d", seed, step)
			p.now = p.now.Add(time.Duration(p.random.IntN(900)-200) * time.Second)
			if p.s == nil && len(p.forks) > 0 && p.random.IntN(2) == 0 {
				p.key, p.leaves = p.forks[p.random.IntN(len(p.forks))], nil
			}
			do := p.step
			if p.s != nil && p.random.IntN(3) == 0 {
				do = p.rareStep
			}
			if err := do(ctx); !errors.Is(err, winnow.ErrOverflow) {
				require.NoError(t, err, name)
			}
			if p.s == nil {
				continue
			}
			other, err := sessiontest.OpenFiles(fsys.Kill(), opts)
			require.NoError(t, err, name)
			taken, err := other.Resume(ctx, p.key)
			require.NoError(t, err, name)
			running, again := p.s.View(), taken.View()
			require.Equal(t, running.Leaf, again.Leaf, name)
			require.Equal(t, fmt.Sprint(running.IDs), fmt.Sprint(again.IDs), name)
			require.Equal(t, bytesOf(running.History), bytesOf(again.History), name)
			got, failed := taken.Prepare(ctx)
			want, err := p.s.Prepare(ctx)
			if err != nil { // another process may have fewer tools, so that it may make the request
				require.ErrorIs(t, err, winnow.ErrOverflow, name)
				if failed != nil {
					require.ErrorIs(t, failed, winnow.ErrOverflow, name)
				}
				refused++
				continue
			}
			require.NoError(t, failed, name)
			require.Equal(t, bytesOf(want.Messages), bytesOf(got.Messages), name)
			require.Equal(t, want.FirstChanged, got.FirstChanged, name)
			require.NoError(t, taken.Close(), name)
			requests++
		}
	}
	t.Log(requests, "requests;", refused, "times the running process could make none")
	require.Positive(t, requests)
}

func bytesOf(messages []winnow.Message) string {
	return hashOf(append([]winnow.Message{}, messages...))
}

// rareStep does what hosts do less often.
func (p *program) rareStep(ctx context.Context) error {
	ids := p.s.View().IDs
	some := func() string { return ids[p.random.IntN(len(ids))] }
	switch n := p.random.IntN(9); {
	case n == 0:
		return p.s.Inject(ctx, "host", p.random.IntN(2) == 0, session.User(p.words()))
	case n == 1 && len(p.leaves) > 0:
		return p.s.SummarizeBranch(ctx, p.leaves[p.random.IntN(len(p.leaves))], p.words())
	case n == 2:
		return p.s.AddData(ctx, "note", []byte(`{"n":1}`))
	case n == 3:
		return p.s.Abandon(ctx)
	case n == 4 && len(ids) > 0:
		return onlyStorage(p.s.Edit(ctx, some(), nil, "left out"))
	case n == 5 && len(ids) > 0: // of a message that is then on another branch, and edited from there
		id := some()
		if err := p.s.Rewind(ctx, id); err != nil {
			return err
		}
		m := session.User("edited " + p.words())
		return onlyStorage(p.s.Edit(ctx, ids[len(ids)-1], &m, "perhaps on no branch"))
	case n == 6:
		system := winnow.Message{Role: winnow.RoleSystem, Pinned: p.random.IntN(2) == 0, Parts: []winnow.Part{{Text: p.words()}}}
		return p.s.Append(ctx, system)
	case n == 7: // a result that is too large, and a provider that refuses it
		id := fmt.Sprintf("call_%d", p.random.IntN(3)) // used again
		err := p.s.Append(ctx, call(id, "read"), session.Result(id, "read", strings.Repeat(p.words(), 30)))
		if err != nil {
			return err
		}
		refusals := p.random.IntN(3)
		_, err = p.s.Do(ctx, func(ctx context.Context, request []winnow.Message) (winnow.Message, error) {
			if refusals--; refusals >= 0 {
				return winnow.Message{}, errors.New("400: prompt is too long: 4500 tokens > 4000 maximum")
			}
			return p.model(ctx, request)
		})
		return err
	default:
		_, err := p.s.Truncate(ctx)
		return err
	}
}
