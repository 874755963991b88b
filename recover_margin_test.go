package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Estimates have a margin. A request that is within the budget and not within the margin is made smaller where that
// is cheap. It is not a reason to fail, and not to ask a summarizer in every request.

// textOf is a text that byChars counts as the given number of tokens in a message.
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

// The provider counts more for the two ends of a result than for its middle, so a result that was cut has more tokens
// than the count of the refused request suggests. A summary does not help, because all results are in the newest step.
func TestResultsAreCutUntilTheProviderTakesThem(t *testing.T) {
	const window, reserve = 32_000, 8_000
	for _, tt := range []struct {
		factor   float64 // of the tokens of a result that Recover has cut
		refusals int
		reason   string
	}{
		{1.06, 1, "the margin that is left after the first refusal is enough"},
		{1.2, 2, "the second refusal teaches the rest"},
	} {
		m := newManager(t, window, &winnow.Options{Estimator: byChars, Reserve: reserve, Now: newClock().Now})
		counted := func(messages []winnow.Message) (n int) {
			for i := range messages {
				part := float64(byChars.Estimate(messages[i]))
				switch isResult := messages[i].Role == winnow.RoleTool; {
				case isResult && part < 5_450:
					part *= tt.factor
				case isResult:
					part *= 1.03
				}
				n += int(part)
			}
			return n
		}
		h := list(userSays(textOf(13_000)), modelCalls("a", "b"), toolSays("a", textOf(9_000)), toolSays("b", textOf(9_000)))
		h[1].Usage = &winnow.Usage{Input: counted(h[:1])}
		refusals := 0
		_, r, err := winnow.Do(t.Context(), m, h, func(_ context.Context, sent []winnow.Message) (string, error) {
			n := counted(sent)
			if n <= window-reserve {
				return "Done.", nil
			}
			refusals++
			return "", fmt.Errorf("input length and `max_tokens` exceed context limit: %d + %d > %d", n, reserve, window)
		})
		require.NoError(t, err, tt.reason)
		assert.Equal(t, tt.refusals, refusals, tt.reason)
		assert.Greater(t, counted(r.Messages), (window-reserve)*3/4, "no more was cut than had to be")
	}
}

// What no message shows, such as tools, takes half of the window, as the host or the provider's usage says. The count
// in a refusal is then right, although it is far above the estimate of the messages.
func TestCountAboveTheEstimateIsTakenWhereMuchIsHidden(t *testing.T) {
	const hidden = 15_000
	cause := errors.New("input length and `max_tokens` exceed context limit: 24500 + 8000 > 32000")
	for _, overhead := range []int{0, hidden} {
		m := newManager(t, 32_000, &winnow.Options{Estimator: byChars, Reserve: 8_000, Overhead: overhead, Now: newClock().Now})
		h := list(userSays("Look."), modelCalls("a"), toolSays("a", textOf(4_600)))
		if overhead == 0 {
			h[1].Usage = &winnow.Usage{Input: hidden}
		}
		prepare(t, m, h)
		r, err := m.Recover(t.Context(), h, cause)
		require.NoError(t, err, overhead)
		assert.Equal(t, 24_000, r.Budget, "overhead %d: the count is used, and no limit is guessed", overhead)
	}
}

// The provider refuses without numbers. All that can be shrunk is a twentieth of the request, and that is enough.
func TestALittleSmallerIsTriedBeforeGivingUp(t *testing.T) {
	const window, reserve = 32_000, 8_000
	m := newManager(t, window, &winnow.Options{Estimator: byChars, Reserve: reserve, Now: newClock().Now})
	h := list(userSays(textOf(22_900)), modelCalls("a"), toolSays("a", textOf(1_000)))
	refusals := 0
	_, r, err := winnow.Do(t.Context(), m, h, func(_ context.Context, sent []winnow.Message) (string, error) {
		if estimateAll(byChars, sent) <= 23_700 {
			return "Done.", nil
		}
		refusals++
		return "", errNoNumbers
	})
	require.NoError(t, err)
	assert.Equal(t, 1, refusals)
	assert.Equal(t, "smallest", r.Rung)
}
