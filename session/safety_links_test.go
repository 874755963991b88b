package session_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
)

func TestLinksAreRefused(t *testing.T) {
	ctx := context.Background()
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("secret\n"), 0o600))
	newer := "29991231-000000-000-00000000.jsonl"
	for name, plant := range map[string]func(t *testing.T, dir, log string){
		"a newer log": func(t *testing.T, dir, _ string) { require.NoError(t, os.Symlink(outside, filepath.Join(dir, newer))) },
		"a newer log, relative": func(t *testing.T, dir, log string) {
			require.NoError(t, os.Symlink(filepath.Base(log), filepath.Join(dir, newer)))
		},
		"the lock of the log": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "log.lock")))
			require.NoError(t, os.Symlink(outside, filepath.Join(dir, "log.lock")))
		},
		"the lock of the turn": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "turn.lock")))
			require.NoError(t, os.Symlink(outside, filepath.Join(dir, "turn.lock")))
		},
		"who is next": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.Symlink(outside, filepath.Join(dir, "turn.next")))
		},
		"the directory":        func(t *testing.T, dir, _ string) { moveBehindALink(t, dir) },
		"the directory above":  func(t *testing.T, dir, _ string) { moveBehindALink(t, filepath.Dir(dir)) },
		"that of all sessions": func(t *testing.T, dir, _ string) { moveBehindALink(t, filepath.Dir(filepath.Dir(dir))) },
		"a log that is a pipe": func(t *testing.T, dir, _ string) { makePipe(t, filepath.Join(dir, newer)) },
		"a lock that is a pipe": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "turn.lock")))
			makePipe(t, filepath.Join(dir, "turn.lock"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, dir, log := written(t)
			plant(t, dir, log)
			s, err := store.Open(ctx, "k")
			if err == nil {
				s.Close()
			}
			require.Error(t, err)
			text, err := os.ReadFile(outside)
			require.NoError(t, err)
			assert.Equal(t, "secret\n", string(text))
		})
	}
}

// moveBehindALink moves a directory and puts a link in its place.
func moveBehindALink(t *testing.T, dir string) {
	require.NoError(t, os.Rename(dir, dir+"-moved"))
	require.NoError(t, os.Symlink(filepath.Base(dir)+"-moved", dir))
}

// makePipe makes a named pipe. Whoever opens it waits for ever.
func makePipe(t *testing.T, name string) {
	if out, err := exec.Command("mkfifo", name).CombinedOutput(); err != nil {
		t.Skip("no pipe can be made here: ", string(out))
	}
}

func TestDirectoriesOfOthersAreRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600))
	_, err := session.OpenDirectory(dir, nil)
	require.ErrorIs(t, err, session.ErrFormat)

	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "winnow.json"), []byte(`{"format":2}`), 0o600))
	_, err = session.OpenDirectory(dir, nil)
	require.ErrorIs(t, err, session.ErrFormat)

	store, _, log := written(t)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	s := open(t, store, "other")
	require.NoError(t, s.Append(context.Background(), session.User("x")))
	require.NoError(t, s.Close())
	logs, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(log))), "*", "k-other", "*.jsonl"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(logs[0], text, 0o600)) // the log of another key
	_, err = store.Open(context.Background(), "other")
	require.ErrorIs(t, err, session.ErrFormat)
}
