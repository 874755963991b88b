package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/upkeep"
)

// lockedByAnother takes the kernel's locks of a session as another process would, and returns how to release them.
func lockedByAnother(t *testing.T, dir, name string) (release func()) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "s", "*", "k-k", name))
	require.NoError(t, err)
	require.Len(t, found, 1)
	f, err := os.OpenFile(found[0], os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	return func() { require.NoError(t, f.Close()) }
}

// used returns how many goroutines and descriptors there are once finished goroutines are gone.
func used(t *testing.T) (goroutines, descriptors int) {
	t.Helper()
	last := -1
	for range 50 {
		if n := runtime.NumGoroutine(); n == last {
			break
		} else {
			last = n
		}
		time.Sleep(5 * time.Millisecond)
	}
	names, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return last, len(names)
}

// TestCancelledCallsLeaveNothing ends the context of every call that waits for a lock of another process. The calls
// return, and neither a goroutine, nor a descriptor, nor a lock is left.
func TestCancelledCallsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	other := directory(t)
	require.NoError(t, inOneTurn(context.Background(), store, "one"))
	id := func() string {
		v, err := store.Read(context.Background(), "k")
		require.NoError(t, err)
		return v.IDs[0]
	}()
	title := "T"
	inSession := func(do func(context.Context, *session.Session) error) func(context.Context) error {
		return func(ctx context.Context) error {
			s, err := store.Open(context.Background(), "k")
			require.NoError(t, err)
			release := lockedByAnother(t, dir, "log.lock")
			err = do(ctx, s)
			release()
			if err == nil || !errors.Is(err, context.DeadlineExceeded) {
				return errors.Join(err, s.Close())
			}
			require.NoError(t, s.Append(context.Background(), session.User("goes on")), "the session is as before")
			require.NoError(t, s.Close())
			return err
		}
	}
	behind := func(lock string, do func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			defer lockedByAnother(t, dir, lock)()
			return do(ctx)
		}
	}
	openIt := func(ctx context.Context) error {
		s, err := store.Open(ctx, "k")
		if err == nil {
			err = s.Close()
		}
		return err
	}
	for name, call := range map[string]func(context.Context) error{
		"Open behind a turn":        behind("turn.lock", openIt),
		"Open behind an append":     behind("log.lock", openIt),
		"Copy from, behind a turn":  behind("turn.lock", func(ctx context.Context) error { return upkeep.Copy(ctx, store, other, "k") }),
		"Copy from, behind a log":   behind("log.lock", func(ctx context.Context) error { return upkeep.Copy(ctx, store, other, "k") }),
		"Copy to, behind a turn":    behind("turn.lock", func(ctx context.Context) error { return copyBack(ctx, t, store) }),
		"Copy to, behind a log":     behind("log.lock", func(ctx context.Context) error { return copyBack(ctx, t, store) }),
		"Delete":                    behind("log.lock", func(ctx context.Context) error { return store.Delete(ctx, "k") }),
		"Erase":                     behind("log.lock", func(ctx context.Context) error { _, err := upkeep.Erase(ctx, store, "k"); return err }),
		"EraseEntries, behind turn": behind("turn.lock", func(ctx context.Context) error { _, err := upkeep.EraseEntries(ctx, store, "k", "", id); return err }),
		"EraseEntries, behind log":  behind("log.lock", func(ctx context.Context) error { _, err := upkeep.EraseEntries(ctx, store, "k", "", id); return err }),
		"SetInfo":                   behind("log.lock", func(ctx context.Context) error { return store.SetInfo(ctx, "k", session.Info{Title: &title}) }),
		"Append":                    inSession(func(ctx context.Context, s *session.Session) error { return s.Append(ctx, session.User("two")) }),
		"Do": inSession(func(ctx context.Context, s *session.Session) error {
			_, err := s.Do(ctx, func(context.Context, []winnow.Message) (winnow.Message, error) { return answer("never"), nil })
			return err
		}),
		"Rewind": inSession(func(ctx context.Context, s *session.Session) error { return s.Rewind(ctx, "") }),
		"Reset":  inSession(func(ctx context.Context, s *session.Session) error { return s.Reset(ctx, "x", nil) }),
		"Edit":   inSession(func(ctx context.Context, s *session.Session) error { return s.Edit(ctx, s.View().IDs[0], nil, "x") }),
		"NextChanges": func(ctx context.Context) error {
			c, err := store.Changes(ctx, "")
			require.NoError(t, err)
			_, err = store.NextChanges(ctx, c.Cursor)
			return err
		},
	} {
		for round := range 2 { // the first one may open what the store keeps
			goroutines, descriptors := used(t)
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			began := time.Now()
			err := call(ctx)
			require.Less(t, time.Since(began), 10*time.Second, name)
			cancel()
			require.Error(t, err, name)
			require.True(t, errors.Is(err, context.DeadlineExceeded) || errors.Is(err, session.ErrBusy), "%s: %v", name, err)
			if g, d := used(t); round > 0 {
				require.LessOrEqual(t, g, goroutines, "%s: goroutines", name)
				require.LessOrEqual(t, d, descriptors, "%s: descriptors", name)
			}
			require.NoError(t, inOneTurn(context.Background(), store, "after "+name), "no lock is left")
		}
	}
	v, err := store.Read(context.Background(), "k")
	require.NoError(t, err)
	require.NotContains(t, strings.Join(texts(v), " "), "never")
}

// copyBack copies a session that is the same in another store.
func copyBack(ctx context.Context, t *testing.T, store *session.Store) error {
	from := session.NewMemory(nil)
	require.NoError(t, inOneTurn(context.Background(), from, "one"))
	return upkeep.Copy(ctx, from, store, "k")
}

// TestStoreClosedWhileOthersWait: those who wait for a turn of a store that is closed get an error once the turn ends.
func TestStoreClosedWhileOthersWait(t *testing.T) {
	ctx := context.Background()
	store := directory(t)
	goroutines, descriptors := used(t)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("one")))
	c, err := store.Changes(ctx, "")
	require.NoError(t, err)
	failed := make(chan error, 4)
	for range 3 {
		go func() { failed <- inOneTurn(ctx, store, "late") }()
	}
	go func() {
		_, err := store.NextChanges(ctx, c.Cursor)
		failed <- err
	}()
	time.Sleep(20 * time.Millisecond)
	require.NoError(t, store.Close())
	_ = s.Append(ctx, session.User("two"))
	_ = s.Close()
	for range cap(failed) {
		select {
		case err := <-failed:
			require.Error(t, err)
		case <-time.After(10 * time.Second):
			require.Fail(t, "somebody waits for ever")
		}
	}
	g, d := used(t)
	require.LessOrEqual(t, g, goroutines)
	require.Less(t, d, descriptors)
}
