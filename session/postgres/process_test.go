package postgres_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/postgres"
	"github.com/winnowgo/winnow/session/upkeep"
)

var (
	fleetTime     = flag.Duration("fleet", 3*time.Second, "how long three processes work on the same sessions")
	fleetSessions = flag.Int("fleet-sessions", 60, "how many sessions they have")
)

// The test binary is also the process that is stopped or killed.
const childVariable = "WINNOW_POSTGRES_CHILD"

// childMain runs the task of a child process. It returns false in the test itself.
func childMain() bool {
	kind := os.Getenv(childVariable)
	run := map[string]func(context.Context, *session.Store) error{"holder": holder, "fleet": fleet}[kind]
	if run == nil {
		return false
	}
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("CHILD_URL"))
	if err == nil {
		var b *postgres.Backend
		b, err = postgres.New(ctx, pool, &postgres.Options{Schema: os.Getenv("CHILD_SCHEMA"), Lease: childLease})
		if err == nil {
			err = run(ctx, session.New(b, agentOptions()))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

const childLease = 600 * time.Millisecond

// child starts this binary as another process.
func child(t *testing.T, kind, url, schema string) (*exec.Cmd, io.WriteCloser, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-fleet-sessions", strconv.Itoa(*fleetSessions))
	cmd.Env = append(os.Environ(), childVariable+"="+kind, "CHILD_URL="+url, "CHILD_SCHEMA="+schema)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, in, bufio.NewScanner(out)
}

// holder takes turns and writes all the time. It reports what was acknowledged, and when it lost a turn.
func holder(ctx context.Context, store *session.Store) error {
	for n := 0; ; n++ {
		s, err := store.Open(ctx, "k")
		if err != nil {
			return err
		}
		id := fmt.Sprintf("%d-%d", os.Getpid(), n)
		err = s.Append(ctx, session.User("begin "+id))
		for i := 0; i < 200 && err == nil; i++ { // a turn that is longer than the pause before the stop
			time.Sleep(time.Millisecond)
			err = s.Append(ctx, answer(fmt.Sprintf("within %s %d", id, i)))
		}
		if err == nil {
			err = s.Append(ctx, answer("end "+id))
		}
		switch {
		case errors.Is(err, session.ErrConflict):
			fmt.Println("lost", id)
		case err != nil:
			return err
		default:
			fmt.Println("acked", id)
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
}

// TestStoppedHolder stops the process that has a turn for longer than its lease, takes the turn, and resumes the
// process: it can no longer write, and takes a new turn.
func TestStoppedHolder(t *testing.T) {
	url := serverURL(t)
	pool := newPool(t, url)
	schema := newSchema(t, pool)
	store := session.New(newBackend(t, pool, postgres.Options{Schema: schema, Lease: childLease}), nil)
	cmd, _, out := child(t, "holder", url, schema)
	var mu sync.Mutex
	var acked []string
	lost := 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		for out.Scan() {
			mu.Lock()
			if what, id, _ := strings.Cut(out.Text(), " "); what == "acked" {
				acked = append(acked, id)
			} else {
				lost++
			}
			mu.Unlock()
		}
	}()
	begun := func() bool { _, err := store.Read(t.Context(), "k"); return err == nil }
	require.Eventually(t, begun, 20*time.Second, time.Millisecond)
	taken := 0
	for n := range 4 {
		time.Sleep(rand.N(50 * time.Millisecond))
		require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
		id := fmt.Sprint("mine-", n)
		s, err := store.Open(t.Context(), "k") // waits for the lease to run out
		require.NoError(t, err)
		wake := func() {
			require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
			time.Sleep(50 * time.Millisecond) // now it tries to write
		}
		if n%2 == 0 { // the log is as the process knows it, and the turn is not
			wake()
		}
		require.NoError(t, s.Append(t.Context(), session.User("begin "+id)))
		if n%2 != 0 {
			wake()
		}
		require.NoError(t, s.Append(t.Context(), answer("end "+id)))
		require.NoError(t, s.Close())
		mu.Lock()
		acked = append(acked, id)
		taken++
		mu.Unlock()
		time.Sleep(childLease / 2)
	}
	require.NoError(t, cmd.Process.Kill())
	<-done
	require.Error(t, cmd.Wait())
	checkTurns(t, store, "k", acked)
	t.Log(taken, "turns taken from a stopped process, which lost", lost, "and finished", len(acked)-taken)
	require.Positive(t, lost)
}

// agentOptions are of a host whose next step is a function of the log alone, and so is its clock.
func agentOptions() *session.Options {
	return &session.Options{Manager: func(string) (int, *winnow.Options) {
		return 6_000, &winnow.Options{Now: func() time.Time { return time.Unix(1_700_000_000, 0) }}
	}}
}

func wordsOf(n int) string {
	return fmt.Sprintf("%d: %s", n, strings.Repeat(fmt.Sprintf("words about %d. ", n*7%13), 5+n*11%60))
}

func messagesOf(s *session.Session) (n int) {
	for _, of := range s.View().Counts.Messages {
		n += of
	}
	return n
}

// agentTurn does what the log says is next, and calls sent with each request.
func agentTurn(
	ctx context.Context, store *session.Store, key string, sent func(n int, request []winnow.Message),
) error {
	s, err := store.Open(ctx, key)
	if err != nil {
		return err
	}
	defer s.Close()
	for range 4 {
		n := messagesOf(s)
		switch i := s.Interrupted(); {
		case i == nil:
			err = s.Append(ctx, session.User("question "+wordsOf(n)))
		case len(i.Calls) > 0:
			err = s.Append(ctx, session.Result(i.Calls[0].ID, "exec", strings.Repeat(wordsOf(n), 1+n%9)))
		default:
			_, err = s.Do(ctx, func(_ context.Context, request []winnow.Message) (winnow.Message, error) {
				sent(n, request)
				m := answer("answer " + wordsOf(n))
				if n%3 != 0 {
					call := winnow.Part{Kind: winnow.KindToolCall, ID: fmt.Sprint("call_", n%40), Name: "exec"}
					m.Parts = append(m.Parts, call)
				}
				return m, nil
			})
		}
		if err != nil {
			return err
		}
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

// fleet is one of the processes that have sessions in common. It works until its input ends.
func fleet(ctx context.Context, store *session.Store) error {
	ctx, stop := context.WithCancel(ctx)
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		stop()
	}()
	var mu sync.Mutex
	var wg sync.WaitGroup
	failed := make(chan error, 8)
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				key := fmt.Sprint("session ", rand.IntN(*fleetSessions))
				err := agentTurn(ctx, store, key, func(n int, request []winnow.Message) {
					mu.Lock()
					fmt.Printf("%s|%d|%s\n", key, n, hashOf(request))
					mu.Unlock()
				})
				if errors.Is(err, session.ErrConflict) { // the machine stood still for longer than a lease
					continue
				}
				if err != nil && ctx.Err() == nil {
					failed <- err
					stop()
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	return <-failed
}

// fleetRun is what the processes of a fleet did.
type fleetRun struct {
	*testing.T
	url, schema string
	end         time.Time
	mu          sync.Mutex
	sent        []sentRequest
	kills       int
}

// sentRequest is the hash of a request, and how many messages the conversation had.
type sentRequest struct {
	n    int
	hash string
}

// process starts a process until the end, again and again if each one is killed after a second.
func (f *fleetRun) process(isKilled bool) {
	for time.Now().Before(f.end) {
		cmd, in, out := child(f.T, "fleet", f.url, f.schema)
		life := time.Until(f.end)
		kill := isKilled && life > 2*time.Second
		if kill {
			life = time.Second
		}
		time.AfterFunc(life, func() {
			if kill {
				cmd.Process.Kill()
			}
			in.Close()
		})
		f.listen(out)
		if err := cmd.Wait(); !kill {
			assert.NoError(f, err)
			continue
		}
		f.mu.Lock()
		f.kills++
		f.mu.Unlock()
	}
}

// listen takes note of the requests that a process says it sent.
func (f *fleetRun) listen(out *bufio.Scanner) {
	for out.Scan() {
		fields := strings.Split(out.Text(), "|")
		if len(fields) != 3 || len(fields[2]) != 16 { // it was killed while it wrote the line
			continue
		}
		n, err := strconv.Atoi(fields[1])
		assert.NoError(f, err)
		f.mu.Lock()
		f.sent = append(f.sent, sentRequest{n, fields[2]})
		f.mu.Unlock()
	}
}

// differing returns how many requests differ from those of a single process, and how long the longest session was.
func (f *fleetRun) differing() (differ, last int) {
	for _, r := range f.sent {
		last = max(last, r.n)
	}
	single := session.NewMemory(agentOptions())
	want := map[int]string{}
	take := func(n int, request []winnow.Message) { want[n] = hashOf(request) }
	for want[last] == "" {
		require.NoError(f, agentTurn(f.Context(), single, "k", take))
	}
	for _, r := range f.sent {
		if want[r.n] != r.hash {
			differ++
		}
	}
	return differ, last
}

// TestThreeProcesses lets three processes work on the same sessions and kills one of them now and then. Each request
// must have the same bytes as in a single process.
func TestThreeProcesses(t *testing.T) {
	t.Parallel()
	pool := newPool(t, serverURL(t))
	f := &fleetRun{T: t, url: serverURL(t), schema: newSchema(t, pool), end: time.Now().Add(*fleetTime)}
	var wg sync.WaitGroup
	for process := range 3 {
		wg.Go(func() { f.process(process == 0) })
	}
	wg.Wait()
	require.NotEmpty(t, f.sent)
	differ, last := f.differing()
	store := session.New(newBackend(t, pool, postgres.Options{Schema: f.schema}), agentOptions())
	compactions, sessions := 0, 0
	for st, err := range store.All(t.Context(), session.Query{}) {
		require.NoError(t, err)
		compactions += st.Counts.Compactions
		sessions++
		report, err := upkeep.Verify(t.Context(), store, st.Key)
		require.NoError(t, err)
		require.Empty(t, report.Damage)
		require.Equal(t, report.Bytes, st.Bytes)
		require.Zero(t, st.Damage)
	}
	t.Logf("%d requests on %d sessions, up to %d messages, %d compactions, %d kills: %d differ",
		len(f.sent), sessions, last, compactions, f.kills, differ)
	require.Zero(t, differ)
}
