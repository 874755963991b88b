package winnow_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// When the rung of a summary asks a model.

const spoken = "## Goal\nTalk.\n\n## Progress\nMuch was said."

// A summary that would stand for less than a twentieth of the budget costs more than it gains: a digest stands in, and the
// model is asked when there is more.
func TestModelIsAskedForEnough(t *testing.T) {
	for _, tt := range []struct {
		turns int // of 250 tokens, since the last summary
		asked int
	}{{2, 0}, {14, 1}} {
		s := says(spoken)
		m := newManager(t, 40_000, &winnow.Options{Estimator: byChars, Summarizer: s, Now: newClock().Now, Compact: &winnow.CompactOptions{KeepRecent: 1}})
		h := talk(21, 500)
		r := compact(t, m, h)
		h = append(append(h, modelSays("Yes.")), talk(2*tt.turns, 125)...)
		prepare(t, m, h)
		before := s.count()
		room := r.Budget - estimateAll(byChars, prepare(t, m, h).Messages)
		h = append(h, userSays(numbered(20_000)[:4*(room+100)]))
		r = prepare(t, m, h)
		assert.NotNil(t, r.Compaction, "%d turns", tt.turns)
		assert.Equal(t, tt.asked, s.count()-before, "%d turns", tt.turns)
	}
}

// A summarizer that failed is asked at once in another window, where a compaction may succeed, and not in the same.
func TestBreakerIsOfOneWindow(t *testing.T) {
	const window = 20_000
	options := func(s winnow.Summarizer) *winnow.Options {
		return &winnow.Options{Summarizer: s, Estimator: byChars, Now: newClock().Now, Tools: keepAll}
	}
	down := fails(errors.New("401 unauthorized")) // which is not asked twice in one call
	m := newManager(t, window, options(down))
	log, n := chat(600, 1_000), 0
	for down.count() < 2 {
		n += 2
		prepare(t, m, log[:n])
	}
	state := snapshotOf(t, m)
	for now, isAsked := range map[int]bool{window: false, window / 2: true} {
		works := says(spoken)
		restored := restarted(t, now, options(works), state)
		prepare(t, restored, log[:n+2])
		assert.Equal(t, isAsked, works.count() > 0, "window %d", now)
	}
}

// Behind a pause the model is asked for the summary that a digest stands in for, though it failed before and little was said
// since, also where the window is nearly full.
func TestDigestIsReplacedBehindAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a call that failed is made again after a pause
		down := true
		s := &fakeSummarizer{answer: func(int, winnow.SummaryRequest) (string, error) {
			if down {
				return "", errDown
			}
			return spoken, nil
		}}
		c := newClock()
		m := newManager(t, 60_000, &winnow.Options{Summarizer: s, Estimator: byChars, Now: c.Now, Compact: &winnow.CompactOptions{SummarizerWindow: 100_000}})
		h := talk(1, 500)
		r := prepare(t, m, h)
		for i, asked := 0, 0; r.Degraded == "" || r.Tokens < r.Budget*86/100 || s.count() > asked; i++ {
			require.Less(t, i, 500)
			asked = s.count()
			h = append(h, modelSays("Answer "+itoa(i)+numbered(200)[:2_000]), userSays("Go on "+itoa(i)))
			r = prepare(t, m, h)
		}
		down = false
		calls := s.count()
		require.GreaterOrEqual(t, calls, 2)
		c.pass(1 << 40)
		r = prepare(t, m, append(h, modelSays("Yes."), userSays("Go on.")))
		assert.Equal(t, calls+1, s.count())
		assert.Empty(t, r.Degraded)
	})
}
