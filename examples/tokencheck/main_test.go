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
	for name, text := range map[string]string{
		"a.txt": strings.Repeat("A plain sentence about nothing in particular. ", 20), "b.json": `{"key": [1, 2, 3]}`,
		"c.bin": "\x00\xff", "empty.txt": "", "sub/d.txt": "天地玄黃宇宙洪荒", ".hidden/e.txt": "not read", ".f.txt": "not read",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	counts := filepath.Join(t.TempDir(), "counts.tsv")
	require.NoError(t, os.WriteFile(counts, []byte("sub/d.txt\t9\n"), 0o644))
	broken := filepath.Join(t.TempDir(), "broken.tsv")
	require.NoError(t, os.WriteFile(broken, []byte("sub/d.txt 9\n"), 0o644))

	for name, tt := range map[string]struct {
		check
		want []string
	}{
		"OpenAI's tokenizer":       {check{family: "o200k", limit: 1 << 20, worst: 1}, []string{"against o200k_base", "\n.json           1", "\n.txt            2", "\nall             3", "tokens  "}},
		"an older one":             {check{family: "cl100k", limit: 1 << 20}, []string{"against cl100k_base"}},
		"counts of whole files":    {check{family: "claude4", counts: counts, limit: 1, worst: 9}, []string{"\nall             1", "9 tokens  sub/d.txt\n"}},
		"another family, on order": {check{family: "claude4", encoding: "o200k_base", limit: 1 << 20}, []string{`family "claude4"`, "against o200k_base"}},
	} {
		var out strings.Builder
		require.NoError(t, tt.run(&out, dir), name)
		for _, want := range tt.want {
			assert.Contains(t, out.String(), want, name)
		}
	}
	for want, c := range map[string]check{
		"unknown tokenizer family": {family: "nobody"}, "unknown encoding": {encoding: "none"}, "-counts": {family: "claude4"},
		"path<tab>tokens": {counts: broken}, "no such file": {counts: filepath.Join(dir, "nowhere")},
	} {
		assert.ErrorContains(t, c.run(io.Discard, dir), want)
	}
	assert.ErrorContains(t, check{limit: 9}.run(io.Discard, t.TempDir()), "no text")
}
