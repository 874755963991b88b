package winnow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// A process that is restarted while the summarizer is down does not ask it more often than one that goes on, and asks for
// a summary of the same size. For another model it asks.
func TestRestoredInAnOutage(t *testing.T) {
	const window = 20_000
	down := fails(errDown)
	clock := newClock()
	options := func(s winnow.Summarizer) *winnow.Options {
		return &winnow.Options{Summarizer: s, Estimator: byChars, Now: clock.Now, Tools: keepAll, Compact: &winnow.CompactOptions{Attempts: 1}}
	}
	m := newManager(t, window, options(down))
	opened, rooms := 0, 0
	log := chat(160, 1_000)
	for n := 2; n < len(log); n += 2 {
		state := []byte(snapshotOf(t, m))
		before, again, other := down.count(), fails(errDown), fails(errDown)
		restored, another := newManager(t, window, options(again)), newManager(t, window-500, options(other))
		require.NoError(t, restored.Restore(state))
		require.NoError(t, another.Restore(state))
		want := prepare(t, m, log[:n])
		got := prepare(t, restored, log[:n])
		prepare(t, another, log[:n])
		require.Equal(t, down.count()-before, again.count(), "calls for request %d", n)
		require.Equal(t, want, got, "request %d", n)
		for k, req := range again.calls {
			require.Equal(t, down.calls[before+k].MaxTokens, req.MaxTokens, "request %d", n)
			rooms++
		}
		if again.count() == 0 && other.count() > 0 {
			opened++
		}
	}
	assert.Greater(t, rooms, 2)
	assert.Positive(t, opened, "the breaker was open, and closed for another window")
}
