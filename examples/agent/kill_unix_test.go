//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// TestCommandsLeaveNothingBehind: processes that a command has started end with it when the user stops.
func TestCommandsLeaveNothingBehind(t *testing.T) {
	dir := t.TempDir()
	tools, err := openTools(dir, true)
	require.NoError(t, err)
	defer tools.close()
	started := filepath.Join(dir, "pid")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for n := 0; n < 500; n++ {
			if b, _ := os.ReadFile(started); strings.HasSuffix(string(b), "\n") {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	m := tools.call(ctx, winnow.Part{Name: "run", Arguments: []byte(`{"command":"sleep 1000 & echo $! >pid; wait"}`)})
	assert.True(t, m.IsError)
	b, err := os.ReadFile(started)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	require.NoError(t, err)
	assert.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil }, 5*time.Second, 10*time.Millisecond, "the child still runs")
}
