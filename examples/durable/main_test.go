package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the program that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("DURABLE_DIR"); dir != "" {
		if err := run(context.Background(), os.Stdout, dir, 5*time.Millisecond); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// TestKilledAgain kills the program again and again until it is done.
func TestKilledAgain(t *testing.T) {
	dir := t.TempDir()
	killed := 0
	for wait := 20 * time.Millisecond; ; wait += 5 * time.Millisecond {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "DURABLE_DIR="+dir)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, os.Stderr
		require.NoError(t, cmd.Start())
		timer := time.AfterFunc(wait, func() { cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		if err == nil {
			assert.Contains(t, out.String(), "All together they have 5500 words.")
			break
		}
		killed++
	}
	t.Log("killed", killed, "times")
	assert.Positive(t, killed)
}
