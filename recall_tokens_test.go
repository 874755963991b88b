package winnow

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/bpe"
	"github.com/winnowgo/winnow/internal/cut"
)

// What Recall costs in each request: some tokens a placeholder, and the tool.
func TestRecallTokens(t *testing.T) {
	tool, err := json.Marshal(RecallTool())
	require.NoError(t, err)
	for name, encoding := range map[string]*bpe.Encoding{"o200k": bpe.O200k(), "cl100k": bpe.CL100k()} {
		count := func(s string) int {
			n, ok := encoding.Count(s)
			require.True(t, ok)
			return n
		}
		assert.LessOrEqual(t, count(string(tool)), 250, "%s: the tool", name)
		t.Logf("%s: the tool %d tokens", name, count(string(tool)))
		most := 0
		for i := range 10_000 {
			var h hasher
			note := noteOf(handlesOf([]*fact{{key: h.key(&Message{ID: "x", Role: RoleUser, Parts: []Part{{Text: fmt.Sprint(i)}}})}}).of(0))
			for _, placeholder := range []string{defaultPlaceholder, "[1234 characters left out. Names in it: x]"} {
				with := cut.WithNote(defaultPlaceholder, note)
				if placeholder != defaultPlaceholder {
					with = "[1234 characters left out" + note + ". Names in it: x]"
				}
				most = max(most, count(with)-count(placeholder))
			}
		}
		assert.LessOrEqual(t, most, 8, "%s: the handle in a placeholder", name)
		t.Logf("%s: a placeholder %d tokens", name, most)
	}
}

// The tool is part of what every request holds besides the history.
func TestRecallIsOverhead(t *testing.T) {
	without, err := New(20_000, &Options{Overhead: 100})
	require.NoError(t, err)
	with, err := New(20_000, &Options{Overhead: 100, Recall: true})
	require.NoError(t, err)
	tool, err := json.Marshal(RecallTool())
	require.NoError(t, err)
	more := with.opts.Overhead - without.opts.Overhead
	assert.Equal(t, textTokens(with.opts.Estimator, string(tool)), more)
	h := []Message{{Role: RoleUser, Parts: []Part{{Text: "Hello."}}}}
	assert.Equal(t, more, with.Plan(h).Tokens-without.Plan(h).Tokens)
}

// Two messages whose short handles are the same have different ones, and each is found by its own.
func TestHandlesDiffer(t *testing.T) {
	a, b := key{1, 2, 3}, key{1, 2, 3}
	b[8] = 7
	require.Equal(t, shortHandle(a), shortHandle(b))
	facts := []*fact{{key: key{9}}, {key: a}, {key: b}, {key: a}, {key: b}}
	h := handlesOf(facts)
	assert.Len(t, h.of(1), handleDigits)
	assert.Len(t, h.of(2), longHandleDigits)
	assert.Equal(t, h.of(1), h.of(3), "equal messages are one")
	assert.Equal(t, h.of(2), h.of(4))
	for i, want := range []int{0, 1, 2, 1, 2} {
		assert.Equal(t, want, findHandle(facts, h.of(i)))
	}
	assert.Equal(t, -1, findHandle(facts, "10000000"))
	assert.Equal(t, -1, findHandle(facts, "x"))
	assert.Equal(t, 3, findSpan(facts[2:], spanHandle(b))+3)
}

func FuzzRecallArguments(f *testing.F) {
	for _, s := range []string{`{"handle":"12345678","from":1,"to":"9","words":"x","pattern":"y","context":1e9}`, `"１２３４５６７８"`, `{"lines":"-"}`, `[`, ``} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		a := readRecallArguments(json.RawMessage(raw))
		assert.True(t, a.handle == "" || isHandle(a.handle))
		assert.True(t, a.from >= 0 && a.to >= 0 && a.context >= 0 && a.context <= maxRecallContext)
	})
}
