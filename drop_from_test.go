package winnow_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// shortened says that a result of r holds less than in h.
func shortened(r *winnow.Request, h []winnow.Message) bool {
	whole := 0
	for _, m := range h {
		whole += byChars.Estimate(m)
	}
	sent := 0
	for _, m := range r.Messages {
		sent += byChars.Estimate(m)
	}
	return sent < whole
}

// Below DropFrom of the window nothing is dropped, be the cache warm or cold; what does not fit is made to fit.
func TestDropFrom(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reason  string
		from    float64
		prune   *winnow.PruneOptions
		turns   int
		dropped bool
	}{
		{"a fifth of the window, by default", 0, nil, 9, true},
		{"a fifth is below a half", 0.5, nil, 9, false},
		{"two thirds are above it", 0.5, nil, 30, true},
		{"what fits stays", 1, nil, 30, false},
		{"pruning has its own shares, and waits nevertheless", 0.9, &winnow.PruneOptions{SoftTrimRatio: 0.01, HardClearRatio: 0.01, MinPrunableToolChars: 1}, 9, false},
		{"what does not fit is made to fit", 1, nil, 70, true},
	} {
		c := newClock()
		m := newManager(t, 100_000, &winnow.Options{Estimator: byChars, Now: c.Now, DropFrom: tt.from, Prune: tt.prune, Reserve: 1, Compact: &winnow.CompactOptions{Off: true}})
		h := agentSession(tt.turns, 4_000)
		dropped := false
		steps(h, func(in []winnow.Message) {
			dropped = dropped || shortened(prepare(t, m, in), in)
			if c.pass(time.Second); len(in)%8 == 0 {
				c.pass(time.Hour)
			}
		})
		assert.Equal(t, tt.dropped, dropped, tt.reason)
	}
	for _, bad := range []float64{-0.1, 1.1} {
		_, err := winnow.New(1_000, &winnow.Options{DropFrom: bad})
		assert.ErrorContains(t, err, "DropFrom")
	}
}

// A user who finds that little of the history is sent finds the reason and the option in the log, in one line.
func TestDropIsLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo}))
	c := newClock()
	h := agentSession(40, 6_000)
	m := newManager(t, 200_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: c.Now, Logger: logger})
	require.True(t, shortened(prepare(t, m, h), h))
	assert.Equal(t, 1, bytes.Count(log.Bytes(), []byte("\n")), log.String())
	assert.Contains(t, log.String(), `reason="nothing is in the prompt cache"`)
	assert.Contains(t, log.String(), "DropFrom")
	assert.Contains(t, log.String(), "tokens_whole=")

	log.Reset()
	h = append(h, agentSession(20, 6_000)...)
	steps(h[160:], func(in []winnow.Message) { prepare(t, m, h[:160+len(in)]) })
	assert.Contains(t, log.String(), `reason="carrying it further costs more than writing the cache again"`)

	log.Reset()
	whole := newManager(t, 1_000_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: c.Now, Logger: logger, DropFrom: 1})
	require.False(t, shortened(prepare(t, whole, h), h))
	assert.Empty(t, log.String(), "nothing is dropped")
}
