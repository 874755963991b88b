package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStat: a name that is looked up with one system call is what os.Root says that it is.
func TestStat(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	require.NoError(t, os.WriteFile(outside, []byte("four"), 0o600))
	opened, err := OpenRoot(filepath.Join(dir, "store"))
	require.NoError(t, err)
	defer opened.Close()
	fast := opened.(root)
	slow := root{dir: fast.dir}
	in := func(name string) string { return filepath.Join(dir, "store", name) }
	require.NoError(t, os.Mkdir(in("directory"), 0o700))
	require.NoError(t, os.WriteFile(in("file"), []byte("five5"), 0o600))
	require.NoError(t, os.WriteFile(in("directory/file"), []byte("sixsix"), 0o600))
	require.NoError(t, os.Symlink(outside, in("link")))
	longest := strings.Repeat("n", 255)
	require.NoError(t, os.WriteFile(in(longest), nil, 0o600))
	for _, name := range []string{"file", "directory", "directory/file", "link", "missing", "directory/missing", "file/x", "",
		".", "..", "../outside", "file\x00", longest, longest + "n"} {
		want, wantErr := slow.stat(name)
		got, err := fast.stat(name)
		assert.Equal(t, want, got, "%q", name)
		assert.Equal(t, wantErr == nil, err == nil, "%q: %v, want %v", name, err, wantErr)
		assert.Equal(t, errors.Is(wantErr, fs.ErrNotExist), errors.Is(err, fs.ErrNotExist), "%q: %v, want %v", name, err, wantErr)
	}
}

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
	sub := func(open func(string) (FS, error)) FS {
		parent, err := open("s/aa")
		require.NoError(t, err)
		k, err := parent.Sub("k")
		require.NoError(t, err)
		_, err = parent.Sub("out")
		assert.ErrorIs(t, err, ErrLink)
		_, err = parent.Sub("missing")
		assert.ErrorIs(t, err, fs.ErrNotExist)
		t.Cleanup(func() { assert.NoError(t, errors.Join(k.Close(), parent.Close())) })
		return k
	}
	fast, slow := sub(opened.Sub), sub(opened.(root).slowSub)
	for range 2 { // a directory is listed from its beginning each time
		want, err := slow.List(".")
		require.NoError(t, err)
		got, err := fast.List(".")
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, name := range []string{"file", "empty", "directory", "link", "missing", "file/x", "../k/file", "..", "."} {
		want, wantErr := slow.SizeOf(name)
		got, err := fast.SizeOf(name)
		if strings.Contains(name, "/") {
			assert.Error(t, err, "%q", name)
			continue
		}
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

// TestWritten: the end of a write is known, even if others have appended since.
func TestWritten(t *testing.T) {
	fsys, err := OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer fsys.Close()
	var opened [2]File
	for i := range opened {
		opened[i], err = fsys.Open("log", os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		defer opened[i].Close()
	}
	for i, c := range []struct {
		by   int
		want int64
	}{{0, 4}, {0, 8}, {1, 12}, {0, 16}} {
		_, err = opened[c.by].Write([]byte("four"))
		require.NoError(t, err)
		at, err := opened[c.by].Written()
		require.NoError(t, err)
		assert.Equal(t, c.want, at, i)
	}
	if runtime.GOOS != "windows" {
		at, err := opened[1].Written()
		require.NoError(t, err)
		assert.EqualValues(t, 12, at)
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
