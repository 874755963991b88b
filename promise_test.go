package winnow_test

import (
	"bytes"
	"context"
	"errors"
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

// checked is a conversation with a twin, of which each request is answered unless a test says otherwise.
type checked struct {
	t       *testing.T
	m       *winnow.Manager
	opts    winnow.Options
	now     time.Time
	log     bytes.Buffer
	twin    twin
	history []winnow.Message
	had     int // tokens of the request that was answered last
	step    int
}

// begin begins one of a few requests, all answered.
func begin(t *testing.T) *checked {
	c := &checked{t: t, now: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)}
	c.opts = winnow.Options{Model: "claude-opus-4-6", Now: func() time.Time { return c.now },
		Logger: slog.New(slog.NewTextHandler(&c.log, nil))}
	c.m = newManager(t, 200_000, &c.opts)
	c.twin = twin{estimator: estimatorOf(t, "o200k"), factor: 1.1, hidden: 9_000, ttl: 5 * time.Minute,
		seen: map[string]time.Time{}}
	c.history = list(userSays("Find it." + strings.Repeat(" And say where.", 1_000)))
	for range 5 {
		c.answer(c.prepare())
	}
	return c
}

func (c *checked) prepare() *winnow.Request {
	c.now = c.now.Add(5 * time.Second)
	r, err := c.m.Prepare(c.t.Context(), c.history)
	require.NoError(c.t, err)
	return r
}

// answer answers r, and counts that at once.
func (c *checked) answer(r *winnow.Request) {
	c.step++
	u := c.twin.take(r.Messages, c.now)
	c.had = u.Prompt()
	id := fmt.Sprintf("call_%d", c.step)
	answer := call(id, "bash", fmt.Sprintf(`{"command":"grep -n word_%d"}`, c.step))
	answer.Usage = u
	c.history = append(c.history, answer, toolSays(id, fmt.Sprintf("file_%d.go:%d: found", c.step, c.step)))
	c.m.Counted(*u)
}

// goOn is another process, with other options.
func (c *checked) goOn(change func(o *winnow.Options)) {
	state, err := c.m.Snapshot()
	require.NoError(c.t, err)
	change(&c.opts)
	c.m = newManager(c.t, 200_000, &c.opts)
	require.NoError(c.t, c.m.Restore(state))
}

// TestPromiseGoesOn: what a request should read follows from the newest one that was answered, whatever came between.
func TestPromiseGoesOn(t *testing.T) {
	otherTools := func(c *checked, hidden int) { c.twin.beside, c.twin.hidden = "other", hidden }
	for _, tt := range []struct {
		name   string
		play   func(c *checked)
		want   func(u winnow.CacheUse) int // has all of the request before; nil: nothing was lost
		logged string                      // "" where nothing is said
	}{
		{"another model", func(c *checked) {
			c.goOn(func(o *winnow.Options) { o.Model = "claude-opus-4-5" })
			c.twin.beside = "another model"
			c.answer(c.prepare())
		}, func(u winnow.CacheUse) int { return u.Changed }, ""},
		{"another process", func(c *checked) {
			c.goOn(func(*winnow.Options) {})
			c.answer(c.prepare())
		}, nil, ""},
		{"another process, and the provider has lost it", func(c *checked) {
			c.goOn(func(*winnow.Options) {})
			clear(c.twin.seen)
			c.answer(c.prepare())
		}, func(u winnow.CacheUse) int { return u.Lost }, "whose=provider"},
		{"no answer, and again much later", func(c *checked) {
			c.prepare()
			c.now = c.now.Add(10 * time.Minute)
			c.prepare()
			c.answer(c.prepare())
		}, func(u winnow.CacheUse) int { return u.Expired }, ""},
		{"no answer, though the provider has read it", func(c *checked) {
			c.now = c.now.Add(3 * time.Minute)
			c.twin.take(c.prepare().Messages, c.now)
			c.now = c.now.Add(3 * time.Minute)
			c.answer(c.prepare())
		}, nil, ""},
		{"an edit that no answer came to", func(c *checked) {
			c.history[2] = toolSays("call_1", "another result")
			c.prepare()
			c.answer(c.prepare())
		}, func(u winnow.CacheUse) int { return u.Changed }, ""},
		{"a refusal, and the answer to the smaller request", func(c *checked) {
			c.prepare()
			r, err := c.m.Recover(c.t.Context(), c.history, errors.New("prompt is too long"))
			require.NoError(c.t, err)
			c.answer(r)
		}, func(u winnow.CacheUse) int { return u.Rewritten }, ""},
		{"a count of the request before it was sent", func(c *checked) {
			r := c.prepare()
			c.m.Counted(winnow.Usage{Input: r.Tokens})
			c.answer(r)
		}, nil, ""},
		{"plans", func(c *checked) {
			c.now = c.now.Add(3 * time.Minute)
			c.m.Plan(c.history[:3])
			c.m.Plan(nil)
			c.answer(c.prepare())
		}, nil, ""},
		{"a longer lifetime than is believed", func(c *checked) {
			c.twin.ttl = time.Hour
			c.now = c.now.Add(20 * time.Minute)
			c.answer(c.prepare())
		}, nil, ""},
		{"more tools", func(c *checked) {
			otherTools(c, 14_000)
			c.answer(c.prepare())
		}, func(u winnow.CacheUse) int { return u.Changed }, "whose=host"},
		{"fewer tools", func(c *checked) {
			otherTools(c, 4_000)
			c.answer(c.prepare())
		}, func(u winnow.CacheUse) int { return u.Changed }, "whose=host"},
		{"other tools, and a pause", func(c *checked) {
			c.goOn(func(o *winnow.Options) { o.Cache = &winnow.CacheOptions{TTL: time.Hour} })
			c.now = c.now.Add(10 * time.Minute)
			otherTools(c, 14_000)
			c.answer(c.prepare())
		}, func(u winnow.CacheUse) int { return u.Changed }, "whose=host"},
		{"a pause, and a result of which the estimate is far off", func(c *checked) {
			c.goOn(func(o *winnow.Options) { o.Cache = &winnow.CacheOptions{TTL: time.Hour} })
			c.now = c.now.Add(10 * time.Minute)
			c.history[len(c.history)-1] = toolSays(fmt.Sprintf("call_%d", c.step), strings.Repeat("found it here ", 2_000))
			c.twin.factor = 2.2
			r := c.prepare()
			_, tokens := c.twin.prefixes(r.Messages)
			c.m.Counted(winnow.Usage{CacheWrite: c.had + (tokens[len(tokens)-1] - tokens[len(tokens)-2])})
		}, func(u winnow.CacheUse) int { return u.Expired }, "whose=time"},
		{"an answer that was several requests", func(c *checked) {
			u := c.twin.take(c.prepare().Messages, c.now)
			u.CacheRead, u.CacheWrite = 3*u.CacheRead, 3*u.CacheWrite
			c.history = append(c.history, winnow.Message{Role: winnow.RoleAssistant, Usage: u, Parts: []winnow.Part{
				{Kind: winnow.KindOpaque, ID: "search_1", Name: "web_search", Text: `{"query":"word"}`},
				{Kind: winnow.KindOpaque, ID: "search_1", Text: `{"found":true}`},
				{Text: "It is there."},
			}}, userSays("Where?"))
			c.answer(c.prepare())
		}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := begin(t)
			had, before := c.had, c.m.CacheUse()
			tt.play(c)
			use := c.m.CacheUse().Plus(-1, before)
			assert.Equal(t, tt.logged != "", strings.Contains(c.log.String(), "less was read from the prompt cache"), c.log.String())
			assert.Contains(t, c.log.String(), tt.logged)
			lost := use.Rewritten + use.Changed + use.Expired + use.Lost
			if tt.want == nil {
				assert.Zero(t, lost, "%+v", use)
				return
			}
			assert.Equal(t, had-use.Read, lost, "what was not read, once: %+v", use)
			assert.Equal(t, lost, tt.want(use), "%+v", use)
		})
	}
}

// TestPromiseOfAFewTools: a few more tools are told from the next result by the ratio that the conversation has taught.
func TestPromiseOfAFewTools(t *testing.T) {
	for hidden, want := range map[int]string{9_000: "whose=provider", 12_000: "whose=host", 7_000: "whose=host"} {
		c := begin(t)
		for range 5 {
			c.history[len(c.history)-1] = toolSays(fmt.Sprintf("call_%d", c.step), strings.Repeat("found it there ", 1_000+c.step))
			c.answer(c.prepare())
		}
		c.twin.beside, c.twin.hidden = "other", hidden
		c.history[len(c.history)-1] = toolSays(fmt.Sprintf("call_%d", c.step), strings.Repeat("found it there ", 900))
		c.answer(c.prepare())
		c.prepare()
		assert.Contains(t, c.log.String(), want, "of 9,000 tokens before")
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
