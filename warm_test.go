package winnow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

func TestWarm(t *testing.T) {
	t.Parallel()
	c := newClock()
	pauses := func(list ...time.Duration) (h []winnow.Message) {
		at := c.Now()
		for _, pause := range list {
			answer, next := modelSays("Done."), userSays("Go on.")
			answer.Time, next.Time = at, at.Add(pause)
			h = append(h, answer, next)
		}
		return h
	}
	for _, tt := range []struct {
		why    string
		cache  winnow.CacheOptions
		pauses []time.Duration
		chance float64
		pays   bool
	}{
		{"nothing is known: half, and writing is 11.5 times the price of a keep-alive", winnow.CacheOptions{}, nil, 0.5, true},
		{"short pauses say nothing", winnow.CacheOptions{}, []time.Duration{time.Minute, 2 * time.Minute}, 0.5, true},
		{"people come back soon", winnow.CacheOptions{}, []time.Duration{7 * time.Minute, 9 * time.Minute, 8 * time.Minute}, 3.5 / 4, true},
		{"they come back tomorrow", winnow.CacheOptions{}, []time.Duration{20 * time.Hour, 20 * time.Hour, 20 * time.Hour, 20 * time.Hour, 20 * time.Hour}, 0.5 / 6, false},
		{"reading costs as much as writing", winnow.CacheOptions{ReadPrice: 1, WritePrice: 1}, nil, 0.5, false},
	} {
		m := newManager(t, 100_000, &winnow.Options{Estimator: byChars, Now: c.Now, Cache: &tt.cache})
		assert.Zero(t, m.Warm(nil, c.Now()), "no request yet")
		r := prepare(t, m, chat(5, 400))
		w := m.Warm(pauses(tt.pauses...), c.Now().Add(time.Minute))
		assert.Equal(t, c.Now().Add(5*time.Minute), w.Until)
		assert.InDelta(t, tt.chance, w.Chance, 1e-9, tt.why)
		assert.Equal(t, tt.pays, w.Pays, tt.why)
		require.Positive(t, r.Tokens)
		assert.Zero(t, m.Warm(nil, c.Now().Add(5*time.Minute)), "it is cold")
	}
	m := newManager(t, 100_000, &winnow.Options{Now: c.Now, Cache: &winnow.CacheOptions{None: true}})
	prepare(t, m, chat(5, 400))
	assert.Zero(t, m.Warm(nil, c.Now()), "there is no cache")
}
