package winnow

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pullOutput is what git pull prints on a terminal, for the n-th time.
func pullOutput(n int) string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "receiving objects: %d%%\r", i)
	}
	return b.String() + fmt.Sprintf("done, %d files\nok\n", n)
}

// pulls is the history of an agent every other result of which is written shorter.
func pulls(calls int) []Message {
	h := []Message{userMessage("Begin.")}
	for i := range calls {
		id := fmt.Sprint("call_", i)
		text := fmt.Sprintf("nothing but file_%d.go\n", i)
		if i%2 == 0 {
			text = pullOutput(i)
		}
		h = append(h, Message{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: id, Name: "exec", Arguments: json.RawMessage(`{"cmd":"git pull"}`)}}, Usage: &Usage{Input: 900 + 50*i}},
			Message{Role: RoleTool, ToolCallID: id, ToolName: "exec", Parts: []Part{{Text: text}}})
	}
	return h
}

// A result that is written shorter is added on the short way, like any other one. The request is that of a manager that
// takes the long way each time.
func TestExtendMinifies(t *testing.T) {
	h := pulls(40)
	o := &Options{Estimator: CharsPerToken(4), FoldAbove: 1, Minify: &MinifyOptions{}}
	short, err := New(1_000_000, o)
	require.NoError(t, err)
	var state []byte
	ways := 0 // that were short
	for n := 1; n <= len(h); n += 2 {
		r, err := short.Prepare(t.Context(), h[:n:n])
		require.NoError(t, err)
		if short.short.draft.settings != nil {
			ways++
		}
		long, err := New(1_000_000, o)
		require.NoError(t, err)
		if state != nil {
			require.NoError(t, long.Restore(state))
		}
		want, err := long.Prepare(t.Context(), h[:n:n])
		require.NoError(t, err)
		require.Equal(t, want.Messages, r.Messages, "request %d", n/2)
		require.Equal(t, want.Edits, r.Edits, "request %d", n/2)
		require.Equal(t, want.History, r.History)
		for _, pair := range [][2]int{{want.Tokens, r.Tokens}, {want.Bytes, r.Bytes}, {want.FirstChanged, r.FirstChanged}} {
			require.Equal(t, pair[0], pair[1], "request %d", n/2)
		}
		require.Equal(t, want.Counts, r.Counts)
		require.InDelta(t, want.CostUnedited, r.CostUnedited, 1e-6)
		state, err = short.Snapshot()
		require.NoError(t, err)
		other, err := long.Snapshot()
		require.NoError(t, err)
		require.JSONEq(t, withoutTimes(t, other), withoutTimes(t, state), "request %d", n/2)
	}
	assert.Len(t, short.ledger.projections, 20)
	assert.Greater(t, ways, 30, "all but the first, which makes the request a list of its own, and searches for an epoch")
}

// withoutTimes is a snapshot without the time at which a request was sent.
func withoutTimes(t *testing.T, state []byte) string {
	t.Helper()
	var fields map[string]any
	require.NoError(t, json.Unmarshal(state, &fields))
	delete(fields, "sentAt")
	b, err := json.Marshal(fields)
	require.NoError(t, err)
	return string(b)
}

// A journal that fails leaves the manager as it was, also where a result was written shorter.
func TestExtendMinifiesJournal(t *testing.T) {
	h := pulls(20)
	fail := false
	var deltas [][]byte
	o := &Options{Estimator: CharsPerToken(4), FoldAbove: 1, Minify: &MinifyOptions{}, Journal: func(delta []byte) error {
		if fail {
			return errors.New("the disk is full")
		}
		deltas = append(deltas, slices.Clone(delta))
		return nil
	}}
	m, err := New(1_000_000, o)
	require.NoError(t, err)
	for n := 1; n <= len(h); n += 2 {
		before, err := m.Snapshot()
		require.NoError(t, err)
		if n > 1 {
			fail = true
			_, err = m.Prepare(t.Context(), h[:n:n])
			require.ErrorContains(t, err, "the disk is full")
			fail = false
			after, err := m.Snapshot()
			require.NoError(t, err)
			require.JSONEq(t, string(before), string(after))
		}
		r, err := m.Prepare(t.Context(), h[:n:n])
		require.NoError(t, err)
		again, err := New(1_000_000, &Options{Estimator: CharsPerToken(4), FoldAbove: 1, Minify: &MinifyOptions{}})
		require.NoError(t, err)
		require.NoError(t, again.Restore(nil, deltas...))
		require.Equal(t, r.Messages, again.Plan(h[:n:n]).Messages)
	}
	assert.Less(t, len(deltas[len(deltas)-1]), 2_000, "a delta is as long as what is new")
}
