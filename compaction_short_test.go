package winnow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

// A request that nearly fills the window is not refused for the few words that were said before it. A digest of a few
// words stands for them, and no model is asked for so little.
func TestShortHistoryBeforeALargeRequest(t *testing.T) {
	const budget = 3_600
	text := func(tokens int) string { return strings.Repeat("some ", tokens)[:4*tokens] }
	for _, tt := range []struct{ old, over int }{{60, 1}, {60, 15}, {100, 1}, {100, 50}, {200, 150}, {250, 200}} {
		s := says("## Goal\nto go on")
		o := &winnow.Options{Estimator: winnow.CharsPerToken(4), Reserve: 400, Summarizer: s}
		m := newManager(t, budget+400, o)
		h := named(list(userSays(text(tt.old/2)), modelSays(text(tt.old-tt.old/2)), userSays(text(budget-tt.old+tt.over))))
		assert.True(t, m.Plan(h).NeedsCompaction, "%+v", tt)
		r := prepare(t, m, h)
		requestCheck{estimator: o.Estimator}.check(t, h, r)
		assert.LessOrEqual(t, r.Tokens, budget, "%+v", tt)
		assert.True(t, r.Degraded && r.Messages[0].Summary, "%+v", tt)
		assert.Equal(t, h[2], r.Messages[1], "%+v", tt)
		assert.Zero(t, s.count(), "%+v", tt)
	}
	m := newManager(t, budget+400, &winnow.Options{Estimator: winnow.CharsPerToken(4), Reserve: 400})
	_, err := m.Prepare(t.Context(), list(userSays(text(100)), modelSays(text(100)), userSays(text(budget+1))))
	checkOverflow(t, err, budget, 0)
}
