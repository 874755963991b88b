package winnow

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A compaction that failed late is tried again when the conversation has gone on. What was summarized then is
// not paid for again.
func TestCompactionRetryKeepsFinishedChunks(t *testing.T) {
	for _, parts := range []int{2, 5} { // where the first try ends: in the first half, in the second
		read := map[string]bool{} // messages that are summarized
		left := parts
		s := SummarizerFunc(func(_ context.Context, r SummaryRequest) (string, error) {
			if left == 0 {
				return "", errors.New("503 overloaded")
			}
			left--
			for i := range r.Messages {
				if text := r.Messages[i].Parts[0].Text; !r.Messages[i].Summary {
					assert.False(t, read[text], "%.20q is read again", text)
					read[text] = true
				}
			}
			return "## Goal\nsummary of " + r.Messages[0].Parts[0].Text[:12], nil
		})
		m, err := New(64_000, &Options{Summarizer: s, Estimator: CharsPerToken(4), Compact: &CompactOptions{SummarizerWindow: 24_000, Attempts: 1}})
		require.NoError(t, err)
		before, err := m.Snapshot()
		require.NoError(t, err)
		_, err = m.Compact(t.Context(), chatOf(500), "")
		require.ErrorIs(t, err, ErrCompaction)
		after, err := m.Snapshot()
		require.NoError(t, err)
		assert.Equal(t, string(before), string(after))
		first := len(read)
		require.Positive(t, first)

		left = 1_000
		h := chatOf(500)
		h = append(h[:690:690], append([]Message{ // a section that was not there changes the room of the text
			{Role: RoleAssistant, Parts: []Part{{Text: "Trying."}, {Kind: KindToolCall, ID: "x", Name: "sh", Arguments: []byte(`{"path":"a"}`)}}},
			{Role: RoleTool, ToolCallID: "x", ToolName: "sh", IsError: true, Parts: []Part{{Text: "permission denied"}}},
		}, h[690:]...)...)
		r, err := m.Compact(t.Context(), h, "")
		require.NoError(t, err)
		assert.Equal(t, r.Compaction.FirstKept, len(read), "every message is read once")
		assert.Greater(t, len(read), first)
	}
}
