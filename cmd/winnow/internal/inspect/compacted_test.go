package inspect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// TestCompactedByTheProvider: both hosts send nothing of what stands before a compaction of the provider.
func TestCompactedByTheProvider(t *testing.T) {
	says := func(role winnow.Role, text string) winnow.Message {
		return winnow.Message{Role: role, Parts: []winnow.Part{{Text: text}}}
	}
	sealed := winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Kind: winnow.KindOpaque, MediaType: winnow.MediaCompaction, Signature: "x", Bytes: 400}}}
	h := []winnow.Message{says(winnow.RoleSystem, "RULES"), says(winnow.RoleUser, strings.Repeat("old ", 5_000)), sealed,
		says(winnow.RoleAssistant, "I go on."), says(winnow.RoleUser, "And?"), says(winnow.RoleAssistant, "Done.")}
	r, err := replayed(h, 100_000)
	require.NoError(t, err)
	last := r.Requests[len(r.Requests)-1]
	assert.Less(t, last.Tokens, 1_000)
	assert.Positive(t, last.Kinds[kindSummary])
	assert.Less(t, r.Limit.Requests, 3*float64(r.Requests[0].Tokens))
	limit := newLimitHost(basisOf(100_000, 0), winnow.CharsPerToken(4))
	limit.next(h[:2], r.Made, 0)
	sent := limit.next(h[:5], r.Made, 0)
	require.Len(t, sent, 4)
	assert.Equal(t, "RULES", sent[0].Parts[0].Text)
	assert.Equal(t, "x", sent[1].Parts[0].Signature)
}
