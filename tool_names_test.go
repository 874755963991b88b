package winnow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// namelessHistory is what the usual loop makes: the results of each step are imported on their own, and know nothing
// but the ids of their calls. Every second call is of a tool whose results are not to be pruned.
func namelessHistory(steps int, ids bool) []winnow.Message {
	h := list(userSays("Look around."))
	for i := range steps {
		tool, id := "memory_get", "call_"+itoa(i)
		if i%2 == 1 {
			tool = "exec"
		}
		if !ids {
			id = ""
		}
		result := toolSays(id, tool+" says\n"+numbered(300))
		result.ToolName = ""
		h = append(h, modelSends(callPart(id, tool)), result)
	}
	return append(h, userSays("And now?"))
}

// protectedResults counts the results of the tool that is protected, and those of them that are whole.
func protectedResults(messages []winnow.Message) (all, whole int) {
	for i := 1; i < len(messages); i++ {
		if messages[i].Role != winnow.RoleTool || messages[i-1].Parts[0].Name != "memory_get" {
			continue
		}
		all++
		if text := fullText(messages[i]); strings.HasPrefix(text, "memory_get says\n") && strings.HasSuffix(text, numbered(300)) {
			whole++
		}
	}
	return all, whole
}

func TestToolNamesOfNamelessResults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		prune  winnow.PruneOptions
		ids    bool
		reason string
	}{
		{"denied", winnow.PruneOptions{DenyTools: []string{"memory_*"}}, true, "the call says which tool it is"},
		{"not allowed", winnow.PruneOptions{AllowTools: []string{"exec"}}, true, "the same the other way round"},
		{"denied, no ids", winnow.PruneOptions{DenyTools: []string{"memory_*"}}, false, "calls without ids are answered in order"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := namelessHistory(40, tt.ids)
			o := tt.prune
			o.SoftTrimRatio, o.HardClearRatio = 0.01, 0.01
			pruned, edits := winnow.PruneContext(h, 60_000, &o)
			all, whole := protectedResults(pruned)
			assert.Equal(t, 20, all)
			assert.Equal(t, all, whole, "%s: PruneContext", tt.reason)
			assert.NotEmpty(t, edits, "others are pruned: the test proves something")

			if len(tt.prune.AllowTools) > 0 {
				return // a manager is told which tools are kept, and not which are not
			}
			m := newManager(t, 150_000, &winnow.Options{Tools: &winnow.ToolOptions{Keep: tt.prune.DenyTools}, Compact: &winnow.CompactOptions{Off: true}})
			request, err := m.Prepare(t.Context(), h)
			require.NoError(t, err)
			all, whole = protectedResults(request.Messages)
			assert.Equal(t, 20, all)
			assert.Equal(t, all, whole, "%s: Prepare", tt.reason)
			assert.NotEmpty(t, request.Edits)
		})
	}
}

// TestToolNamesInSummaries has the tool of a failure in the digest and in what a summarizer is sent.
func TestToolNamesInSummaries(t *testing.T) {
	h := namelessHistory(40, true)
	for i := range h {
		h[i].IsError = h[i].Role == winnow.RoleTool
	}
	s := &fakeSummarizer{answer: func(int, winnow.SummaryRequest) (string, error) { return "## Goal\nLook around.", nil }}
	o := &winnow.Options{Summarizer: s, Compact: &winnow.CompactOptions{KeepRecent: 1_000}}
	m := newManager(t, 60_000, o)
	request, err := m.Compact(t.Context(), h, "")
	require.NoError(t, err)
	assert.Contains(t, request.Compaction.Summary, "- memory_get: memory_get says")
	require.NotEmpty(t, s.calls)
	for i := range s.calls[0].Messages {
		if result := &s.calls[0].Messages[i]; result.Role == winnow.RoleTool {
			assert.Contains(t, []string{"memory_get", "exec"}, result.ToolName)
		}
	}
}
