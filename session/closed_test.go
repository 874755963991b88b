package session_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/upkeep"
)

// TestClosedStore: what comes after Close fails with the error that the documentation names.
func TestClosedStore(t *testing.T) {
	ctx := context.Background()
	store, err := session.OpenDirectory(t.TempDir(), nil)
	require.NoError(t, err)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("one")))
	require.NoError(t, s.Close())
	changes, err := store.Changes(ctx, "")
	require.NoError(t, err)
	require.NoError(t, store.Close())
	require.NoError(t, store.Close())
	for name, call := range storeCalls(store, changes.Cursor) {
		t.Run(name, func(t *testing.T) { require.ErrorIs(t, call(ctx), session.ErrClosed) })
	}
}

// TestRemovedStore removes the directory of a store by other means: nobody may wait for a session that cannot come.
func TestRemovedStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	s := open(t, store, "k")
	require.NoError(t, s.Append(context.Background(), session.User("one")))
	require.NoError(t, s.Close())
	changes, err := store.Changes(context.Background(), "")
	require.NoError(t, err)
	if os.RemoveAll(dir) != nil {
		t.Skip("the system does not remove a directory that is open")
	}
	for name, call := range storeCalls(store, changes.Cursor) {
		t.Run(name, func(t *testing.T) {
			done := make(chan error, 1)
			go func() { done <- call(context.Background()) }()
			select {
			case err := <-done:
				if name == "Open" || name == "Open another" {
					require.ErrorIs(t, err, session.ErrClosed)
				}
			case <-time.After(10 * time.Second):
				require.Fail(t, "the call does not end")
			}
		})
	}
}

// storeCalls are calls of every kind that a store has.
func storeCalls(store *session.Store, cursor string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Open":         func(ctx context.Context) error { _, err := store.Open(ctx, "k"); return err },
		"Open another": func(ctx context.Context) error { _, err := store.Open(ctx, "other"); return err },
		"Read":         func(ctx context.Context) error { _, err := store.Read(ctx, "k"); return err },
		"Keys":         func(ctx context.Context) error { _, err := store.Keys(ctx); return err },
		"List":         func(ctx context.Context) error { _, err := store.List(ctx, session.Query{}); return err },
		"Status":       func(ctx context.Context) error { _, err := store.Status(ctx, "k"); return err },
		"Verify":       func(ctx context.Context) error { _, err := upkeep.Verify(ctx, store, "k"); return err },
		"Parts":        func(ctx context.Context) error { _, err := store.Parts(ctx, "k"); return err },
		"Fork":         func(ctx context.Context) error { return store.Fork(ctx, "k", "", "fork") },
		"SetInfo":      func(ctx context.Context) error { return store.SetInfo(ctx, "k", session.Info{}) },
		"AddData":      func(ctx context.Context) error { return store.AddData(ctx, "k", "n", []byte("1")) },
		"Delete":       func(ctx context.Context) error { return store.Delete(ctx, "k") },
		"Erase":        func(ctx context.Context) error { _, err := upkeep.Erase(ctx, store, "k"); return err },
		"EraseEntries": func(ctx context.Context) error { _, err := upkeep.EraseEntries(ctx, store, "k", "", "e2"); return err },
		"Changes":      func(ctx context.Context) error { _, err := store.Changes(ctx, cursor); return err },
		"NextChanges":  func(ctx context.Context) error { _, err := store.NextChanges(ctx, cursor); return err },
		"Plan": func(ctx context.Context) error {
			_, err := upkeep.MakePlan(ctx, store, upkeep.Maintenance{ArchiveAfter: 1})
			return err
		},
	}
}

// TestForkOntoItself: the holder of the turn would wait for itself.
func TestForkOntoItself(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(nil)
	s := open(t, store, "k")
	defer s.Close()
	require.NoError(t, s.Append(ctx, session.User("one")))
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	require.ErrorIs(t, store.Fork(ctx, "k", "", "k"), session.ErrExists)
}
