package session_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// waitingFS calls before once, when a log's lock was opened and is about to be waited for.
type waitingFS struct {
	files.FS
	before func()
}

type waitingFile struct {
	files.File
	fs *waitingFS
}

func (w *waitingFS) Open(name string, flag int, perm fs.FileMode) (files.File, error) {
	f, err := w.FS.Open(name, flag, perm)
	if err == nil && strings.HasSuffix(name, "/log.lock") {
		return &waitingFile{f, w}, nil
	}
	return f, err
}

func (w *waitingFS) IsLinked(f files.File, name string) bool {
	if own, ok := f.(*waitingFile); ok {
		f = own.File
	}
	return w.FS.IsLinked(f, name)
}

func (f *waitingFile) TryLock() (bool, error) {
	if before := f.fs.before; before != nil {
		f.fs.before = nil
		before()
	}
	return f.File.TryLock()
}

// TestDeleteDoesNotReachTheNextSession lets somebody wait for the lock of a session that is deleted in the meantime,
// and made anew. What the new one acknowledged stays.
func TestDeleteDoesNotReachTheNextSession(t *testing.T) {
	ctx := context.Background()
	for name, late := range map[string]func(*session.Store) error{
		"who deletes too":  func(s *session.Store) error { return s.Delete(ctx, "k") },
		"who sets a title": func(s *session.Store) error { return s.SetInfo(ctx, "k", session.Info{Title: new(string)}) },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			store, err := session.OpenDirectory(root, nil)
			require.NoError(t, err)
			s := open(t, store, "k")
			require.NoError(t, s.Append(ctx, session.User("old")))
			require.NoError(t, s.Close())

			under, err := files.OpenRoot(root)
			require.NoError(t, err)
			waiting := &waitingFS{FS: under}
			other, err := sessiontest.OpenFiles(waiting, nil)
			require.NoError(t, err)
			waiting.before = func() {
				require.NoError(t, store.Delete(ctx, "k"))
				s = open(t, store, "k")
				require.NoError(t, s.Append(ctx, session.User("new")))
			}
			require.NoError(t, late(other))
			require.NoError(t, s.Append(ctx, answer("answer")))
			require.NoError(t, s.Close())
			v, err := store.Read(ctx, "k")
			require.NoError(t, err)
			require.Equal(t, []string{"new", "answer"}, texts(v))
		})
	}
}

// TestCopyOfALogIsSeenByThoseWhoHaveItOpen: the sync of somebody who writes beside the branch fails, and the next one
// to open the log replaces it by a copy. Who has the turn does not go on in the old log.
func TestCopyOfALogIsSeenByThoseWhoHaveItOpen(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("one")))

	fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
		if op.Name == "sync" && filepath.Ext(op.Path) == ".jsonl" {
			return sessiontest.Fault{Err: syscall.EIO}
		}
		return sessiontest.Fault{}
	})
	title := "a title"
	require.ErrorIs(t, store.SetInfo(ctx, "k", session.Info{Title: &title}), session.ErrSync)
	fsys.Fail(nil)
	require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title})) // copies the log

	want := []string{"one"}
	err = s.Append(ctx, answer("two"))
	if err == nil {
		want = append(want, "two")
	} else {
		require.True(t, errors.Is(err, session.ErrConflict), err)
	}
	require.NoError(t, s.Close())
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, want, texts(v))
	require.Equal(t, title, *v.Info.Title)
}
