package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.txt": strings.Repeat("A plain sentence about nothing in particular. ", 20), "b.json": `{"key": [1, 2, 3]}`,
		"c.bin": "\x00\xff", "empty.txt": "", "sub/d.txt": "天地玄黃宇宙洪荒",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	var out strings.Builder
	require.NoError(t, run(&out, dir, "o200k", "o200k_base", "", 1<<20))
	t.Log(out.String())
	for _, want := range []string{"\n.json           1", "\n.txt            2", "\nall             3"} {
		assert.Contains(t, out.String(), want)
	}

	counts := filepath.Join(t.TempDir(), "counts.tsv")
	require.NoError(t, os.WriteFile(counts, []byte("sub/d.txt\t9\n"), 0o644))
	out.Reset()
	require.NoError(t, run(&out, dir, "claude4", "", counts, 1<<20))
	assert.Contains(t, out.String(), "\nall             1")

	assert.Error(t, run(&out, dir, "nobody", "o200k_base", "", 1<<20))
	assert.Error(t, run(&out, dir, "", "none", "", 1<<20))
	assert.Error(t, run(&out, t.TempDir(), "", "o200k_base", "", 1<<20))
}
