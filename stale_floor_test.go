package winnow_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

// A conversation of a few thousand tokens stays append-only: there is nothing worth having in dropping what is stale.
func TestManagerSmallConversationsStayAsTheyAre(t *testing.T) {
	for _, tt := range []struct {
		name        string
		window      int
		turns, size int // characters of a result
		prune       *winnow.PruneOptions
		rewrites    bool
		reason      string
	}{
		{"a chat with one result", 200_000, 6, 500, nil, false, "108 of 795 tokens were cleared"},
		{"4 % of the window", 200_000, 10, 1_100, nil, false, "below the floor in tokens"},
		{"4 % of a small window", 64_000, 6, 1_100, nil, false, "below the floor as a share"},
		{"a tenth of the window", 200_000, 40, 1_500, nil, true, "it has begun to cost"},
		{"a small window", 8_000, 6, 1_100, nil, true, "the same messages are a good part of it"},
		{"a huge window", 2_000_000, 60, 1_500, nil, true, "a share of it alone would never drop anything"},
		{"the host's own share", 200_000, 6, 1_100, &winnow.PruneOptions{SoftTrimRatio: 0.01}, true,
			"it knows what it wants"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock()
			m := newManager(t, tt.window, &winnow.Options{Estimator: byChars, Now: c.Now, Prune: tt.prune})
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
