package session_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/upkeep"
)

var (
	kills          = flag.Int("kills", 20, "how often the writer is killed")
	concurrentTime = flag.Duration("concurrent", time.Second, "how long two processes write at the same time")
)

// The test binary is also the process that is killed.
func TestMain(m *testing.M) {
	switch os.Getenv("SESSION_CHILD") {
	case "writer":
		exitOn(writerChild(os.Getenv("SESSION_DIR")))
	case "many":
		exitOn(manyChild(os.Getenv("SESSION_DIR")))
	case "keeper":
		exitOn(keeperChild(os.Getenv("SESSION_DIR")))
	case "opener":
		exitOn(openerChild(os.Getenv("SESSION_DIR")))
	case "list":
		exitOn(listChild(os.Getenv("SESSION_DIR")))
	case "ticking":
		exitOn(tickingChild(os.Getenv("SESSION_DIR")))
	case "feed":
		exitOn(feedChild(os.Getenv("SESSION_DIR")))
	case "holder":
		exitOn(holderChild(os.Getenv("SESSION_DIR")))
	}
	// What the tests keep is small, and what they throw away is not: with the default the collector takes most of the
	// time of the tests that crash after every operation.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child starts this binary as another process.
func child(t *testing.T, kind, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SESSION_CHILD="+kind, "SESSION_DIR="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

const (
	manyKeys, manyWriters = 200, 16
	busyKeys, busyWriters = 8, 4 // sessions of these keys are written to beside their turns as well
)

// manyChild writes from many goroutines until its input ends.
func manyChild(dir string) error {
	store, err := session.OpenDirectory(dir, &session.Options{Durability: session.OS})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		os.Stdin.Read(make([]byte, 1))
		stop()
	}()
	var wg sync.WaitGroup
	var mu sync.Mutex
	errs := make(chan error, manyWriters+busyWriters)
	acknowledge := func(what, key, id string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf("%s|%s|%s|\n", what, key, id)
	}
	for g := range busyWriters {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				key, id := fmt.Sprintf("key %d", n%busyKeys), fmt.Sprintf("%d-beside-%d-%d", os.Getpid(), g, n)
				err := store.AddData(ctx, key, "beside", []byte(strconv.Quote(id)))
				switch {
				case err == nil:
					acknowledge("note", key, id)
				case ctx.Err() == nil && !errors.Is(err, session.ErrNotFound):
					errs <- fmt.Errorf("%s: %w", key, err)
					return
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	for g := range manyWriters {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(g)))
			for n := 0; ctx.Err() == nil; n++ {
				key := fmt.Sprintf("key %d", random.IntN([]int{manyKeys, busyKeys}[n%2]))
				id := fmt.Sprintf("%d-%d-%d", os.Getpid(), g, n)
				if err := oneTurn(store, key, id); err != nil {
					errs <- fmt.Errorf("%s: %w", key, err)
					return
				}
				acknowledge("turn", key, id)
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

// oneTurn writes the beginning and the end of a turn, and beside it usage and a title.
func oneTurn(store *session.Store, key, id string) error {
	ctx := context.Background()
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
	if err := store.SetInfo(ctx, key, session.Info{Title: &id}); err != nil {
		return err
	}
	return s.Append(ctx, answer("end "+id))
}

// TestTwoProcesses lets two processes write to the same sessions, and sometimes kills one of them.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	duration := *concurrentTime
	if testing.Short() {
		duration = 300 * time.Millisecond
	}
	dir := t.TempDir()
	acked, notes := map[string][]string{}, map[string][]string{} // by key
	var mu sync.Mutex
	run := func(kill bool) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SESSION_CHILD=many", "SESSION_DIR="+dir)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		time.AfterFunc(min(duration, time.Second), func() {
			if kill {
				cmd.Process.Kill()
			}
		})
		seen := map[string]bool{}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			f := strings.Split(lines.Text(), "|")
			if len(f) != 4 { // the process was killed while it wrote
				continue
			}
			// The time begins with the first turn and the first note: a busy machine may be slow to get there.
			if !kill && len(seen) < 2 {
				if seen[f[0]] = true; len(seen) == 2 {
					time.AfterFunc(duration, func() { in.Close() })
				}
			}
			mu.Lock()
			if f[0] == "turn" {
				acked[f[1]] = append(acked[f[1]], f[2])
			} else {
				notes[f[1]] = append(notes[f[1]], f[2])
			}
			mu.Unlock()
		}
		if err := cmd.Wait(); !kill {
			assert.NoError(t, err)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { run(false) })
	wg.Go(func() {
		for end := time.Now().Add(duration); time.Now().Before(end); {
			run(true)
		}
	})
	wg.Wait()
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	turns := 0
	for key, ids := range acked {
		turns += len(ids)
		checkTurns(t, store, key, ids)
	}
	beside := 0
	for key, ids := range notes {
		beside += len(ids)
		checkNotes(t, store, key, ids)
	}
	require.Positive(t, turns)
	require.Positive(t, beside)
	t.Logf("%d turns on %d keys and %d notes beside them in %s", turns, len(acked), beside, duration)
}

// checkTurns requires every acknowledged turn once, no turn within another, and what was written beside them.
func checkTurns(t *testing.T, store *session.Store, key string, ids []string) {
	ctx := context.Background()
	report, err := upkeep.Verify(ctx, store, key)
	require.NoError(t, err)
	assert.Empty(t, report.Damage, key)
	v, err := store.Read(ctx, key)
	require.NoError(t, err)
	begun, ended := map[string]int{}, map[string]int{}
	open := ""
	var titles []string // that the newest turn that ended may have left, and those that were killed after it
	for _, text := range texts(v) {
		what, id, _ := strings.Cut(text, " ")
		switch {
		case what == "begin": // one before it that has no end was killed
			open = id
			begun[id]++
			titles = append(titles, id)
		case assert.Equal(t, open, id, "a turn within another one of %s", key):
			ended[id]++
			open, titles = "", []string{id}
		}
	}
	for _, id := range ids {
		assert.Equal(t, 1, ended[id], "the turn %s of %s", id, key)
	}
	for id, n := range begun {
		assert.Equal(t, 1, n, "the turn %s of %s is there more than once", id, key)
	}
	assert.GreaterOrEqual(t, v.Counts.Usage.Input, len(ended), "%s: usage is missing", key)
	assert.LessOrEqual(t, v.Counts.Usage.Input, len(begun), "%s: usage is there more than once", key)
	require.NotNil(t, v.Info.Title)
	assert.Contains(t, titles, *v.Info.Title, key)
}

// checkNotes requires every acknowledged note once.
func checkNotes(t *testing.T, store *session.Store, key string, ids []string) {
	seen := map[string]int{}
	for e, err := range store.Entries(context.Background(), key) {
		require.NoError(t, err)
		if e.Type == entry.TypeCustom {
			seen[strings.Trim(string(e.Data), `"`)]++
		}
	}
	for _, id := range ids {
		assert.Equal(t, 1, seen[id], "the note %s of %s", id, key)
	}
	for id, n := range seen {
		assert.Equal(t, 1, n, "the note %s of %s", id, key)
	}
}

func holderChild(dir string) error {
	store, err := session.OpenDirectory(dir, nil)
	if err != nil {
		return err
	}
	if _, err := store.Open(context.Background(), "k"); err != nil {
		return err
	}
	fmt.Println("held")
	time.Sleep(time.Minute)
	return nil
}

// TestTurnOfAKilledProcess waits for a turn whose holder is killed.
func TestTurnOfAKilledProcess(t *testing.T) {
	dir := t.TempDir()
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	longest := time.Duration(0)
	for range 5 {
		cmd, out := child(t, "holder", dir)
		require.True(t, out.Scan())
		short, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		_, err := store.Open(short, "k")
		cancel()
		require.ErrorIs(t, err, session.ErrBusy)
		var busy *session.BusyError
		require.ErrorAs(t, err, &busy)
		assert.Equal(t, cmd.Process.Pid, busy.PID)
		opened := make(chan time.Time)
		go func() {
			s, err := store.Open(context.Background(), "k")
			assert.NoError(t, err)
			assert.NoError(t, s.Close())
			opened <- time.Now()
		}()
		time.Sleep(10 * time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
		gone := time.Now()
		longest = max(longest, (<-opened).Sub(gone))
	}
	t.Log("longest wait after the end of the holder:", longest)
}
