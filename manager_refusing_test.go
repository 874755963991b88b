package winnow_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// A summarizer that answers, but never with a summary, is billed for each answer. It is asked ever less often, also
// after a restart and with a cold cache. One that cannot be reached costs nothing, and is asked as often as before.
func TestRefusingSummarizer(t *testing.T) {
	t.Parallel()
	const window = 20_000
	calls := func(s *fakeSummarizer) (all []int) {
		clock := newClock()
		o := &winnow.Options{Summarizer: s, Estimator: byChars, Now: clock.Now, Tools: keepAll, Compact: &winnow.CompactOptions{Attempts: 1}}
		m := newManager(t, window, o)
		log := chat(600, 1_000)
		for n := 2; n < len(log); n += 2 {
			before := s.count()
			prepare(t, m, log[:n])
			if s.count() > before {
				all = append(all, n)
			}
			if clock.pass(time.Minute); n%100 == 0 {
				state := snapshotOf(t, m)
				m = newManager(t, window, o)
				require.NoError(t, m.Restore([]byte(state)))
				clock.pass(time.Hour)
			}
		}
		return all
	}
	refusing, down := calls(says("I'm sorry, but I can't help with that.")), calls(fails(errDown))
	t.Log(refusing, down)
	require.Greater(t, len(refusing), 4)
	assert.Greater(t, len(down), 2*len(refusing))
	last := len(refusing) - 1
	assert.Greater(t, refusing[last]-refusing[last-1], 60, "messages between the last two calls")
	assert.LessOrEqual(t, refusing[last]-refusing[last-1], 260, "it is never given up")
}

// A limit that a provider told is for the window that the host had then. In another window, which may be another
// model's, it is forgotten; in the same it holds.
func TestRestoredInAnotherWindow(t *testing.T) {
	t.Parallel()
	h := chat(20, 400)
	o := &winnow.Options{Estimator: byChars}
	m := newManager(t, 8_000, o)
	prepare(t, m, h)
	_, err := m.Recover(t.Context(), h, errors.New("prompt is too long, the limit is 2000 tokens"))
	require.NoError(t, err)
	state := []byte(snapshotOf(t, m))
	for window, want := range map[int]int{8_000: 1_500, 200_000: 180_000} {
		restored := newManager(t, window, o)
		require.NoError(t, restored.Restore(state))
		assert.InDelta(t, want, restored.Plan(h).Budget, float64(want)/10, "window %d", window)
	}
}

// A restart may bring a summarizer that works. It is asked after little growth, once: a host that restarts for each
// request would otherwise pay for refused answers as if none had been refused before.
func TestRefusingSummarizerMendedByARestart(t *testing.T) {
	t.Parallel()
	const window = 20_000
	options := func(s winnow.Summarizer) *winnow.Options {
		return &winnow.Options{Summarizer: s, Estimator: byChars, Now: newClock().Now, Tools: keepAll, Compact: &winnow.CompactOptions{Attempts: 1}}
	}
	const refusal = "I'm sorry, but I can't help with that."
	refusing := says(refusal)
	m := newManager(t, window, options(refusing))
	log := chat(600, 1_000)
	for n := 2; n <= 300; n += 2 {
		prepare(t, m, log[:n])
	}
	state, before := []byte(snapshotOf(t, m)), refusing.count()
	for _, tt := range []struct {
		reason     string
		perProcess int // requests of one process
		want       int // calls for 30 more messages
	}{
		{"a process that lives on", 15, 1},
		{"a process for each request", 1, 0},
	} {
		state := state
		asked := says(refusal)
		for n := 302; n <= 330; n += 2 * tt.perProcess {
			restored := newManager(t, window, options(asked))
			require.NoError(t, restored.Restore(state))
			for k := n; k < n+2*tt.perProcess; k += 2 {
				prepare(t, restored, log[:k])
			}
			state = []byte(snapshotOf(t, restored))
		}
		assert.Equal(t, tt.want, asked.count(), tt.reason)
	}
	for n := 302; n <= 330; n += 2 {
		prepare(t, m, log[:n])
	}
	assert.Equal(t, before, refusing.count(), "one that was never restarted")
}
