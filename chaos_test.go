package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/wire"
)

// chaos is a provider and a summarizer of which nothing can be relied on.
type chaos struct {
	mu      sync.Mutex // protects d and cancel
	d       dice
	limit   int // tokens, by the provider's own count
	cancel  context.CancelFunc
	sent    map[string]bool
	t       *testing.T
	h       []winnow.Message
	seed    uint64
	valid   bool
	ended   bool // when the last call returned
	calls   int
	refused int
}

var errWeather = errors.New("503 overloaded_error: try again later")

func (c *chaos) call(ctx context.Context, messages []winnow.Message) (int, error) {
	c.calls++
	// The summarizer in the background may end the run at any moment, so what counts is whether it had ended when the
	// call before this one returned.
	if c.ended {
		c.t.Fatalf("seed %d: something was tried after the end", c.seed)
	}
	defer func() { c.ended = ctx.Err() != nil }()
	if c.valid { // JSON has no way to send what is not UTF-8
		require.NoError(c.t, wire.Rules{Lead: leads(c.h)}.Check(messages), "seed %d", c.seed)
	}
	payload := fmt.Sprintf("%+v", messages)
	if c.sent[payload] {
		c.t.Fatalf("seed %d: a refused payload came again", c.seed)
	}
	switch c.weather(20) {
	case 0:
		return 0, errWeather
	case 1:
		return 0, fmt.Errorf("post: %w", context.DeadlineExceeded)
	case 2:
		return 0, errors.New("429 rate_limit_error: too many requests")
	case 3:
		c.cancelRun()
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
	switch c.weather(5) {
	case 0:
		return 0, fmt.Errorf("400 prompt is too long: %d tokens > %d maximum", n, c.limit)
	case 1:
		return 0, errors.New("413 request entity too large")
	case 2:
		return 0, fmt.Errorf("413 request body too large: %d bytes, the limit is %d bytes", n*4, c.limit*4)
	case 3:
		return 0, fmt.Errorf("429 request too large on tokens per min (TPM): Limit %d, Requested %d", c.limit, n)
	}
	return 0, errors.New("Input is too long for requested model.")
}

// run is one run of Do.
func (c *chaos) run(m *winnow.Manager, h []winnow.Message) (*winnow.Request, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c.mu.Lock()
	c.cancel = cancel
	c.mu.Unlock()
	c.calls, c.ended = 0, false
	_, r, err := winnow.Do(ctx, m, h, c.call)
	if errors.Is(err, winnow.ErrOverflow) {
		clear(c.sent) // a run that came to nothing is undone, and the next one begins from the log
	}
	require.LessOrEqual(c.t, c.calls, 12, "seed %d: a run without end", c.seed)
	return r, err
}

// check fails where a message is lost: each is in the request, or an edit says what became of it.
func (c *chaos) check(h []winnow.Message, r *winnow.Request) {
	checkEdits(c.t, h, r)
	checkVerbatim(c.t, h, r.Messages)
}

// weather is a number of the dice, which the summarizer in the background throws as well.
func (c *chaos) weather(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.d.IntN(n)
}

func (c *chaos) cancelRun() {
	c.mu.Lock()
	cancel := c.cancel
	c.mu.Unlock()
	cancel()
}

func (c *chaos) Summarize(ctx context.Context, r winnow.SummaryRequest) (string, error) {
	switch c.weather(6) {
	case 0:
		return "", errWeather
	case 1:
		return "", winnow.ErrIncomplete
	case 2:
		return "   ", nil
	case 3:
		panic("out of cheese")
	case 4:
		c.cancelRun()
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
		h := named(randomHistory(seed))
		d := seeded(seed + 1<<40)
		tokens := 0
		for i := range h {
			tokens += winnow.CharsPerToken(4).Estimate(h[i])
		}
		window := 400 + tokens*(2+d.IntN(8))/4
		c := &chaos{d: d, limit: 200 + tokens*(1+d.IntN(12))/12, t: t, h: h, seed: seed, valid: validText(h), sent: map[string]bool{}}
		o := &winnow.Options{Summarizer: c, Compact: &winnow.CompactOptions{Attempts: 1, Off: c.weather(4) == 0, Background: c.weather(4) == 0}}
		m := newManager(t, window, o)
		original := deepCopy(h)
		for n := len(h) - min(len(h), 12); n < len(h); n += 4 {
			for tries := 0; tries < 3; tries++ {
				r, err := c.run(m, h[:n])
				calls += c.calls
				if r != nil {
					c.check(h[:n], r)
				}
				var full *winnow.OverflowError
				switch {
				case err == nil:
					answered++
				case errors.As(err, &full):
					gaveUp++
				default:
					other++
				}
				state, failed := m.Snapshot()
				require.NoError(t, failed)
				if c.weather(2) == 0 { // another process goes on
					require.NoError(t, m.Close())
					m = newManager(t, window, o)
				}
				require.NoError(t, m.Restore(state), "seed %d: a state that cannot be restored", seed)
				if err == nil {
					break
				}
			}
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
