package session_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/upkeep"
)

// agent is a host whose next step is a function of the log alone, and so is its clock.
type agent struct {
	store    *session.Store
	messages int
	sent     func(messages int, request []winnow.Message)
	acked    func(messages int)
}

const agentWindow = 6_000

func newAgent(dir string) (*agent, error) {
	a := &agent{sent: func(int, []winnow.Message) {}, acked: func(int) {}}
	var err error
	a.store, err = session.OpenDirectory(dir, &session.Options{Manager: func(string) (int, *winnow.Options) {
		return agentWindow, &winnow.Options{Now: a.now}
	}})
	return a, err
}

// now stands still until a message is appended, and makes a long pause at times.
func (a *agent) now() time.Time {
	return time.Unix(1_700_000_000+int64(a.messages)*10+int64(a.messages/50)*3600, 0)
}

func (a *agent) count(s *session.Session) {
	a.messages = 0
	for _, n := range s.View().Counts.Messages {
		a.messages += n
	}
}

func wordsOf(n int) string {
	return fmt.Sprintf("%d: %s", n, strings.Repeat(fmt.Sprintf("words about %d. ", n*7%13), 5+n*11%60))
}

// model answers as a function of how many messages there are.
func (a *agent) model(_ context.Context, request []winnow.Message) (winnow.Message, error) {
	a.sent(a.messages, request)
	m := answer("answer " + wordsOf(a.messages))
	if a.messages%3 != 0 {
		m.Parts = append(m.Parts, call(fmt.Sprintf("call_%d", a.messages%40), "exec").Parts...) // ids are used again
	}
	if a.messages%2 == 0 {
		m.Usage = &winnow.Usage{Input: 1000 + a.messages, Output: 50}
	}
	return m, nil
}

// turn does what the log says is next.
func (a *agent) turn(ctx context.Context, key string) error {
	s, err := a.store.Open(ctx, key)
	if err != nil {
		return err
	}
	defer s.Close()
	for range 4 {
		a.count(s)
		switch i := s.Interrupted(); {
		case i == nil:
			err = s.Append(ctx, session.User("question "+wordsOf(a.messages)))
		case len(i.Calls) > 0:
			err = s.Append(ctx, session.Result(i.Calls[0].ID, "exec", strings.Repeat(wordsOf(a.messages), 1+a.messages%9)))
		default:
			_, err = s.Do(ctx, a.model)
		}
		if err != nil {
			return err
		}
		a.count(s)
		a.acked(a.messages)
	}
	return nil
}

func hashOf(request []winnow.Message) string {
	text, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

func writerChild(dir string) error {
	a, err := newAgent(filepath.Join(dir, "store"))
	if err != nil {
		return err
	}
	requests, err := os.OpenFile(filepath.Join(dir, "requests"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	a.sent = func(n int, request []winnow.Message) { fmt.Fprintf(requests, "%d %s\n", n, hashOf(request)) }
	a.acked = func(n int) { fmt.Println(n) }
	for {
		if err := a.turn(context.Background(), "k"); err != nil {
			return err
		}
	}
}

// TestKilledWriter kills a writing process at random times, again and again. Nothing that it acknowledged is missing,
// and each of its requests is the same as that of a process that was never killed.
func TestKilledWriter(t *testing.T) {
	t.Parallel()
	inTurns(*kills, func(runs int, random *rand.Rand) { killWriter(t, runs, random) })
}

// inTurns calls f until all kills are done, with a few hundred at a time: each call begins with an empty store, so that
// its last kills do not wait for a process that reads what all others wrote.
func inTurns(kills int, f func(runs int, random *rand.Rand)) {
	const most = 250
	if testing.Short() {
		kills = min(kills, 5)
	}
	for done := 0; done < kills; done += most {
		f(min(most, kills-done), rand.New(rand.NewPCG(uint64(done), 1)))
	}
}

func killWriter(t *testing.T, runs int, random *rand.Rand) {
	dir := t.TempDir()
	acked := 0
	for n := range runs {
		cmd, out := child(t, "writer", dir)
		wait := time.Duration(random.IntN(20_000)) * time.Microsecond
		started := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			for first := true; out.Scan(); first = false {
				if first {
					close(started)
				}
				if i, err := strconv.Atoi(out.Text()); err == nil {
					acked = max(acked, i)
				}
			}
		}()
		if n%2 == 0 { // half of them while they open
			select {
			case <-started:
			case <-done:
			}
		}
		time.Sleep(wait)
		require.NoError(t, cmd.Process.Kill())
		<-done
		require.Error(t, cmd.Wait())
	}
	a, err := newAgent(filepath.Join(dir, "store"))
	require.NoError(t, err)
	v, err := a.store.Read(context.Background(), "k")
	require.NoError(t, err)
	total := 0
	for _, n := range v.Counts.Messages {
		total += n
	}
	require.GreaterOrEqual(t, total, acked)
	report, err := upkeep.Verify(context.Background(), a.store, "k")
	require.NoError(t, err)
	assert.Empty(t, report.Damage)

	reference := map[int]string{}
	r, err := newAgent(t.TempDir())
	require.NoError(t, err)
	r.sent = func(n int, request []winnow.Message) { reference[n] = hashOf(request) }
	for r.messages < total {
		require.NoError(t, r.turn(context.Background(), "k"))
	}
	text, err := os.ReadFile(filepath.Join(dir, "requests"))
	require.NoError(t, err)
	requests, differ := 0, 0
	for line := range strings.Lines(string(text)) {
		n, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
		at, err := strconv.Atoi(n)
		require.NoError(t, err)
		if requests++; reference[at] != hash {
			differ++
		}
	}
	if runs >= 200 {
		assert.Positive(t, v.Counts.Compactions)
	}
	assert.Zero(t, differ, "requests that are not those of a process that was not killed")
	t.Logf("%d kills, %d messages, %d compactions, %d bytes, %d requests, %d differ", runs, total, v.Counts.Compactions, report.Bytes, requests, differ)
}
