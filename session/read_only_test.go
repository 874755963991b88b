package session_test

import (
	"context"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

// readOnly is a file system that cannot be written, such as a snapshot or a backup.
type readOnly struct{ files.FS }

func (readOnly) Mkdir(string, fs.FileMode) error { return syscall.EROFS }
func (readOnly) Rename(string, string) error     { return syscall.EROFS }
func (readOnly) Remove(string) error             { return syscall.EROFS }

func (r readOnly) Open(name string, flag int, perm fs.FileMode) (files.File, error) {
	return readOnlyDir{r.FS}.Open(name, flag, perm)
}

func (r readOnly) Sub(dir string) (files.Dir, error) { return readOnlyDir{r.FS}.Sub(dir) }

type readOnlyDir struct{ files.Dir }

func (r readOnlyDir) Open(name string, flag int, perm fs.FileMode) (files.File, error) {
	if flag&os.O_RDWR != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EROFS}
	}
	return r.Dir.Open(name, flag, perm)
}

func (r readOnlyDir) Sub(dir string) (files.Dir, error) {
	sub, err := r.Dir.Sub(dir)
	return readOnlyDir{sub}, err
}

// TestReadOnlyStore: calls that only read work in a store that cannot be written.
func TestReadOnlyStore(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("one"), answer("two")))
	require.NoError(t, s.Close())
	require.NoError(t, store.Close())

	fsys, err := files.OpenRoot(dir)
	require.NoError(t, err)
	store, err = sessiontest.OpenFiles(readOnly{fsys}, nil)
	require.NoError(t, err)
	defer store.Close()
	page, err := store.List(ctx, session.Query{})
	require.NoError(t, err)
	require.Len(t, page.Sessions, 1)
	status, err := store.Status(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, page.Sessions[0], *status)
	changes, err := store.Changes(ctx, "")
	require.NoError(t, err)
	require.Equal(t, status.Bytes, changes.Changes[0].To)
	view, err := store.Read(ctx, "k")
	require.NoError(t, err)
	require.Len(t, view.History, 2)
	_, err = upkeep.Verify(ctx, store, "k")
	require.NoError(t, err)
	_, err = upkeep.MakePlan(ctx, store, *upkeep.ReferenceMaintenance())
	require.NoError(t, err)
	_, err = store.Open(ctx, "k")
	require.ErrorIs(t, err, syscall.EROFS)
}
