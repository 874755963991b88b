package winnow_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// TestPromise plays a provider with faults: what should have been read and was not is said with whose it was, and where
// nothing is wrong nothing is said.
func TestPromise(t *testing.T) {
	const faulty = 6 // the request with the fault
	for _, tt := range []struct {
		name   string
		usage  func(u winnow.Usage) winnow.Usage // of the answer with the fault
		edit   bool                              // the host changes an old message
		pause  time.Duration                     // before that request
		logged string                            // "" where nothing is said
		count  func(u winnow.CacheUse) int       // what is not 0
	}{
		{"nothing", nil, false, 0, "", func(u winnow.CacheUse) int { return u.Read }},
		{"blocks: a little less is read", func(u winnow.Usage) winnow.Usage {
			return winnow.Usage{CacheRead: u.CacheRead - 127, CacheWrite: u.CacheWrite + 127}
		}, false, 0, "", func(u winnow.CacheUse) int { return u.Read }},
		{"the provider has lost it", func(u winnow.Usage) winnow.Usage {
			return winnow.Usage{CacheWrite: u.Prompt()}
		}, false, 0, `whose=provider reason="not said"`, func(u winnow.CacheUse) int { return u.Lost }},
		{"other tools", func(u winnow.Usage) winnow.Usage {
			return winnow.Usage{CacheWrite: u.Prompt() + 9_000}
		}, false, 0, "whose=host", func(u winnow.CacheUse) int { return u.Missed }},
		{"another model, by the provider's word", func(u winnow.Usage) winnow.Usage {
			return winnow.Usage{CacheWrite: u.Prompt(), CacheMiss: "model_changed"}
		}, false, 0, "whose=host reason=model_changed", func(u winnow.CacheUse) int { return u.Changed }},
		{"another service tier, by the provider's word", func(u winnow.Usage) winnow.Usage {
			return winnow.Usage{CacheWrite: u.Prompt(), CacheMiss: "service_tier_changed"}
		}, false, 0, "whose=host reason=service_tier_changed", func(u winnow.CacheUse) int { return u.Changed }},
		{"kept for less than the marker says", func(u winnow.Usage) winnow.Usage {
			return winnow.Usage{CacheWrite: u.Prompt()}
		}, false, 20 * time.Minute, "whose=time", func(u winnow.CacheUse) int { return u.Expired }},
		{"the provider's own reason", func(u winnow.Usage) winnow.Usage {
			return winnow.Usage{CacheWrite: u.Prompt(), CacheMiss: "unavailable"}
		}, false, 0, "whose=provider reason=unavailable", func(u winnow.CacheUse) int { return u.Lost }},
		{"an edited message is no broken promise", nil, true, 0, "", func(u winnow.CacheUse) int { return u.Changed }},
		{"what is too old was not promised", nil, false, 2 * time.Hour, "", func(u winnow.CacheUse) int { return u.Expired }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
			m := newManager(t, 200_000, &winnow.Options{Model: "claude-opus-4-6", Now: func() time.Time { return now },
				Cache: &winnow.CacheOptions{TTL: time.Hour}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			history := list(userSays("Find it." + strings.Repeat(" And say where.", 2_000)))
			for i := range 12 {
				now = now.Add(5 * time.Second)
				if i == faulty {
					now = now.Add(tt.pause)
					if tt.edit {
						history[2] = toolSays("call_0", "another result")
					}
				}
				r, err := m.Prepare(context.Background(), history)
				require.NoError(t, err)
				u := winnow.Usage{CacheRead: r.Cached, CacheWrite: r.Tokens - r.Cached, Output: 50}
				if i == faulty && tt.usage != nil {
					u = tt.usage(u)
				}
				id := fmt.Sprintf("call_%d", i)
				answer := call(id, "bash", fmt.Sprintf(`{"command":"grep -n word_%d"}`, i))
				answer.Usage = &u
				history = append(history, answer, toolSays(id, fmt.Sprintf("file_%d.go:%d: found", i, i)))
			}
			const text = "less was read from the prompt cache"
			assert.Equal(t, tt.logged != "", strings.Contains(log.String(), text), log.String())
			assert.Contains(t, log.String(), tt.logged)
			assert.LessOrEqual(t, strings.Count(log.String(), text), 1, "once")
			assert.Positive(t, tt.count(m.CacheUse()), "%+v", m.CacheUse())
			state, err := m.Snapshot()
			require.NoError(t, err)
			next := newManager(t, 200_000, &winnow.Options{Model: "claude-opus-4-6"})
			require.NoError(t, next.Restore(state))
			assert.Equal(t, m.CacheUse(), next.CacheUse(), "the state keeps it")
		})
	}
}

// TestPromiseOfRewrite: what the manager has rewritten is its own, also where the provider reads less in front of it.
func TestPromiseOfRewrite(t *testing.T) {
	var log bytes.Buffer
	m := newManager(t, 20_000, &winnow.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	history := list(userSays("Find it." + strings.Repeat(" And say where it was.", 400)))
	for i := range 60 {
		r, err := m.Prepare(t.Context(), history)
		require.NoError(t, err)
		u := winnow.Usage{CacheRead: r.Cached, CacheWrite: r.Tokens - r.Cached, Output: 50}
		if strings.Contains(log.String(), "what was sent is rewritten") && !strings.Contains(log.String(), "less was read") {
			u = winnow.Usage{CacheWrite: r.Tokens, CacheMiss: "messages_changed"}
		}
		id := fmt.Sprintf("call_%d", i)
		answer := call(id, "bash", fmt.Sprintf(`{"command":"cat part_%d"}`, i))
		answer.Usage = &u
		history = append(history, answer, toolSays(id, strings.Repeat(fmt.Sprintf("line of part %d\n", i), 100)))
	}
	use := m.CacheUse()
	assert.Positive(t, use.Rewritten)
	assert.Contains(t, log.String(), "whose=winnow")
	assert.Zero(t, use.Changed+use.Expired+use.Lost, "%+v", use)
}

// A summary of a digest is the manager's too, also where the provider counts more than was estimated.
func TestPromiseOfSummary(t *testing.T) {
	for _, factor := range []float64{1, 1.3, 1.5} {
		m := newManager(t, 20_000, nil)
		history := list(userSays("Find it."))
		const overhead = 5_000
		counted := func(counts []int) (n int) {
			for _, c := range counts {
				n += int(factor * float64(c))
			}
			return n + overhead
		}
		for i := range 60 {
			r, err := m.Prepare(t.Context(), history)
			require.NoError(t, err)
			read := 0
			if i > 0 {
				read = counted(r.Counts[:r.FirstChanged])
			}
			id := fmt.Sprintf("call_%d", i)
			answer := call(id, "bash", fmt.Sprintf(`{"command":"cat part_%d"}`, i))
			answer.Usage = &winnow.Usage{CacheRead: read, CacheWrite: counted(r.Counts) - read, Output: 50}
			history = append(history, answer, toolSays(id, strings.Repeat(fmt.Sprintf("line of part %d\n", i), 200)))
		}
		use := m.CacheUse()
		assert.Positive(t, use.Rewritten)
		assert.Zero(t, use.Changed, "the host has changed nothing: %+v", use)
	}
}
