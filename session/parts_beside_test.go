package session_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

// inDir is a directory of a file system, which sees what is done in it.
type inDir struct {
	files.FS
	dir string
}

func (d inDir) Open(name string, flag int, perm fs.FileMode) (files.File, error) {
	return d.FS.Open(path.Join(d.dir, name), flag, perm)
}
func (d inDir) List(dir string) ([]string, error) { return d.FS.List(path.Join(d.dir, dir)) }
func (d inDir) SizeOf(name string) (int64, error) { return d.FS.SizeOf(path.Join(d.dir, name)) }
func (d inDir) Sub(dir string) (files.Dir, error) { return d.FS.Sub(path.Join(d.dir, dir)) }
func (d inDir) Close() error                      { return nil }

// listingFS is a file system where something happens just after a directory of a session was listed, once.
type listingFS struct {
	*sessiontest.CrashFS
	after func()
}

func (f *listingFS) List(dir string) ([]string, error) {
	names, err := f.CrashFS.List(dir)
	if after := f.after; after != nil && strings.Contains(dir, "/k-") {
		f.after = nil
		after()
	}
	return names, err
}

func (f *listingFS) Sub(dir string) (files.Dir, error) {
	_, err := f.CrashFS.Sub(dir)
	return inDir{f, dir}, err
}

// openingFS is a file system where something happens just before an archive is opened, once.
type openingFS struct {
	*sessiontest.CrashFS
	before func()
}

func (f *openingFS) Open(name string, flag int, perm fs.FileMode) (files.File, error) {
	if before := f.before; before != nil && strings.HasSuffix(name, ".gz") {
		f.before = nil
		before()
	}
	return f.CrashFS.Open(name, flag, perm)
}

func (f *openingFS) Sub(dir string) (files.Dir, error) {
	_, err := f.CrashFS.Sub(dir)
	return inDir{f, dir}, err
}

// TestOpenBesideAWriter: a log that is restored from its archive while it is opened is there.
func TestOpenBesideAWriter(t *testing.T) {
	ctx := t.Context()
	fsys := &openingFS{CrashFS: sessiontest.NewCrashFS()}
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	other, err := sessiontest.OpenFiles(fsys.CrashFS, nil)
	require.NoError(t, err)
	sayTo(t, other, "k", 1, "hello")
	require.NoError(t, archiveAll(ctx, other))
	m := store.Backend()
	parts, err := m.Parts(ctx, "k")
	require.NoError(t, err)
	fsys.before = func() { require.NoError(t, open(t, other, "k").Close()) }
	log, err := m.OpenPart(ctx, "k", parts[0])
	require.NoError(t, err)
	require.Nil(t, fsys.before, "nothing happened meanwhile")
	require.NoError(t, log.Close())
}

// TestPartsBesideAnArchiver: a log that is archived or restored while the parts of its session are listed is one of
// them, and an eraser finds it.
func TestPartsBesideAnArchiver(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		reason   string
		archived bool // before, and restored meanwhile
		want     backend.PartKind
	}{
		{"the log is archived", false, backend.PartArchive},
		{"the archive is restored", true, backend.PartLog},
	} {
		t.Run(c.reason, func(t *testing.T) {
			fsys := &listingFS{CrashFS: sessiontest.NewCrashFS()}
			store, err := sessiontest.OpenFiles(fsys, nil)
			require.NoError(t, err)
			other, err := sessiontest.OpenFiles(fsys.CrashFS, nil)
			require.NoError(t, err)
			s := open(t, store, "k")
			require.NoError(t, s.Append(ctx, session.User("secret"), answer("yes")))
			id := s.View().IDs[0]
			require.NoError(t, s.Close())
			archive := func() { require.NoError(t, archiveAll(ctx, other)) }
			meanwhile := archive
			if c.archived {
				archive()
				meanwhile = func() { require.NoError(t, open(t, other, "k").Close()) }
			}

			fsys.after = meanwhile
			parts, err := store.Parts(ctx, "k")
			require.NoError(t, err)
			require.Nil(t, fsys.after, "nothing happened meanwhile")
			require.Len(t, parts, 1)
			assert.Equal(t, c.want, parts[0].Kind)
			assert.True(t, parts[0].Open)

			if c.archived {
				archive()
			} else {
				require.NoError(t, open(t, other, "k").Close())
			}
			fsys.after = meanwhile
			_, err = upkeep.EraseEntries(ctx, store, "k", "", id)
			require.NoError(t, err)
			v, err := store.Read(ctx, "k")
			require.NoError(t, err)
			assert.NotContains(t, texts(v), "secret")
		})
	}
}

// lagging is a file system whose lists still have a log that is gone, as those of NFS for up to a minute.
type lagging struct{ *sessiontest.CrashFS }

func (f lagging) List(dir string) ([]string, error) {
	names, err := f.CrashFS.List(dir)
	if strings.Contains(dir, "/k-") {
		names = append([]string{"20200101-000000000-aaaa.jsonl"}, names...)
	}
	return names, err
}

func (f lagging) Sub(dir string) (files.Dir, error) {
	_, err := f.CrashFS.Sub(dir)
	return inDir{f, dir}, err
}

// TestPartsOfAListThatLags: the log may have another name by now, so the list is an error, and not an endless wait.
func TestPartsOfAListThatLags(t *testing.T) {
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	require.NoError(t, open(t, store, "k").Close())
	late, err := sessiontest.OpenFiles(lagging{fsys}, nil)
	require.NoError(t, err)
	_, err = late.Parts(t.Context(), "k")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
