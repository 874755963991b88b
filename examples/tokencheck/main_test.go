package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
		return name
	}
	write("a.txt", strings.Repeat("A plain sentence about nothing in particular. ", 20))
	write("b.json", `{"key": [1, 2, 3]}`)
	write("c.bin", "\x00\xff")
	write("empty.txt", "")
	write("sub/d.txt", "天地玄黃宇宙洪荒")
	write(".hidden/e.txt", "not read")
	write(".f.txt", "not read")
	for _, tt := range []struct {
		why, family, counts string
		want                []string
	}{
		{"OpenAI's tokenizer", "o200k", "", []string{"\n.json           1", "\n.txt            2", "\nall             3", "tokens  "}},
		{"an older one", "cl100k", "", []string{`family "cl100k"`}},
		{"counts of a file", "claude4", write(".counts", "sub/d.txt\t9\n"), []string{"\nall             1", "9 tokens  sub/d.txt\n"}},
	} {
		var out strings.Builder
		require.NoError(t, run(&out, dir, tt.family, tt.counts), tt.why)
		for _, want := range tt.want {
			assert.Contains(t, out.String(), want, tt.why)
		}
	}
	for want, args := range map[string][2]string{
		"unknown tokenizer family": {"nobody"}, "-counts": {"claude4"}, "path<tab>tokens": {"", write(".broken", "sub/d.txt 9\n")},
		"no such file": {"", filepath.Join(dir, "nowhere")},
	} {
		assert.ErrorContains(t, run(io.Discard, dir, args[0], args[1]), want)
	}
	assert.ErrorContains(t, run(io.Discard, t.TempDir(), "o200k", ""), "no text")
}
