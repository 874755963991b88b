package winnow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// wholeSteps returns how many of the newest answers stand in messages as they are in history, each with its results.
func wholeSteps(history, messages []winnow.Message) (steps int) {
	sent := map[string]string{}
	for i := range messages {
		sent[messages[i].ID] = fullText(messages[i])
	}
	for i := len(history) - 1; i >= 0; i-- {
		if m := history[i]; m.Role != winnow.RoleUser && sent[m.ID] != fullText(m) {
			return steps
		}
		if history[i].Role == winnow.RoleAssistant {
			steps++
		}
	}
	return steps
}

// TestWholeSteps: the newest steps stay whole in every rewrite, as many as the host asks for and the window holds.
func TestWholeSteps(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		window int
		pause  time.Duration // between two turns
		steps  int
		least  int // of the newest steps, in each request
		op     winnow.Op
		reason string
	}{
		{"the default, warm", 200_000, 0, 0, 4, winnow.OpFold, "four while the cache is warm"},
		{"the default, cold", 200_000, time.Hour, 0, 2, winnow.OpFold, "two when a rewrite costs nothing"},
		{"twelve, warm", 60_000, 0, 12, 12, winnow.OpFold, "as many as were asked for"},
		{"twelve, cold", 200_000, time.Hour, 12, 12, winnow.OpFold, "where a rewrite costs nothing too"},
		{"twelve, of a small window", 30_000, 0, 12, 12, winnow.OpCompact, "a summary leaves them whole"},
		{"sixty, of a small window", 30_000, 0, 60, 1, winnow.OpCompact, "what cannot fit is given up"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			m := newManager(t, tt.window, &winnow.Options{
				WholeSteps: tt.steps, FoldAbove: winnow.FoldAlways, NoMinify: true, Now: c.Now, Estimator: winnow.CharsPerToken(4),
				Summarizer: answers("## Goal\nto go on"),
			})
			h := agentSession(40, 3_000)
			fewest, ops := len(h), map[winnow.Op]bool{}
			for n := 1; n <= len(h); n++ {
				if h[n-1].Role == winnow.RoleAssistant {
					continue
				}
				c.pass(time.Second)
				if h[n-1].Role == winnow.RoleUser {
					c.pass(tt.pause)
				}
				r := prepare(t, m, h[:n])
				for _, e := range r.Edits {
					ops[e.Op] = true
				}
				whole := wholeSteps(h[:n], r.Messages)
				if all := wholeSteps(h[:n], h[:n]); whole < all {
					fewest = min(fewest, whole)
				}
			}
			require.True(t, ops[tt.op], "%v: the test proves something", ops)
			assert.GreaterOrEqual(t, fewest, tt.least, tt.reason)
			if tt.least > 1 {
				assert.Less(t, fewest, tt.least+12, "no more than was asked for: others go")
			}
		})
	}
}
