package session_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// TestAppendWaitsNoLongerThanItsContext: somebody else holds the lock of an append.
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

// TestPowerLossDuringADeletion: the deleted session is there whole, or all of it is gone, including older logs.
func TestPowerLossDuringADeletion(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
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
		store, err := sessiontest.OpenFiles(crashed, nil)
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
	size := times.Of(longestLine + 1<<20)
	store, dir, log := written(t)
	before, err := os.Stat(log)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(log, before.Size()+int64(size)))
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
	assert.EqualValues(t, size, aside.Size())
}

// TestLineOfAnyLength: a line that is longer than allowed, and ends in a newline, is damage; the lines around it count.
func TestLineOfAnyLength(t *testing.T) {
	ctx := context.Background()
	store, _, log := written(t)
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	for range times.Of(66) { // of 64 that are allowed
		_, err = f.WriteString(strings.Repeat("x", 1<<20))
		require.NoError(t, err)
	}
	_, err = f.WriteString("\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	title := "written beside the branch"
	require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title}))
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("three")))
	require.NoError(t, s.Close())
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, []string{"one", "two", "three"}, texts(v))
	assert.Equal(t, &title, v.Info.Title)
	assert.NotEmpty(t, v.Damage)
}

// alternation has two stores in one directory, which exclude each other as two processes do: each has goroutines in a
// queue of its own, and the lock of the kernel between them is of the open file.
type alternation struct {
	*testing.T
	dir    string
	stores [2]*session.Store
	opened [2]chan *session.Session
}

func newAlternation(t *testing.T) *alternation {
	a := &alternation{T: t, dir: t.TempDir()}
	for i := range a.stores {
		var err error
		a.stores[i], err = session.OpenDirectory(a.dir, &session.Options{Durability: session.OS})
		require.NoError(t, err)
		a.opened[i] = make(chan *session.Session)
	}
	return a
}

// wants starts a goroutine that asks for the turn.
func (a *alternation) wants(store int) {
	go func() {
		s, err := a.stores[store].Open(context.Background(), "k")
		assert.NoError(a, err)
		a.opened[store] <- s
	}()
}

// awaitsNext waits until somebody has found the turn taken by another store, and stands in line for it.
func (a *alternation) awaitsNext() {
	for {
		if dirs, err := filepath.Glob(filepath.Join(a.dir, "s", "*", "k-k")); err == nil && isLockedIn(a, dirs[0], "turn.next") {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// isLockedIn reports whether somebody has the lock on a file. A missing file is not an error.
func isLockedIn(t testing.TB, dir, name string) bool {
	root, err := files.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	f, err := root.Open(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	require.NoError(t, err)
	defer f.Close()
	free, err := f.TryLock()
	require.NoError(t, err)
	return !free
}

// TestProcessesAlternate: two processes each hand the turn from goroutine to goroutine. Neither keeps the other out:
// the process in line gets the next turn, even before goroutines that have waited longer.
func TestProcessesAlternate(t *testing.T) {
	t.Parallel()
	a := newAlternation(t)
	a.wants(0)
	s := <-a.opened[0]
	a.wants(1)
	holder := 0
	for range 20 {
		a.wants(holder) // it is there at once, where the other one tries the lock only so often
		a.awaitsNext()
		require.NoError(t, s.Close())
		select {
		case s = <-a.opened[1-holder]:
		case s = <-a.opened[holder]:
			require.NoError(t, s.Close())
			t.Fatal("a process had two turns, while another one stood in line")
		}
		holder = 1 - holder
	}
	require.NoError(t, s.Close())
	require.NoError(t, (<-a.opened[1-holder]).Close())
}
