package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
