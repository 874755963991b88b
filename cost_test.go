package winnow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

func TestCostOfRequest(t *testing.T) {
	h := list(userSays(of(2_000)), modelSays(of(500)), userSays(of(300)))
	dear := &winnow.CacheOptions{ReadPrice: 0.5, WritePrice: 2}
	for _, tt := range []struct {
		name     string
		options  winnow.Options
		sent     int // messages of the request before; 0: there was none
		pause    time.Duration
		cached   int
		cost     float64
		unedited float64
	}{
		{"nothing was sent: all is written", winnow.Options{}, 0, 0, 0, 1.25 * 2_800, 1.25 * 2_800},
		{"what was sent is read", winnow.Options{}, 1, time.Minute, 2_000, 0.1*2_000 + 1.25*800, 0.1*2_000 + 1.25*800},
		{"nothing new", winnow.Options{}, 3, time.Minute, 2_800, 0.1 * 2_800, 0.1 * 2_800},
		{"the cache has expired", winnow.Options{}, 1, 5 * time.Minute, 0, 1.25 * 2_800, 1.25 * 2_800},
		{"it lasts longer", winnow.Options{Cache: &winnow.CacheOptions{TTL: time.Hour}}, 1, 5 * time.Minute, 2_000, 1_200, 1_200},
		{"there is no cache", winnow.Options{Cache: &winnow.CacheOptions{None: true}}, 1, 0, 0, 2_800, 2_800},
		{"what was sent was too short for the cache of the model", winnow.Options{Model: "gemini-2.5-flash"}, 1, 0, 0, 2_800, 2_800},
		{"other prices", winnow.Options{Cache: dear}, 1, 0, 2_000, 0.5*2_000 + 2*800, 0.5*2_000 + 2*800},
		{"the system prompt stands in front", winnow.Options{Overhead: 1_000}, 1, 0, 3_000, 0.1*3_000 + 1.25*800, 0.1*3_000 + 1.25*800},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock()
			o := tt.options
			o.Estimator, o.Now = byteCount, c.Now
			m := newManager(t, 100_000, &o)
			if tt.sent > 0 {
				prepare(t, m, h[:tt.sent])
				c.pass(tt.pause)
			}
			r := m.Plan(h)
			assert.Equal(t, tt.cached, r.Cached)
			assert.InDelta(t, tt.cost, r.Cost, 1e-6)
			assert.InDelta(t, tt.unedited, r.CostUnedited, 1e-6)
			assert.Equal(t, r, prepare(t, m, h))
		})
	}
}

// Plan says what Prepare does, and the figures are those that one finds who holds each request and each history
// against the one before. Requests are prepared the short way and the long one, before and after a restart.
func TestFiguresAddUp(t *testing.T) {
	t.Parallel()
	e := winnow.CharsPerToken(4)
	for _, tt := range []struct {
		name    string
		turns   int // shorter histories than the first are not compacted
		window  int
		options winnow.Options
	}{
		{"epochs and compactions", 160, 32_000, winnow.Options{}},
		{"turn limit", 80, 48_000, winnow.Options{HistoryTurns: 8, Overhead: 700}},
		{"no compaction, no cache", 80, 32_000, winnow.Options{Compact: &winnow.CompactOptions{Off: true}, Cache: &winnow.CacheOptions{None: true}}},
		{"all fits", 80, 1_000_000, winnow.Options{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := agentSession(tt.turns, 2_400)
			c := newClock()
			o := tt.options
			o.Estimator, o.Now = e, c.Now
			m := newManager(t, tt.window, &o)
			none := o.Cache != nil && o.Cache.None
			var last, known []winnow.Message // the request before, and the history that it was made for
			compactions, epochs := 0, 0
			for n := 1; n <= len(h); n++ {
				if n < len(h) && h[n].Role != winnow.RoleAssistant {
					continue
				}
				warm := n%7 != 0
				c.pass(map[bool]time.Duration{true: time.Minute, false: time.Hour}[warm])
				plan := m.Plan(h[:n])
				r := prepare(t, m, h[:n])
				if r.Compaction == nil {
					require.Equal(t, plan, r, "at %d", n)
				} else {
					require.True(t, plan.NeedsCompaction, "at %d", n)
					compactions++
				}
				read := func(same []winnow.Message) int {
					if n := estimateAll(e, same) + o.Overhead; warm && !none && last != nil && n >= 1_024 {
						return n
					}
					return 0
				}
				cost := func(tokens, cached int) float64 {
					if none || tokens < 1_024 {
						return float64(tokens)
					}
					return 0.1*float64(cached) + 1.25*float64(tokens-cached)
				}
				if r.FirstChanged < len(last) {
					epochs++
				}
				require.Equal(t, read(last[:r.FirstChanged]), r.Cached, "at %d", n)
				require.InDelta(t, cost(r.Tokens, r.Cached), r.Cost, 1e-6, "at %d", n)
				require.InDelta(t, cost(estimateAll(e, h[:n])+o.Overhead, read(known)), r.CostUnedited, 1e-6, "at %d", n)
				last, known = append([]winnow.Message(nil), r.Messages...), h[:n]
				if n%5 == 0 {
					require.NoError(t, m.Restore([]byte(snapshotOf(t, m))))
				}
			}
			assert.Positive(t, epochs, "nothing was rewritten: the test says nothing of it")
			assert.Equal(t, tt.name == "epochs and compactions", compactions > 0)
		})
	}
}

// What the history costs as it is depends on what the provider has seen of it.
func TestCostUneditedOfAnotherHistory(t *testing.T) {
	h := list(userSays(of(2_000)), modelSays(of(1_000)), userSays(of(500)))
	for _, tt := range []struct {
		name   string
		then   []winnow.Message
		cached int
	}{
		{"rewound", h[:1:1], 2_000},
		{"forked", list(h[0], h[1], userSays("another way")), 3_000},
		{"replaced", list(userSays(of(4_000))), 0},
		{"replaced by nothing", nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newManager(t, 100_000, &winnow.Options{Estimator: byteCount, Now: newClock().Now})
			prepare(t, m, h)
			r := m.Plan(tt.then)
			assert.Equal(t, tt.cached, r.Cached)
			assert.InDelta(t, r.Cost, r.CostUnedited, 1e-6, "nothing is edited")
		})
	}
}

// Bytes is about what the common providers' JSON takes.
func TestBytesOfRequest(t *testing.T) {
	h := agentSession(10, 3_000)
	h = append(h, userSays(strings.Repeat("\"quoted\" and\nbroken\tlines ", 200)))
	r := newManager(t, 1_000_000, nil).Plan(h)
	var body []map[string]any
	for i := range r.Messages {
		m := &r.Messages[i]
		for k := range m.Parts {
			p := &m.Parts[k]
			body = append(body, map[string]any{"role": m.Role, "content": []any{map[string]any{"type": "text", "text": p.Text, "id": p.ID, "name": p.Name, "input": p.Arguments}}})
		}
	}
	wire, err := json.Marshal(body)
	require.NoError(t, err)
	assert.InEpsilon(t, len(wire), r.Bytes, 0.05)
}

// Characters that JSON escapes count as they are sent. A tenth of the bytes of source code may be tabs.
func TestBytesOfEscapes(t *testing.T) {
	for _, line := range []string{"\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n", "a line\r\n", "\x1b[31mFAIL\x1b[0m\n",
		"<li><a href=/x?a=1&amp;b=2>if a < b && c > d</a></li>\n"} {
		text := strings.Repeat(line, 500)
		wire, err := json.Marshal(text)
		require.NoError(t, err)
		r := newManager(t, 1_000_000, nil).Plan(list(userSays(text)))
		assert.InEpsilon(t, len(wire), r.Bytes, 0.02, line)

		var arguments bytes.Buffer
		encoder := json.NewEncoder(&arguments)
		encoder.SetEscapeHTML(false) // as a model writes them
		require.NoError(t, encoder.Encode(map[string]string{"text": text}))
		wire, err = json.Marshal(json.RawMessage(arguments.Bytes()))
		require.NoError(t, err)
		r = newManager(t, 1_000_000, nil).Plan(list(userSays("write it"), winnow.Message{
			Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindToolCall, ID: "1", Name: "write", Arguments: arguments.Bytes()}},
		}))
		assert.InEpsilon(t, len(wire), r.Bytes, 0.05, line)
	}
}

func ExampleRequest() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m, err := winnow.New(200_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: func() time.Time { return now }})
	if err != nil {
		fmt.Println(err)
		return
	}
	history := longTalk()
	for _, pause := range []time.Duration{0, time.Minute, time.Hour} {
		now = now.Add(pause)
		r, err := m.Prepare(context.Background(), history)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d tokens, %d of them cached: they cost as much as %.0f\n", r.Tokens, r.Cached, r.Cost)
		history = append(history, assistant("The budget."), user("Then let us begin with that."))
	}
	// Output:
	// 20516 tokens, 0 of them cached: they cost as much as 25645
	// 20526 tokens, 20516 of them cached: they cost as much as 2064
	// 20536 tokens, 0 of them cached: they cost as much as 25670
}
