package postgres_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/postgres"
	"github.com/winnowgo/winnow/session/upkeep"
)

var (
	serverKills = flag.Int("server-kills", 2, "how often the server is killed while 64 clients write")
	everyCut    = flag.Bool("every-cut", false, "break the connection at each statement, not at some")
)

func textOf(m winnow.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

func answer(text string) winnow.Message {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: text}}}
}

// fixedClock makes the lines of two runs the same.
func fixedClock() *session.Options {
	now := func() time.Time { return time.Unix(1_700_000_000, 0) }
	manager := func(string) (int, *winnow.Options) { return 8_000, &winnow.Options{Now: now} }
	return &session.Options{Now: now, Manager: manager}
}

// script does one of each thing that writes.
func script(ctx context.Context, store *session.Store) error {
	s, err := store.Open(ctx, "k")
	if err != nil {
		return err
	}
	defer s.Close()
	model := func(context.Context, []winnow.Message) (winnow.Message, error) { return answer("an answer"), nil }
	title := "a title"
	var leaf string
	for _, step := range []func() error{
		func() error { return s.Append(ctx, session.User("a question")) },
		func() error { _, err := s.Do(ctx, model); leaf = s.Leaf(); return err },
		func() error { return store.SetInfo(ctx, "k", session.Info{Title: &title}) },
		func() error {
			return s.Append(ctx, session.User(strings.Repeat("a long question ", 50_000)), answer("short"))
		},
		func() error { return s.Rewind(ctx, leaf) },
		func() error { return s.Reset(ctx, "enough", nil) },
		func() error { return s.Append(ctx, session.User("after the reset")) },
		func() error { return s.Close() },
		func() error { return store.Fork(ctx, "k", "", "fork") },
		func() error { return store.Fork(ctx, "k", "", "gone") },
		func() error { return store.Delete(ctx, "gone") },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// logsOf returns the lines of all newest logs.
func logsOf(t *testing.T, b backend.Backend) map[string]string {
	t.Helper()
	ctx := context.Background()
	keys, err := b.Keys(ctx)
	require.NoError(t, err)
	logs := map[string]string{}
	for _, key := range keys {
		l, err := b.Log(ctx, key, false)
		require.NoError(t, err)
		size, err := l.Size()
		require.NoError(t, err)
		text := make([]byte, size)
		_, err = l.ReadAt(text, 0)
		require.NoError(t, err)
		logs[key] = l.ID() + "\n" + string(text)
	}
	return logs
}

// TestConnectionCut breaks the connection at each statement of a script. The script ends as if nothing had happened:
// the logs have the same bytes.
func TestConnectionCut(t *testing.T) {
	t.Parallel()
	direct := newPool(t, serverURL(t))
	want := newBackend(t, direct, postgres.Options{})
	require.NoError(t, script(t.Context(), session.New(want, fixedClock())))
	reference := logsOf(t, want)
	require.Len(t, reference, 2)
	for _, mode := range []cutMode{cutBefore, cutDuring, cutAfter} {
		t.Run(string(mode), func(t *testing.T) {
			cuts := 0
			for at := int64(1); ; at++ {
				if !*everyCut && at%6 != int64(len(mode)%6) && at > 1 {
					continue
				}
				p := newPooler(t, serverURL(t))
				schema := newSchema(t, direct)
				b := newBackend(t, newPool(t, p.address()), postgres.Options{Schema: schema})
				p.cutMode = mode
				p.cutAt.Store(p.statements.Load() + at)
				require.NoError(t, script(t.Context(), session.New(b, fixedClock())), "cut at statement %d", at)
				require.Equal(t, reference, logsOf(t, b), "cut at statement %d", at)
				if p.statements.Load() < p.cutAt.Load() {
					break
				}
				cuts++
			}
			t.Log(cuts, "cuts")
			require.Positive(t, cuts)
		})
	}
}

// TestNoAnswer: the database is gone after an append was sent. The error says that the outcome is unknown; if nothing
// was sent, it says that nothing happened.
func TestNoAnswer(t *testing.T) {
	direct := newPool(t, serverURL(t))
	schema := newSchema(t, direct)
	p := newPooler(t, serverURL(t))
	pool := newPool(t, p.address())
	store := session.New(newBackend(t, pool, postgres.Options{Schema: schema, Patience: 300 * time.Millisecond}), nil)
	s, err := store.Open(t.Context(), "k")
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), session.User("one")))

	p.refuse.Store(true)
	pool.Reset()
	err = s.Append(t.Context(), session.User("never sent"))
	require.Error(t, err)
	require.NotErrorIs(t, err, session.ErrSync)
	p.refuse.Store(false)
	require.NoError(t, s.Append(t.Context(), session.User("two")), "the session is as it was")

	p.refuseAfterCut.Store(true)
	p.cutMode = cutAfter
	p.cutAt.Store(p.statements.Load() + 1)
	require.ErrorIs(t, s.Append(t.Context(), session.User("three")), session.ErrSync)
	p.refuse.Store(false)
	require.ErrorIs(t, s.Append(t.Context(), session.User("four")), session.ErrSync)
	require.NoError(t, s.Close())
	v, err := session.New(newBackend(t, direct, postgres.Options{Schema: schema}), nil).Read(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two", "three"}, texts(v))
}

// TestCallerGivesUp: the context ends while an append is under way. What became of it is found out nevertheless.
func TestCallerGivesUp(t *testing.T) {
	direct := newPool(t, serverURL(t))
	schema := newSchema(t, direct)
	store := session.New(newBackend(t, direct, postgres.Options{Schema: schema}), nil)
	s, err := store.Open(t.Context(), "k")
	require.NoError(t, err)
	var want []string
	for n := range 50 {
		ctx, cancel := context.WithTimeout(t.Context(), rand.N(3*time.Millisecond))
		text := fmt.Sprint("message ", n)
		if err := s.Append(ctx, session.User(text)); err == nil {
			want = append(want, text)
		} else {
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		cancel()
	}
	require.NoError(t, s.Append(t.Context(), session.User("the end")))
	require.NoError(t, s.Close())
	v, err := store.Read(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, append(want, "the end"), texts(v))
}

const killedWriters = 64

// TestKilledServer kills all processes of the server, again and again, while 64 clients write. Nothing that was
// acknowledged is missing, nothing is there twice, and no turn lies within another.
func TestKilledServer(t *testing.T) {
	t.Parallel() // with others that do not follow the feed: a transaction of anybody holds that back
	cluster := ownCluster(t)
	config, err := pgxpool.ParseConfig(cluster.URL())
	require.NoError(t, err)
	config.MaxConns = killedWriters / 2 // so that some wait for a connection
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	require.NoError(t, postgres.Migrate(t.Context(), pool, ""))
	b, err := postgres.New(t.Context(), pool, nil)
	require.NoError(t, err)
	store := session.New(b, nil)

	done := make(chan struct{})
	var wg sync.WaitGroup
	finish := sync.OnceFunc(func() { close(done); wg.Wait() })
	defer finish()
	acked := make([][]string, killedWriters)
	failed := make([]int, killedWriters)
	for w := range killedWriters {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				id := fmt.Sprintf("%d-%d", w, n)
				if err := turnOf(context.Background(), store, writerKey(w), id); err == nil {
					acked[w] = append(acked[w], id)
				} else if failed[w]++; !isKnown(err) {
					t.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	for range *serverKills {
		time.Sleep(300*time.Millisecond + rand.N(400*time.Millisecond))
		require.NoError(t, cluster.Kill())
		require.NoError(t, cluster.Restart())
	}
	time.Sleep(300 * time.Millisecond)
	finish()
	turns, failures := 0, 0
	for w := range killedWriters {
		turns, failures = turns+len(acked[w]), failures+failed[w]
	}
	for w := range killedWriters / 2 { // two writers share a session
		checkTurns(t, store, writerKey(w), append(acked[w], acked[w+killedWriters/2]...))
	}
	t.Logf("%d kills, %d acknowledged turns, %d failed", *serverKills, turns, failures)
	require.Positive(t, turns)
}

func writerKey(w int) string { return fmt.Sprint("key ", w%(killedWriters/2)) }

// isKnown reports whether a writer may get err while the server is killed: the conversation continues after opening
// again.
func isKnown(err error) bool {
	return errors.Is(err, session.ErrConflict) || errors.Is(err, session.ErrSync)
}

// turnOf writes the beginning and the end of a turn, and something beside it.
func turnOf(ctx context.Context, store *session.Store, key, id string) error {
	s, err := store.Open(ctx, key)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Append(ctx, session.User("begin "+id)); err != nil {
		return err
	}
	if err := store.AddUsage(ctx, key, "m", winnow.Usage{Input: 1}); err != nil {
		return err
	}
	return s.Append(ctx, answer("end "+id))
}

// checkTurns requires every acknowledged turn once, nothing twice, and no turn within another.
func checkTurns(t *testing.T, store *session.Store, key string, acked []string) {
	t.Helper()
	report, err := upkeep.Verify(context.Background(), store, key)
	require.NoError(t, err)
	assert.Empty(t, report.Damage, key)
	v, err := store.Read(context.Background(), key)
	require.NoError(t, err)
	seen, ends := map[string]int{}, map[string]int{}
	open := ""
	for _, m := range v.History {
		text := textOf(m)
		seen[text]++
		what, id, _ := strings.Cut(text, " ")
		if what == "begin" { // the one before it may have no end: its writer was told that it failed
			open = id
			continue
		}
		id, _, _ = strings.Cut(id, " ")
		require.Equal(t, open, id, "a turn within another one of %s", key)
		if what == "end" {
			ends[id]++
			open = ""
		}
	}
	for text, n := range seen {
		assert.Equal(t, 1, n, "%s of %s", text, key)
	}
	for _, id := range acked {
		assert.Equal(t, 1, ends[id], "the turn %s of %s", id, key)
	}
}

func texts(v *session.View) (out []string) {
	for _, m := range v.History {
		out = append(out, textOf(m))
	}
	return out
}
