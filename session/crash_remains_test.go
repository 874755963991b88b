package session_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

// secretStore returns a store with a session whose first entry is secret, and the id of that.
func secretStore(t *testing.T) (*sessiontest.CrashFS, *session.Store, string) {
	t.Helper()
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User(secret)))
	id := s.Leaf()
	require.NoError(t, s.Append(ctx, answer("two")))
	require.NoError(t, s.Close())
	return fsys, store, id
}

// remainsAfter kills a call after each of its operations, and returns the file systems on which it left an unfinished
// file, or an archive beside its log.
func remainsAfter(t *testing.T, fsys *sessiontest.CrashFS, call func(*session.Store) error) map[string]*sessiontest.CrashFS {
	t.Helper()
	left := map[string]*sessiontest.CrashFS{}
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	fsys.After(func(op sessiontest.Operation) {
		killed := fsys.Kill()
		files := filesOf(t, killed)
		for name := range files {
			log, isArchive := strings.CutSuffix(name, ".gz")
			_, isLeft := files[log]
			if strings.HasSuffix(name, ".tmp") || isArchive && isLeft {
				left[fmt.Sprintf("killed after operation %d (%s %s)", op.Index, op.Name, op.Path)] = killed
			}
		}
	})
	require.NoError(t, call(store))
	fsys.After(nil)
	return left
}

// TestErasureOfRemains erases an entry whose text an interrupted call left in a file that counts for nothing. While
// that file cannot be removed, the erasure fails; afterwards no file holds the text.
func TestErasureOfRemains(t *testing.T) {
	ctx := context.Background()
	for name, prepare := range map[string]func(*session.Store) error{
		"a fork":    func(store *session.Store) error { return store.Fork(ctx, "k", "", "fork") },
		"archiving": func(store *session.Store) error { return archiveAll(ctx, store) },
		"restoring": func(store *session.Store) error {
			if err := archiveAll(ctx, store); err != nil {
				return err
			}
			return inOneTurn(ctx, store, "three")
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys, _, id := secretStore(t)
			left := remainsAfter(t, fsys, prepare)
			require.NotEmpty(t, left)
			refusals := 0
			for name, fsys := range left {
				isLeft := false // a file that holds the text and is to be removed
				fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
					if op.Name != "remove" || !strings.Contains(op.Path, "/k-") {
						return sessiontest.Fault{}
					}
					isLeft = true
					return sessiontest.Fault{Err: syscall.EIO}
				})
				store, err := sessiontest.OpenFiles(fsys, nil)
				require.NoError(t, err, name)
				_, err = upkeep.EraseEntries(ctx, store, "k", "", id)
				if err == nil {
					require.False(t, isLeft, "%s: acknowledged although a file could not be removed", name)
					requireNowhere(t, fsys, name, secret)
				} else {
					require.ErrorIs(t, err, syscall.EIO, name)
					refusals++
				}
				fsys.Fail(nil)
				_, err = upkeep.EraseEntries(ctx, store, "k", "", id)
				require.NoError(t, err, name)
				requireNowhere(t, fsys, name, secret)
				requireNowhere(t, fsys.Crash(sessiontest.LossAll, nil), name+", and then a power loss", secret)
				require.NoError(t, inOneTurn(ctx, store, "goes on"), name)
			}
			require.Positive(t, refusals)
		})
	}
}

// TestErasureOfASessionWithAnUnbornFork: a fork that was killed before it had a log holds the text of its original.
func TestErasureOfASessionWithAnUnbornFork(t *testing.T) {
	ctx := context.Background()
	fsys, _, _ := secretStore(t)
	left := remainsAfter(t, fsys, func(store *session.Store) error { return store.Fork(ctx, "k", "", "fork") })
	require.NotEmpty(t, left)
	for name, fsys := range left {
		store, err := sessiontest.OpenFiles(fsys, nil)
		require.NoError(t, err, name)
		_, err = upkeep.Erase(ctx, store, "k")
		require.NoError(t, err, name)
		requireNowhere(t, fsys, name, secret)
	}
}

// TestSessionWithRemainsOpens: what cannot be removed does not keep anybody from going on.
func TestSessionWithRemainsOpens(t *testing.T) {
	ctx := context.Background()
	fsys, _, _ := secretStore(t)
	for name, fsys := range remainsAfter(t, fsys, func(store *session.Store) error { return archiveAll(ctx, store) }) {
		fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
			if op.Name == "remove" {
				return sessiontest.Fault{Err: syscall.EIO}
			}
			return sessiontest.Fault{}
		})
		store, err := sessiontest.OpenFiles(fsys, nil)
		require.NoError(t, err, name)
		require.NoError(t, inOneTurn(ctx, store, "goes on"), name)
	}
}

// archiveAll archives all logs.
func archiveAll(ctx context.Context, store *session.Store) error {
	plan, err := upkeep.MakePlan(ctx, store, upkeep.Maintenance{ArchiveAfter: time.Nanosecond})
	if err == nil {
		_, err = upkeep.Apply(ctx, store, plan)
	}
	return err
}
