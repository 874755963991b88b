package session_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// TestAppendWaitsNoLongerThanItsContext has another one hold the lock of an append.
func TestAppendWaitsNoLongerThanItsContext(t *testing.T) {
	ctx := context.Background()
	store, dir, _ := written(t)
	s := open(t, store, "k")
	root, err := files.OpenRoot(dir)
	require.NoError(t, err)
	held, err := root.Open("log.lock", os.O_RDWR, 0)
	require.NoError(t, err)
	ok, err := held.TryLock()
	require.NoError(t, err)
	require.True(t, ok)

	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	for what, f := range map[string]func() error{
		"Append":  func() error { return s.Append(short, session.User("late")) },
		"SetInfo": func() error { return store.SetInfo(short, "k", session.Info{}) },
		"Delete":  func() error { return store.Delete(short, "k") },
	} {
		require.ErrorIs(t, f(), context.DeadlineExceeded, what)
	}
	require.NoError(t, held.Close())
	require.NoError(t, s.Append(ctx, session.User("three"))) // the session is as it was
	require.NoError(t, s.Close())
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, []string{"one", "two", "three"}, texts(v))
}

// TestPowerLossDuringADeletion: what was deleted is there whole, or all of it is gone, older logs too.
func TestPowerLossDuringADeletion(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := session.OpenFiles(fsys, nil)
	require.NoError(t, err)
	s := open(t, store, "k")
	for n := range 4 {
		require.NoError(t, s.Append(ctx, session.User(fmt.Sprint("log ", n))))
		if n < 3 {
			require.NoError(t, s.Reset(ctx, "", nil))
		}
	}
	require.NoError(t, s.Close())
	dir := path.Dir(logName(t, fsys, "k", readStored(t, fsys, store, "k").log))
	check := func(name string, crashed *sessiontest.CrashFS, isGone bool) {
		store, err := session.OpenFiles(crashed, nil)
		require.NoError(t, err, name)
		s := open(t, store, "k")
		defer s.Close()
		if got := texts(s.View()); len(got) > 0 {
			require.False(t, isGone, name)
			require.Equal(t, []string{"log 3"}, got, name)
			return
		}
		names, err := crashed.List(dir)
		require.NoError(t, err)
		for _, file := range names {
			text, err := crashed.ReadFile(dir + "/" + file)
			require.NoError(t, err)
			require.NotContains(t, string(text), "text\":\"log", "%s: %s", name, file)
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	fsys.After(func(op sessiontest.Operation) {
		for _, loss := range sessiontest.Losses() {
			for n := range 20 {
				name := fmt.Sprintf("after operation %d (%s %s), loss %s, %d", op.Index, op.Name, op.Path, loss, n)
				check(name, fsys.Crash(loss, random), false)
			}
		}
	})
	require.NoError(t, store.Delete(ctx, "k"))
	fsys.After(nil)
	for _, loss := range sessiontest.Losses() {
		check("after the deletion, loss "+loss.String(), fsys.Crash(loss, random), true)
	}
}

// TestEndWithoutANewline opens a log whose end is longer than any line: a power loss left the size of a large batch and
// no data, or somebody put another file behind it. The end is put aside in pieces and cut off.
func TestEndWithoutANewline(t *testing.T) {
	ctx := context.Background()
	const longestLine = 64 << 20
	size := int64(longestLine + 1<<20)
	if !testing.Short() {
		size = 5 * longestLine
	}
	store, dir, log := written(t)
	before, err := os.Stat(log)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(log, before.Size()+size))
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	s := open(t, store, "k")
	runtime.ReadMemStats(&end)
	assert.Less(t, end.TotalAlloc-start.TotalAlloc, uint64(4*longestLine))
	require.NoError(t, s.Append(ctx, session.User("three")))
	require.NoError(t, s.Close())
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, []string{"one", "two", "three"}, texts(v))
	torn, err := filepath.Glob(filepath.Join(dir, "*.torn-*"))
	require.NoError(t, err)
	require.Len(t, torn, 1)
	aside, err := os.Stat(torn[0])
	require.NoError(t, err)
	assert.Equal(t, size, aside.Size())
}

// TestLineOfAnyLength has a line that is longer than a line may be, and ends in a newline. It is damage; what stands
// around it counts.
func TestLineOfAnyLength(t *testing.T) {
	ctx := context.Background()
	store, _, log := written(t)
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	megabytes := 66
	if !testing.Short() {
		megabytes = 4*64 + 2
	}
	for range megabytes {
		_, err = f.WriteString(strings.Repeat("x", 1<<20))
		require.NoError(t, err)
	}
	_, err = f.WriteString("\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("three")))
	require.NoError(t, s.Close())
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, []string{"one", "two", "three"}, texts(v))
	assert.NotEmpty(t, v.Damage)
}

// hogChild hands the turn from one goroutine to the next, without a pause.
func hogChild(dir string) error {
	store, err := session.OpenDirectory(dir, &session.Options{Durability: session.OS})
	if err != nil {
		return err
	}
	return takeTurns(context.Background(), store, "hog", 8, func(int) bool { return true })
}

// takeTurns has many goroutines take turns as long as goOn says so, which is told how many there were.
func takeTurns(ctx context.Context, store *session.Store, who string, goroutines int, goOn func(n int) bool) error {
	var mu sync.Mutex
	turns := 0
	one := func() (again bool, err error) {
		s, err := store.Open(ctx, "k")
		if err != nil {
			return false, err
		}
		defer s.Close()
		mu.Lock()
		defer mu.Unlock()
		if !goOn(turns) {
			return false, nil
		}
		if turns++; turns == 1 {
			fmt.Println("has had a turn")
		}
		time.Sleep(20 * time.Millisecond)
		return true, s.Append(ctx, session.User(who))
	}
	errs := make(chan error, goroutines)
	for range goroutines {
		go func() {
			for {
				again, err := one()
				if !again || err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	var first error
	for range goroutines {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}

// TestProcessesAlternate has two processes that each hand the turn from goroutine to goroutine. Neither keeps the other
// out.
func TestProcessesAlternate(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SESSION_CHILD=hog", "SESSION_DIR="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() {
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
	}()
	require.True(t, bufio.NewScanner(out).Scan())
	store, err := session.OpenDirectory(dir, &session.Options{Durability: session.OS})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	const turns = 30
	require.NoError(t, takeTurns(ctx, store, "me", 2, func(n int) bool { return n < turns }))
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	list := texts(v)
	list = list[slices.Index(list, "me"):]
	longest, run, mine := 0, 0, 0
	for i, who := range list {
		if run++; i > 0 && who != list[i-1] {
			run = 1
		}
		if longest = max(longest, run); who == "me" {
			mine++
		}
		if mine == turns {
			break
		}
	}
	require.Equal(t, turns, mine)
	t.Logf("at most %d turns of one process behind one another", longest)
	assert.Less(t, longest, turns/3)
}
