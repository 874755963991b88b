package winnow_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

// cacheTwin bills requests as a provider does that caches exact prefixes for five minutes. It counts tokens in its own
// way, and a system prompt that no message shows.
type cacheTwin struct {
	estimator winnow.Estimator
	keys      []string // of the last request
	tokens    []int
	at        time.Time
}

const twinSystem = 14_000 // tokens of the system prompt and the tools

// bill returns the usage of a request at a time.
func (c *cacheTwin) bill(messages []winnow.Message, at time.Time) *winnow.Usage {
	warm := len(c.keys) > 0 && at.Sub(c.at) < 5*time.Minute
	keys, tokens := make([]string, len(messages)), make([]int, len(messages))
	read, all, same := 0, twinSystem, warm
	if warm {
		read = twinSystem
	}
	for i := range messages {
		keys[i] = fmt.Sprint(messages[i].Role, messages[i].Parts)
		if i < len(c.keys) && keys[i] == c.keys[i] {
			tokens[i] = c.tokens[i]
		} else {
			tokens[i] = c.estimator.Estimate(messages[i]) * 23 / 20
		}
		if same = same && i < len(c.keys) && keys[i] == c.keys[i]; same {
			read += tokens[i]
		}
		all += tokens[i]
	}
	c.keys, c.tokens, c.at = keys, tokens, at
	read -= read % 128 // a block
	return &winnow.Usage{CacheRead: read, CacheWrite: all - read, Output: 50}
}

// TestPromiseIsQuiet: where the provider's cache does what its documentation says, nothing is said to be missed, and
// what was read is what the provider billed, to the token.
func TestPromiseIsQuiet(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	recordedSessions(t, sized(12, 48), func(t *testing.T, name string, h []winnow.Message) {
		for _, window := range []int{64_000, 200_000} {
			var log bytes.Buffer
			c := newClock()
			m := newManager(t, window, &winnow.Options{Model: "claude-sonnet-4-5", Now: c.Now,
				Logger: slog.New(slog.NewTextHandler(&log, nil))})
			twin := &cacheTwin{estimator: estimatorOf(t, "o200k")}
			sent, read, last, written := 0, 0, 0, 0
			for n := range h {
				if h[n].Role != winnow.RoleAssistant || n > 0 && h[n-1].Role == winnow.RoleAssistant {
					continue // what follows an answer directly is the rest of it
				}
				c.follow(h[n].Time)
				r, err := m.Prepare(t.Context(), h[:n])
				if err != nil {
					continue
				}
				h[n].Usage = twin.bill(r.Messages, c.Now())
				last, written = h[n].Usage.CacheRead, h[n].Usage.CacheWrite
				sent, read = sent+1, read+last
			}
			requests.Add(int64(sent))
			use := m.CacheUse()
			for line := range strings.Lines(log.String()) {
				assert.NotContains(t, line, "less was read from the prompt cache", "%s in %d", name, window)
			}
			assert.Zero(t, use.Missed, "%s in %d", name, window)
			assert.Zero(t, use.Changed+use.Lost, "%s in %d: nobody changed or lost anything", name, window)
			assert.Equal(t, read-last, use.Read, "%s in %d: no request follows the last answer", name, window)
			m.Counted(winnow.Usage{CacheRead: last, CacheWrite: written})
			assert.Equal(t, read, m.CacheUse().Read, "%s in %d: the bill", name, window)
			for i := range h {
				h[i].Usage = nil
			}
		}
	})
	t.Log(requests.Load(), "requests")
}
