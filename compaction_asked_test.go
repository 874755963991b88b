package winnow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// A summarizer that reads the beginning of a turn also reads the request of that turn: once, cut if it is long, and in
// front of the work on it.
func TestSummarizerReadsTheOpenRequest(t *testing.T) {
	t.Parallel()
	const request = "Now translate the manual into Finnish."
	before := []winnow.Message{userSays("Fix the build."), modelSays(strings.Repeat("I fixed a part of it. ", 300))}
	for _, tt := range []struct {
		name   string
		before []winnow.Message
		asked  string
		steps  int
	}{
		{"a divided turn behind another", before, request, 300},
		{"a divided turn behind another, its beginning short", before, request, 42},
		{"one turn", nil, request, 300},
		{"a long request", nil, request + strings.Repeat(" The manual is long.", 300), 300},
	} {
		var read [][]winnow.Message
		s := winnow.SummarizerFunc(func(_ context.Context, r winnow.SummaryRequest) (string, error) {
			read = append(read, r.Messages)
			return "## Goal\nsome work", nil
		})
		m := newManager(t, 40_000, &winnow.Options{
			Summarizer: s, Estimator: byChars, Now: newClock().Now, FoldAbove: 1,
			Compact: &winnow.CompactOptions{KeepRecent: 2_000, Background: false},
		})
		h := append(append([]winnow.Message{}, tt.before...), userSays(tt.asked))
		for i := range tt.steps {
			id := "call_" + itoa(i)
			h = append(h, modelSends(callPart(id, "read")), winnow.Message{
				Role: winnow.RoleTool, ToolCallID: id, ToolName: "read", Parts: []winnow.Part{textPart(strings.Repeat("page "+itoa(i)+" ", 40))},
			})
		}
		r, err := m.Compact(t.Context(), h, "")
		require.NoError(t, err, tt.name)
		found := 0
		for _, messages := range read {
			for i, message := range messages {
				if strings.HasPrefix(fullText(message), request) {
					found++
					require.Less(t, i+1, len(messages), tt.name)
					assert.Equal(t, winnow.RoleAssistant, messages[i+1].Role, "%s: what was done for it", tt.name)
					assert.LessOrEqual(t, len(fullText(message)), 3_000, tt.name)
				}
			}
		}
		assert.Equal(t, 1, found, tt.name)
		place := min(1, len(tt.before)) // behind the summary of what stood before it
		assert.Equal(t, tt.asked, fullText(r.Messages[place]), "%s: it stays a message", tt.name)
	}
}
