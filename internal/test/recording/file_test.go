package recording

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, age time.Duration) string {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(name, at, at))
		return name
	}
	const line = `{"role":"user","parts":[{"text":"hello"}]}` + "\n"
	write("projects/a/old.jsonl", line, time.Hour)
	newest := write("projects/b/sub/new.jsonl", line+line, time.Minute)
	write("projects/b/notes.txt", "of no session", 0)
	write("projects/catalog.jsonl", "which sessions a store has", 0)

	s, file, err := OpenFile(filepath.Join(dir, "projects"))
	require.NoError(t, err)
	assert.Equal(t, newest, file)
	assert.Len(t, s.Messages, 2)

	_, file, err = OpenFile(newest)
	require.NoError(t, err)
	assert.Equal(t, newest, file)

	bad := write("bad.jsonl", "hello\n", 0)
	_, _, err = OpenFile(bad)
	assert.ErrorContains(t, err, "bad.jsonl is not a session of Claude Code")
	_, _, err = OpenFile(filepath.Join(dir, "missing"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	_, _, err = OpenFile(filepath.Join(dir, "empty"))
	assert.ErrorContains(t, err, "there is no session")
}
