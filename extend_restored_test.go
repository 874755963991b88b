package winnow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// The provider's count that comes with an answer is known when the results behind it are cut: by a manager that goes on,
// and by one that was restored.
func TestNewResultsAreCutByTheNewestCount(t *testing.T) {
	cuts := 0
	for size := 4_000; size <= 16_000; size += 400 {
		o := &winnow.Options{Estimator: byChars, Now: newClock().Now}
		m, restored := newManager(t, 10_000, o), newManager(t, 10_000, o)
		h := list(userSays(numbered(100)), modelSays("What next?"), userSays("The log."))
		prepare(t, m, h[:1])
		first := prepare(t, m, h)
		require.NoError(t, restored.Restore([]byte(snapshotOf(t, m))))

		call := modelCalls("a")
		call.Usage = &winnow.Usage{Input: 2 * first.Tokens} // the estimates are too low
		h = append(h, call, toolSays("a", numbered(400)[:size]))
		want, got := prepare(t, restored, h), prepare(t, m, h)
		sameWire(t, want.Messages, got.Messages, "a result of %d characters", size)
		require.Equal(t, want, got)
		cuts += len(got.Edits)
	}
	assert.Positive(t, cuts)
	assert.Less(t, cuts, 31)
}

// An id that the repair made for a call stays in use when the call is dropped from the request.
func TestAnIDThatEqualsAMadeOne(t *testing.T) {
	o := &winnow.Options{HistoryTurns: 1, Now: newClock().Now}
	m := newManager(t, 100_000, o)
	h := named(list(userSays("q"), modelCalls("x"), toolSays("x", "1"), modelCalls("x"), toolSays("x", "2"), modelSays("done"), userSays("and now?"), modelCalls("y"), toolSays("y", "3")))
	prepare(t, m, h[:len(h)-2])
	r := prepare(t, m, h)
	require.Equal(t, "x_2", r.History[3].Parts[0].ID)
	require.Len(t, r.Messages, 3, "the turn limit has dropped it")
	h = append(h, modelCalls("x_2"), toolSays("x_2", "4"))
	restored := newManager(t, 100_000, o)
	require.NoError(t, restored.Restore([]byte(snapshotOf(t, m))))
	want := prepare(t, restored, h)
	r = prepare(t, m, h)
	ids := map[string]int{}
	for i := range r.History {
		for _, p := range r.History[i].Parts {
			ids[p.ID]++
		}
	}
	for id, n := range ids {
		assert.True(t, n == 1 || id == "", "%s is there %d times", id, n)
	}
	assert.Equal(t, want, r)
}

// Edits account for each message of the history, and for what was made for it.
func TestEditsOfAStandIn(t *testing.T) {
	m := newManager(t, 100_000, &winnow.Options{HistoryTurns: 1, Now: newClock().Now})
	h := named(list(userSays("q"), modelCalls("a", "b"), toolSays("a", "1"), userSays("and now?")))
	r := prepare(t, m, h)
	require.Len(t, r.Messages, 1)
	count := make([]int, len(h))
	for _, e := range r.Edits {
		switch {
		case e.Before == 0:
			count[e.Index]++
		case e.After == 0:
			count[e.Index]--
		}
	}
	assert.Equal(t, []int{-1, -1, -1, 0}, count, "%+v", r.Edits)
}
