package winnow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// A framework that makes its history of the request that went out has lost its own. That is noticed at the next
// request, in this process and in the next one, and nothing else is taken for it.
func TestSentAsHistory(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options winnow.Options
		op      winnow.Op
	}{
		{"a record", winnow.Options{FoldAbove: -1, Compact: &winnow.CompactOptions{Off: true}}, winnow.OpFold},
		{"a summary", winnow.Options{FoldAbove: 1, Tools: &winnow.ToolOptions{Keep: []string{"*"}}}, winnow.OpCompact},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := winnow.New(16_000, &tt.options)
			require.NoError(t, err)
			history := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Read all of it."}}}}
			var sent *winnow.Request
			for i := 0; sent == nil || len(sent.Edits) == 0 || sent.Edits[0].Op != tt.op; i++ {
				require.Less(t, i, 40)
				id := fmt.Sprint("call_", i)
				history = append(history,
					winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindToolCall, ID: id, Name: "read", Arguments: []byte(fmt.Sprintf(`{"path":"%d.md"}`, i))}}},
					winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: "read", Parts: []winnow.Part{{Text: strings.Repeat(fmt.Sprintf("Line of part %d. ", i), 250)}}})
				sent, err = m.Prepare(t.Context(), history)
				require.NoError(t, err)
			}
			// What an SDK's messages keep of it: neither Injected nor Summary.
			kept := make([]winnow.Message, len(sent.Messages))
			for i, m := range sent.Messages {
				kept[i] = winnow.Message{Role: m.Role, Parts: m.Parts, ToolCallID: m.ToolCallID, ToolName: m.ToolName}
			}
			again, err := winnow.New(16_000, &tt.options)
			require.NoError(t, err)
			state, err := m.Snapshot()
			require.NoError(t, err)
			require.NoError(t, again.Restore(state))
			for _, of := range []*winnow.Manager{m, again} {
				_, err = of.Prepare(t.Context(), kept)
				require.ErrorIs(t, err, winnow.ErrSentAsHistory)
				assert.ErrorContains(t, err, "docs/frameworks.md")
				after, err := of.Snapshot()
				require.NoError(t, err)
				assert.Equal(t, state, after, "nothing is changed")
				_, err = of.Prepare(t.Context(), history)
				assert.NoError(t, err, "the host's own")
				_, err = of.Prepare(t.Context(), sent.History)
				assert.NoError(t, err, "what a host may keep")
			}
			stranger, err := winnow.New(16_000, &tt.options)
			require.NoError(t, err)
			_, err = stranger.Prepare(t.Context(), kept)
			assert.NoError(t, err, "of another conversation: a person may show it")
		})
	}
}
