package winnow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// A summary that leaves no room for what followed it is written again in fewer words: here a list of files fills it.
func TestSummaryThatLeavesNoRoom(t *testing.T) {
	const budget = 1_000
	text := func(tokens int) string { return strings.Repeat("some ", tokens)[:4*tokens] }
	o := &winnow.Options{Estimator: winnow.CharsPerToken(4), Reserve: 250, Summarizer: says("## Goal\n" + text(40))}
	m := newManager(t, budget+250, o)
	h := list(userSays("Look."))
	for i := range 20 {
		file := "directory_" + itoa(i) + "/package_" + itoa(i) + "/file_" + itoa(i) + ".go"
		h = append(h, reads(itoa(i), file), readResult(itoa(i), text(100)))
	}
	h = named(append(h, modelSays("Seen."), userSays(text(300))))
	first, err := m.Compact(t.Context(), h, "")
	require.NoError(t, err)
	h = named(append(h, modelSays(text(budget-first.Tokens+20))))
	r := prepare(t, m, h)
	requestCheck{estimator: o.Estimator}.check(t, h, r)
	assert.True(t, r.Degraded)
	assert.Less(t, r.Counts[0], first.Counts[0])
}

// A summary that was written again in fewer words is not forgotten: the next one goes on from the longer one.
func TestSummaryBehindShortOne(t *testing.T) {
	const budget = 1_000
	text := func(tokens int) string { return strings.Repeat("some ", tokens)[:4*tokens] }
	s := says("## Goal\n" + text(100) + "\n\n## Notes\nThe deploy key lives with Marta.")
	m := newManager(t, budget+250, &winnow.Options{Estimator: winnow.CharsPerToken(4), Reserve: 250, Summarizer: s})
	h := named(list(userSays("Look."), modelSays(text(400)), userSays(text(300)), modelSays(text(300)), userSays(text(200))))
	first, err := m.Compact(t.Context(), h, "")
	require.NoError(t, err)
	h = named(append(h, modelSays(text(budget-first.Tokens+70))))
	r := prepare(t, m, h)
	require.True(t, r.Degraded)
	require.NotContains(t, r.Messages[0].Parts[0].Text, "Marta")
	n := s.count()
	prepare(t, m, named(append(h, userSays(text(100)), modelSays(text(200)))))
	require.Greater(t, s.count(), n)
	assert.Contains(t, s.calls[n].Previous, "Marta")
}
