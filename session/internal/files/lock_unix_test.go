//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package files

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCloseReleasesTheLock, even if a child process that is being started has a copy of the descriptor.
func TestCloseReleasesTheLock(t *testing.T) {
	fsys, err := OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer fsys.Close()
	open := func() File {
		f, err := fsys.Open("lock", os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		return f
	}
	isFree := func(f File) bool {
		free, err := f.TryLock()
		require.NoError(t, err)
		return free
	}
	holder, other := open(), open()
	defer other.Close()
	require.True(t, isFree(holder))
	require.False(t, isFree(other))
	copied, err := syscall.Dup(int(holder.(*file).Fd()))
	require.NoError(t, err)
	defer syscall.Close(copied)
	require.NoError(t, holder.Close())
	assert.True(t, isFree(other))
}
