package winnow_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Estimates have a margin. A request that is within the budget and not within the margin is made smaller where that
// is cheap. It is not a reason to fail, and not to ask a summarizer in every request.

// textOf is a text that byChars counts as so many tokens in a message.
func textOf(tokens int) string { return numbered(tokens)[:4*(tokens-1)] }

func TestMarginIsNoReasonToFail(t *testing.T) {
	for _, tt := range []struct{ older, request int }{
		{20_000, 102_600}, {20_000, 107_000}, {2_000, 105_500}, {20_000, 95_000}, {60_000, 100_000},
	} {
		s := says("## Goal\nBook a flight.\n\n## Progress\nIt was looked for and found.")
		m := newManager(t, 128_000, &winnow.Options{Summarizer: s, Estimator: byChars, Now: newClock().Now})
		var h []winnow.Message
		for range 10 {
			h = append(h, userSays(textOf(tt.older/20)), modelSays(textOf(tt.older/20)))
		}
		h = append(h, userSays(textOf(tt.request)))
		r, err := m.Prepare(t.Context(), h)
		require.NoError(t, err, "%+v", tt)
		assert.LessOrEqual(t, r.Tokens, r.Budget)
		assert.Equal(t, 108_000, r.Budget)
		calls := s.count()
		for range 5 {
			h = append(h, modelSays("Yes, and so on."), hostSays("Go on."))
			if r, err = m.Prepare(t.Context(), h); err != nil {
				break
			}
		}
		require.NoError(t, err, "%+v", tt)
		assert.LessOrEqual(t, s.count(), calls, "%+v: the summarizer is asked again for nothing", tt)
		assert.False(t, r.Degraded, "%+v", tt)
	}
}

// The provider counts twice as much, so that what stays leaves no room for a summary besides the reserve. What takes
// some of the reserve has one that says something: once the request is taken, nothing else holds the older messages.
func TestSummaryBesideWhatDoesNotFit(t *testing.T) {
	cause := errors.New("prompt is too long: 12600 tokens > 12000 maximum")
	for _, request := range []int{4_400, 4_500, 4_600, 4_800} {
		s := says("The disks are full.")
		m := newManager(t, 12_000, &winnow.Options{Estimator: byChars, Now: newClock().Now, Summarizer: s})
		h := list(userSays("And the disks? "+textOf(800)), modelSays("They are full. "+textOf(800)), userSays(textOf(request)))
		prepare(t, m, h)
		r, err := m.Recover(t.Context(), h, cause)
		require.NoError(t, err, request)
		require.NotNil(t, r.Compaction, request)
		assert.Contains(t, r.Compaction.Summary, "disks are full", "request %d, rung %s", request, r.Rung)
	}
}
