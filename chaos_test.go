package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// chaos is a provider and a summarizer of which nothing can be relied on.
type chaos struct {
	d       dice
	limit   int // tokens, by the provider's own count
	cancel  context.CancelFunc
	sent    map[string]bool
	t       *testing.T
	h       []winnow.Message
	seed    uint64
	valid   bool
	calls   int
	refused int
}

var errWeather = errors.New("503 overloaded_error: try again later")

func (c *chaos) call(_ context.Context, messages []winnow.Message) (int, error) {
	c.calls++
	if c.valid { // JSON has no way to send what is not UTF-8
		require.NoError(c.t, wireRules{allowLead: leads(c.h)}.validate(messages), "seed %d", c.seed)
	}
	payload := fmt.Sprintf("%+v", messages)
	if c.sent[payload] {
		c.t.Fatal("a refused payload came again")
	}
	switch c.d.IntN(12) {
	case 0:
		return 0, errWeather
	case 1:
		return 0, fmt.Errorf("post: %w", context.DeadlineExceeded)
	case 2:
		return 0, errors.New("429 rate_limit_error: too many requests")
	case 3:
		c.cancel()
		return 0, context.Canceled
	}
	n := 0
	for i := range messages {
		n += winnow.CharsPerToken(3).Estimate(messages[i])
	}
	if n <= c.limit {
		return n, nil
	}
	c.refused++
	c.sent[payload] = true
	switch c.d.IntN(3) {
	case 0:
		return 0, fmt.Errorf("400 prompt is too long: %d tokens > %d maximum", n, c.limit)
	case 1:
		return 0, errors.New("413 request entity too large")
	}
	return 0, errors.New("Input is too long for requested model.")
}

func (c *chaos) Summarize(ctx context.Context, r winnow.SummaryRequest) (string, error) {
	switch c.d.IntN(6) {
	case 0:
		return "", errWeather
	case 1:
		return "", winnow.ErrIncomplete
	case 2:
		return "   ", nil
	case 3:
		panic("out of cheese")
	case 4:
		c.cancel()
		return "", ctx.Err()
	}
	return winnow.Digest().Summarize(ctx, r)
}

func TestChaos(t *testing.T) {
	before := runtime.NumGoroutine()
	runs := 400
	if *winnow.AllRecorded {
		runs = 4_000
	}
	var calls, refused, answered, gaveUp, other int
	for seed := range uint64(runs) {
		h := randomHistory(seed)
		d := seeded(seed + 1<<40)
		tokens := 0
		for i := range h {
			tokens += winnow.CharsPerToken(4).Estimate(h[i])
		}
		window := 400 + tokens*(2+d.IntN(8))/4
		c := &chaos{d: d, limit: window * (3 + d.IntN(6)) / 10, t: t, h: h, seed: seed, valid: validText(h), sent: map[string]bool{}}
		m, err := winnow.New(window, &winnow.Options{Summarizer: c, Compact: &winnow.CompactOptions{Attempts: 1, Off: d.IntN(4) == 0}})
		require.NoError(t, err)
		original := deepCopy(h)
		for n := len(h) - min(len(h), 12); n < len(h); n += 4 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			c.cancel = cancel
			c.calls = 0
			_, _, err := winnow.Do(ctx, m, h[:n], c.call)
			cancel()
			calls += c.calls
			require.LessOrEqual(t, c.calls, 12, "seed %d: a run without end", seed)
			var full *winnow.OverflowError
			switch {
			case err == nil:
				answered++
			case errors.As(err, &full):
				gaveUp++
			default:
				other++
			}
			state, err := m.Snapshot()
			require.NoError(t, err)
			require.NoError(t, m.Restore(state), "seed %d: a state that cannot be restored", seed)
		}
		refused += c.refused
		sameMessages(t, original, h, fmt.Sprintf("seed %d: the history was written", seed))
		require.NoError(t, m.Close())
	}
	t.Logf("%d calls, %d refused; %d runs answered, %d gave up with an OverflowError, %d ended with another error", calls, refused, answered, gaveUp, other)
	assert.Positive(t, answered)
	assert.Positive(t, gaveUp)
	assert.Positive(t, refused)
	assert.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+2 }, 5*time.Second, 10*time.Millisecond, "goroutines are left")
}
