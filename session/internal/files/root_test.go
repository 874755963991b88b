package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestIsLinked: a file is told from another one that took its name.
func TestIsLinked(t *testing.T) {
	fsys, err := OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer fsys.Close()
	create := func(name string) File {
		f, err := fsys.Open(name, os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		return f
	}
	first, second := create("a"), create("b")
	defer first.Close()
	defer second.Close()
	assert.True(t, fsys.IsLinked(first, "a"))
	assert.False(t, fsys.IsLinked(first, "b"))
	require.NoError(t, fsys.Rename("b", "a"))
	assert.False(t, fsys.IsLinked(first, "a"))
	assert.True(t, fsys.IsLinked(second, "a"))
	require.NoError(t, fsys.Remove("a"))
	assert.False(t, fsys.IsLinked(second, "a"))
}

// TestSub: a directory that is opened by its descriptor is what os.Root says that it is.
func TestSub(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, "store", name) }
	require.NoError(t, os.MkdirAll(in("s/aa/k"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "outside"), 0o700))
	require.NoError(t, os.WriteFile(in("s/aa/k/file"), []byte("five5"), 0o600))
	require.NoError(t, os.WriteFile(in("s/aa/k/empty"), nil, 0o600))
	require.NoError(t, os.Mkdir(in("s/aa/k/directory"), 0o700))
	require.NoError(t, os.Symlink(in("s/aa/k/file"), in("s/aa/k/link")))
	require.NoError(t, os.Symlink(filepath.Join(dir, "outside"), in("s/aa/out")))
	opened, err := OpenRoot(filepath.Join(dir, "store"))
	require.NoError(t, err)
	defer opened.Close()
	sub := func(open func(in Dir, name string) (Dir, error)) Dir {
		parent, err := open(opened, "s/aa")
		require.NoError(t, err)
		k, err := open(parent, "k")
		require.NoError(t, err)
		_, err = open(parent, "out")
		assert.ErrorIs(t, err, ErrLink)
		_, err = open(opened, "s/aa/out/k")
		assert.ErrorIs(t, err, ErrLink)
		_, err = open(parent, "missing")
		assert.ErrorIs(t, err, fs.ErrNotExist)
		t.Cleanup(func() { assert.NoError(t, errors.Join(k.Close(), parent.Close())) })
		return k
	}
	fast, slow := sub(Dir.Sub), sub(func(in Dir, name string) (Dir, error) { return in.(root).subRoot(name) })
	for range 2 { // a directory is listed from its beginning each time
		want, err := slow.List(".")
		require.NoError(t, err)
		got, err := fast.List(".")
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, name := range []string{"file", "empty", "directory", "link", "missing", "..", "."} {
		want, wantErr := slow.SizeOf(name)
		got, err := fast.SizeOf(name)
		assert.Equal(t, want, got, "%q", name)
		assert.Equal(t, wantErr == nil, err == nil, "%q: %v, want %v", name, err, wantErr)
		assert.Equal(t, errors.Is(wantErr, fs.ErrNotExist), errors.Is(err, fs.ErrNotExist), "%q: %v", name, err)
		f, wantErr := slow.Open(name, os.O_RDWR, 0)
		g, err := fast.Open(name, os.O_RDWR, 0)
		assert.Equal(t, wantErr == nil, err == nil, "%q: %v, want %v", name, err, wantErr)
		if err != nil || wantErr != nil {
			continue
		}
		text := make([]byte, 8)
		n, err := g.ReadAt(text, 1)
		assert.ErrorIs(t, err, io.EOF)
		assert.Equal(t, max(int(want)-1, 0), n)
		free, err := f.TryLock()
		assert.True(t, free && err == nil, "%v", err)
		free, err = g.TryLock()
		assert.False(t, free, "another one has it")
		assert.NoError(t, errors.Join(err, f.Close()))
		free, err = g.TryLock()
		assert.True(t, free && err == nil, "%v", err)
		assert.NoError(t, g.Close())
	}
}

// TestOpenRootCreatesDirectories, above the root too, for their owner alone.
func TestOpenRootCreatesDirectories(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"one", "two/of/three", "two/of/three", "two/of/four/", "./two/../five/six"} {
		fsys, err := OpenRoot(name)
		require.NoError(t, err, name)
		require.NoError(t, fsys.Close(), name)
		for at := filepath.Clean(name); at != "."; at = filepath.Dir(at) {
			info, err := os.Stat(at)
			require.NoError(t, err, at)
			if runtime.GOOS != "windows" {
				assert.Equal(t, fs.ModeDir|0o700, info.Mode(), at)
			}
		}
	}
	require.NoError(t, os.WriteFile("file", nil, 0o600))
	for _, name := range []string{"file", "file/in", "file/in/it", ""} {
		_, err := OpenRoot(name)
		assert.Error(t, err, "%q", name)
	}
}

// TestTruncate: after a file has been cut, appending goes on at its new end, also where its own handle may not cut it.
// Another file that has taken its name stays whole.
func TestTruncate(t *testing.T) {
	for _, cut := range []func(*file, int64) error{(*file).Truncate, (*file).truncateByName} {
		dir, _, f := openLog(t)
		_, err := f.Write([]byte("whole, torn"))
		require.NoError(t, err)
		require.NoError(t, cut(f, int64(len("whole"))))
		_, err = f.Write([]byte(" again"))
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join(dir, "log"))
		require.NoError(t, err)
		require.Equal(t, "whole again", string(text))
	}
	dir, fsys, f := openLog(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "new"), []byte("another"), 0o600))
	require.NoError(t, fsys.Rename("new", "log"))
	require.ErrorIs(t, f.truncateByName(0), fs.ErrNotExist)
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	require.Equal(t, "another", string(text))
}

// openLog creates the file "log" in a new directory.
func openLog(t *testing.T) (dir string, fsys FS, log *file) {
	dir = t.TempDir()
	fsys, err := OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { fsys.Close() })
	f, err := fsys.Open("log", os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return dir, fsys, f.(*file)
}
