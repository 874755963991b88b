package winnow

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/recall"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// What recall quotes says whose it is, and whether the call failed.
func TestOriginOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		m    Message
		tool string
		want string
	}{
		{Message{Role: RoleTool}, "exec", "result of exec"},
		{Message{Role: RoleTool, IsError: true}, "exec", "result of exec, which failed"},
		{Message{Role: RoleTool}, "", "a result"},
		{Message{Role: RoleTool, IsError: true}, "", "a result that failed"},
		{Message{Role: RoleAssistant}, "", "you"},
		{Message{Role: RoleUser}, "", "user"},
		{Message{Role: RoleUser, Injected: true}, "", "the host"},
		{Message{Role: RoleUser, Summary: true}, "", "an earlier summary"},
	} {
		assert.Equal(t, tt.want, originOf(&tt.m, tt.tool))
	}
}

// What Recall costs in each request: some tokens a placeholder, and the tool.
func TestRecallTokens(t *testing.T) {
	tool, err := json.Marshal(RecallTool())
	require.NoError(t, err)
	cleared := (*PruneOptions)(nil).withDefaults(nil).Placeholder
	for name, encoding := range map[string]*tokencount.Encoding{"o200k": tokencount.O200k(), "cl100k": tokencount.CL100k()} {
		count := encoding.Count
		assert.LessOrEqual(t, count(string(tool)), 250, "%s: the tool", name)
		t.Logf("%s: the tool %d tokens", name, count(string(tool)))
		most := 0
		for i := range 10_000 {
			var h hasher
			k := h.key(&Message{ID: "x", Role: RoleUser, Parts: []Part{{Text: fmt.Sprint(i)}}})
			note := recall.Note(handlesOf([]*fact{{key: k}}).Of(0))
			for placeholder, with := range map[string]string{
				cleared: excerpt.WithNote(cleared, note),
				"[1234 characters left out. Names in it: x]": "[1234 characters left out" + note + ". Names in it: x]",
			} {
				most = max(most, count(with)-count(placeholder))
			}
		}
		assert.LessOrEqual(t, most, 8, "%s: the handle in a placeholder", name)
		t.Logf("%s: a placeholder %d tokens", name, most)
	}
}

// The tool is part of what every request holds besides the history.
func TestRecallIsOverhead(t *testing.T) {
	without := newManager(t, 20_000, &Options{Overhead: 100})
	with := newManager(t, 20_000, &Options{Overhead: 100, Recall: true})
	tool, err := json.Marshal(RecallTool())
	require.NoError(t, err)
	more := with.opts.Overhead - without.opts.Overhead
	assert.Equal(t, textTokens(with.opts.Estimator, string(tool)), more)
	h := []Message{{Role: RoleUser, Parts: []Part{{Text: "Hello."}}}}
	assert.Equal(t, more, with.Plan(h).Tokens-without.Plan(h).Tokens)
}
