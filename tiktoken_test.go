package winnow

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What one call takes is bounded by the texts of a message together, however many parts they are.
func TestTiktokenSizeCap(t *testing.T) {
	exact, err := TiktokenEstimator("o200k_base")
	require.NoError(t, err)
	estimate, err := NewEstimator("o200k")
	require.NoError(t, err)
	half := Part{Text: strings.Repeat("word ", maxExactBytes/10)}
	message := func(parts ...Part) Message { return Message{Role: RoleUser, Parts: parts} }
	for _, tt := range []struct {
		name      string
		message   Message
		estimated bool
	}{
		{"at the cap", message(half, half), false},
		{"one text above it", message(Part{Text: half.Text + half.Text + "several words"}), true},
		{"several above it together", message(half, half, Part{Text: "several words"}), true},
		{"arguments count", message(half, half, Part{Kind: KindToolCall, Arguments: []byte(`{"a":"several"}`)}), true},
	} {
		got, estimated := exact.Estimate(tt.message), estimate.Estimate(tt.message)
		assert.Equal(t, tt.estimated, got == estimated, "%s: %d, estimated %d", tt.name, got, estimated)
		assert.InEpsilon(t, maxExactBytes/5, got, .3, tt.name)
	}
}

func TestTiktokenUnknown(t *testing.T) {
	_, err := TiktokenEstimator("p50k")
	assert.ErrorContains(t, err, `"o200k_base"`)
}

func TestTiktokenConcurrent(t *testing.T) {
	e, err := TiktokenEstimator("cl100k_base")
	require.NoError(t, err)
	m := Message{Role: RoleUser, Parts: []Part{{Text: "The quick brown fox"}}}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { assert.Equal(t, 4+4, e.Estimate(m)) })
	}
	wg.Wait()
}

// A program that never calls TiktokenEstimator has no vocabulary in it.
func TestTiktokenLinkedOnDemand(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "main.exe")
	require.NoError(t, os.WriteFile(source, []byte(`package main

import "github.com/winnowgo/winnow"

func main() {
	e, err := winnow.NewEstimator("o200k")
	println(e.Estimate(winnow.Message{}), err)
}
`), 0o644))
	out, err := exec.Command(tool, "build", "-o", binary, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	code, err := os.ReadFile(binary)
	require.NoError(t, err)
	constants, err := os.ReadFile("internal/tokencount/data/constants.tsv")
	require.NoError(t, err)
	assert.Contains(t, string(code), string(constants[:1000]), "what is called is in the program")
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		vocabulary, err := os.ReadFile("internal/bpe/vocab/" + name + ".gz")
		require.NoError(t, err)
		assert.NotContains(t, string(code), string(vocabulary[:4096]), name)
	}
}

func FuzzTiktoken(f *testing.F) {
	for _, s := range []string{"", "a\xff\xfe", "<|endoftext|>", "\n/ x", "\u0345́é你"} {
		f.Add(s)
	}
	e, err := TiktokenEstimator("cl100k_base")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, s string) {
		m := Message{Parts: []Part{{Text: s}}}
		n := e.Estimate(m)
		assert.GreaterOrEqual(t, n, 0)
		assert.LessOrEqual(t, n, e.(bounded).atMost(&m))
	})
}
