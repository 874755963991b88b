package winnow_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Below a fifth of the window, and below what the host has set, a conversation stays append-only: there is nothing worth
// having in folding it, warm or cold.
func TestManagerSmallConversationsStayAsTheyAre(t *testing.T) {
	for _, tt := range []struct {
		name        string
		window      int
		turns, size int // characters of a result
		above       float64
		rewrites    bool
		reason      string
	}{
		{"a chat with one result", 200_000, 6, 500, 0, false, "108 of 795 tokens were cleared"},
		{"a sixth of the window", 64_000, 16, 1_100, 0, false, "below the share"},
		{"a third of the window", 64_000, 32, 1_100, 0, true, "it has begun to cost"},
		{"a small window", 8_000, 10, 1_100, 0, true, "the same messages are a good part of it"},
		{"a twentieth of a huge window", 1_000_000, 60, 1_500, 0, true, "40 000 tokens are enough, whatever the window"},
		{"a tenth, and the host's own share", 64_000, 16, 1_100, 0.05, true, "it knows what it wants"},
		{"half of the window, and the host wants all of it", 64_000, 48, 1_100, 1, false, "it fits"},
		{"half of a large window, and the host's own share", 100_000, 55, 1_500, 0.9, false,
			"what a host sets has no limit in tokens"},
		{"from the first", 200_000, 10, 1_100, -1, true, "a negative number is 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock()
			m := newManager(t, tt.window, &winnow.Options{Estimator: byChars, Now: c.Now, FoldAbove: tt.above})
			h := agentSession(tt.turns, tt.size)
			rewritten := false
			sent := 0
			for n := range h {
				if h[n].Role != winnow.RoleAssistant {
					continue
				}
				r := prepare(t, m, h[:n])
				rewritten = rewritten || r.FirstChanged < sent ||
					slices.ContainsFunc(r.Edits, func(e winnow.Edit) bool {
						return e.Op == winnow.OpClear || e.Op == winnow.OpTrim
					})
				sent = len(r.Messages)
				if c.pass(time.Second); n%7 == 0 {
					c.pass(10 * time.Minute) // the cache is cold now and then
				}
			}
			assert.Equal(t, tt.rewrites, rewritten, tt.reason)
		})
	}
}

// With FoldAbove 1 nothing is folded while the request fits, also where the provider bills less than was estimated.
func TestNothingGoesWhileItFitsByTheBill(t *testing.T) {
	c := newClock()
	m := newManager(t, 100_000, &winnow.Options{FoldAbove: 1, Estimator: byChars, Now: c.Now, NoMinify: true})
	var h []winnow.Message
	last := 0
	for _, x := range runs(280) { // 140 000 tokens by the estimate
		if x.Role == winnow.RoleAssistant {
			r := prepare(t, m, h)
			require.Less(t, r.Tokens, r.Budget)
			require.Empty(t, recordsIn(r.Messages), "%d messages, %d tokens", len(h), r.Tokens)
			last = r.Tokens
			x.Usage = &winnow.Usage{Input: estimateAll(byChars, r.Messages) / 2, Output: 10}
			c.pass(time.Second)
		}
		h = append(h, x)
	}
	require.Greater(t, estimateAll(byChars, h), 100_000)
	require.Less(t, last, 80_000)
}
