package session_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

// TestDirectoriesAreSyncedOnce: a store that serves thousands of sessions in turn syncs directories only in the first
// turn of each.
func TestDirectoriesAreSyncedOnce(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	synced := 0
	fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
		if op.Name == "syncdir" {
			synced++
		}
		return sessiontest.Fault{}
	})
	const sessions = 3000
	for round := range 2 {
		synced = 0
		for i := range sessions {
			s := open(t, store, fmt.Sprint("k", i))
			require.NoError(t, s.Append(ctx, session.User("one")))
			require.NoError(t, s.Close())
		}
		if round == 0 {
			require.GreaterOrEqual(t, synced, sessions)
		}
	}
	require.Zero(t, synced)
}

// TestDurableAppendAfterOthers: a durable append makes everything above the log durable, if others made it and did not.
func TestDurableAppendAfterOthers(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
		if op.Name == "syncdir" { // they are killed before it
			return sessiontest.Fault{Err: syscall.EIO}
		}
		return sessiontest.Fault{}
	})
	_, err := sessiontest.OpenFiles(fsys, nil)
	require.ErrorIs(t, err, syscall.EIO)
	hasty, err := sessiontest.OpenFiles(fsys, &session.Options{Durability: session.OS})
	require.NoError(t, err)
	require.NoError(t, inOneTurn(ctx, hasty, "one"))
	fsys.Fail(nil)

	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	require.NoError(t, inOneTurn(ctx, store, "two"))
	after, err := sessiontest.OpenFiles(fsys.Crash(sessiontest.LossAll, rand.New(rand.NewPCG(1, 1))), nil)
	require.NoError(t, err)
	v, err := after.Read(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two"}, texts(v))
}

// TestReadOnlyDirectory: a store in which nothing can be changed can be opened, read and listed.
func TestReadOnlyDirectory(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	require.NoError(t, inOneTurn(ctx, store, "one"))
	fsys.Fail(func(sessiontest.Operation) sessiontest.Fault { return sessiontest.Fault{Err: syscall.EROFS} })
	store, err = sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, []string{"one"}, texts(v))
	keys, err := store.Keys(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"k"}, keys)
	require.ErrorIs(t, inOneTurn(ctx, store, "two"), syscall.EROFS)
}

// TestStoreWithoutSessions: a power loss may leave winnow.json and take the directory of the sessions.
func TestStoreWithoutSessions(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	_, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	require.NoError(t, fsys.Remove("s"))
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	keys, err := store.Keys(ctx)
	require.NoError(t, err)
	require.Empty(t, keys)
	_, err = store.Read(ctx, "k")
	require.ErrorIs(t, err, session.ErrNotFound)
	require.NoError(t, inOneTurn(ctx, store, "one"))
}

// TestCopiedLogIsNoOlderLog: a log whose sync failed is copied when it is next opened. Wherever that is interrupted,
// the next opening leaves one log: the content is not there twice.
func TestCopiedLogIsNoOlderLog(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	require.NoError(t, inOneTurn(ctx, store, "one"))
	fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
		if op.Name == "sync" {
			return sessiontest.Fault{Err: syscall.EIO}
		}
		return sessiontest.Fault{}
	})
	require.ErrorIs(t, inOneTurn(ctx, store, "two"), session.ErrSync)
	fsys.Fail(nil)

	from, err := sessiontest.OpenFiles(fsys.Kill(), nil)
	require.NoError(t, err)
	require.NoError(t, upkeep.Copy(ctx, from, session.NewMemory(nil), "k"))

	interrupted := map[string]*sessiontest.CrashFS{}
	fsys.After(func(op sessiontest.Operation) {
		name := fmt.Sprintf("after operation %d (%s %s)", op.Index, op.Name, op.Path)
		interrupted["killed "+name] = fsys.Kill()
		for _, loss := range sessiontest.Losses() {
			interrupted[fmt.Sprintf("power loss (%s) %s", loss, name)] = fsys.Crash(loss, rand.New(rand.NewPCG(uint64(op.Index), 1)))
		}
	})
	require.NoError(t, inOneTurn(ctx, store, "three"))
	fsys.After(nil)
	for name, fsys := range interrupted {
		store, err := sessiontest.OpenFiles(fsys, nil)
		require.NoError(t, err, name)
		require.NoError(t, inOneTurn(ctx, store, "four"), name)
		require.Len(t, logsOf(t, store, name), 1, name)
		after, err := sessiontest.OpenFiles(fsys.Crash(sessiontest.LossAll, nil), nil)
		require.NoError(t, err, name)
		require.Len(t, logsOf(t, after, name), 1, "%s, and then a power loss", name)
		v, err := after.Read(ctx, "k")
		require.NoError(t, err, name)
		require.Subset(t, texts(v), []string{"one", "four"}, name)
	}
}
