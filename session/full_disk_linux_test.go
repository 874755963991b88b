package session_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/upkeep"
)

// TestRealFullDisk fills a small file system, where the test may mount one.
func TestRealFullDisk(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	if err := syscall.Mount("winnow", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("a file system cannot be mounted here:", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	fillDisk(t, ctx, dir, func() { require.NoError(t, os.Remove(filepath.Join(dir, "ballast"))) }, func() {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 32<<10), 0o600))
	})
}

// fillDisk appends until the disk is full, makes room and goes on.
func fillDisk(t *testing.T, ctx context.Context, dir string, makeRoom, prepare func()) {
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	prepare()
	s := open(t, store, "k")
	text := strings.Repeat("\x01x", 500)
	acked := 0
	for {
		err := s.Append(ctx, session.User(text))
		if err != nil {
			require.True(t, errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EFBIG), err)
			break
		}
		acked++
		require.Less(t, acked, 10_000)
	}
	require.Len(t, s.View().History, acked)
	makeRoom()
	require.NoError(t, s.Append(ctx, session.User("room again"))) // the same handle
	require.NoError(t, s.Close())
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	require.Len(t, v.History, acked+1)
	report, err := upkeep.Verify(ctx, store, "k")
	require.NoError(t, err)
	require.Empty(t, report.Damage)
	t.Log("appends until the disk was full:", acked)
}

// TestRealLimitOfAFile is the same with a limit on the length of a file. It runs in a separate process: the limit holds
// for all files of a process, that in which go test notes what a test opens too.
func TestRealLimitOfAFile(t *testing.T) {
	const child = "WINNOW_LIMITED_FILES"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), "--- PASS: "+t.Name())
		return
	}
	var old syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	limit := old
	fillDisk(t, context.Background(), t.TempDir(), func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)) }, func() {
		limit.Cur = 200 << 10
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	})
}
