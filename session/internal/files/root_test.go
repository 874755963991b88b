package files

import (
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

// TestSub: nobody gets through a link, and only regular files are opened.
func TestSub(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, "store", name) }
	require.NoError(t, os.MkdirAll(in("s/aa/k/directory"), 0o700))
	require.NoError(t, os.WriteFile(in("s/aa/k/file"), []byte("five5"), 0o600))
	require.NoError(t, os.Symlink("file", in("s/aa/k/link")))
	require.NoError(t, os.Symlink("k", in("s/aa/inside")))
	require.NoError(t, os.Symlink(dir, in("s/aa/outside")))
	opened, err := OpenRoot(filepath.Join(dir, "store"))
	require.NoError(t, err)
	defer opened.Close()
	parent, err := opened.Sub("s/aa")
	require.NoError(t, err)
	defer parent.Close()
	for name, want := range map[string]error{
		"inside": ErrLink, "inside/directory": ErrLink, "outside": ErrLink, "k/file": ErrLink,
		"missing": fs.ErrNotExist,
	} {
		_, err = parent.Sub(name)
		assert.ErrorIs(t, err, want, name)
		_, err = opened.Sub("s/aa/" + name)
		assert.ErrorIs(t, err, want, name)
	}
	k, err := parent.Sub("k")
	require.NoError(t, err)
	defer k.Close()
	for range 2 { // a directory is listed from its beginning each time
		names, err := k.List(".")
		require.NoError(t, err)
		assert.Equal(t, []string{"directory", "file", "link"}, names)
	}
	for name, want := range map[string]error{
		"file": nil, "directory": ErrLink, "link": ErrLink, "missing": fs.ErrNotExist, ".": ErrLink,
	} {
		_, err := k.SizeOf(name)
		assert.ErrorIs(t, err, want, name)
		f, err := k.Open(name, os.O_RDWR, 0)
		assert.ErrorIs(t, err, want, name)
		if err == nil {
			assert.NoError(t, f.Close())
		}
	}
	_, err = k.SizeOf("../k/file")
	assert.Error(t, err, "it is outside")
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
