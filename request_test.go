package winnow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// What was sent stays as it was sent: the provider's prompt cache reads a prefix that is the same to the byte.

// While the cache is warm nothing that was sent is touched; when it has expired, rewriting costs nothing.
func TestManagerCacheTTL(t *testing.T) {
	h := agentSession(4, 6_000)[:16] // what is stale in it does not pay while the cache is warm
	hour := &winnow.CacheOptions{TTL: time.Hour}
	for _, tt := range []struct {
		name   string
		cache  *winnow.CacheOptions
		pause  time.Duration
		prunes bool
		reason string
	}{
		{"at once", nil, 0, false, "the cache is warm"},
		{"within the default", nil, 5*time.Minute - time.Nanosecond, false, "five minutes are not over"},
		{"at the default", nil, 5 * time.Minute, true, "five minutes are over"},
		{"within an hour", hour, 59 * time.Minute, false, "the provider keeps it for an hour"},
		{"after an hour", hour, time.Hour, true, "it does not keep it longer"},
		{"no cache", &winnow.CacheOptions{None: true}, 0, true, "every token is paid each time: shrink at once"},
		{"clock that went back", nil, -time.Hour, false, "a clock that is set back says nothing of the cache"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock()
			m := newManager(t, 128_000, &winnow.Options{FoldAbove: -1, Estimator: winnow.CharsPerToken(4), Now: c.Now, Cache: tt.cache})
			for _, n := range []int{2, 5} { // nothing is stale yet
				require.Empty(t, prepare(t, m, h[:n]).Edits)
			}
			warm := h[:len(h)-1]
			first := prepare(t, m, warm)
			require.Equal(t, tt.cache != nil && tt.cache.None, len(first.Edits) > 0, "it fits and is warm")
			c.pass(tt.pause)
			r := prepare(t, m, h)
			pruned := len(recordsIn(r.Messages)) > 0
			assert.Equal(t, tt.prunes, pruned, tt.reason)
			assert.Equal(t, firstDifference(first.Messages, r.Messages), r.FirstChanged)
			assert.Equal(t, tt.prunes, r.FirstChanged < len(warm), tt.reason)
		})
	}
}

// The turn limit moves in jumps: cut at each turn, the beginning of every request would be another one.
func TestManagerCacheTurnLimit(t *testing.T) {
	const limit = 10
	c := newClock()
	m := newManager(t, 1_000_000, &winnow.Options{HistoryTurns: limit, Now: c.Now})
	var h []winnow.Message
	var last []winnow.Message
	var jumps []int
	for turn := 1; turn <= 60; turn++ {
		h = append(h, userSays("question "+itoa(turn)), modelSays("answer "+itoa(turn)))
		r := prepare(t, m, h)
		turns := len(r.Messages) / 2
		require.LessOrEqual(t, turns, limit+limit/2, "turn %d: the list may grow to 1.5 times the limit", turn)
		require.GreaterOrEqual(t, turns, min(turn, limit), "turn %d: the limit is what is kept", turn)
		require.Equal(t, firstDifference(last, r.Messages), r.FirstChanged)
		if r.FirstChanged < len(last) {
			require.Equal(t, limit, turns, "turn %d: it is cut to the limit in one go", turn)
			jumps = append(jumps, turn)
		}
		last = r.Messages
		c.pass(time.Minute)
	}
	assert.Equal(t, []int{16, 22, 28, 34, 40, 46, 52, 58}, jumps, "six turns fit between two cuts: from the limit to above 1.5 times it")

	c.pass(time.Hour)
	h = append(h, userSays("question 61"))
	assert.Len(t, prepare(t, m, h).Messages, 2*limit-1, "when the cache is cold the list is cut to the limit at once")
}

// Requests share their lists, with each other and with the history. Whatever a host does with one that it keeps, the
// others stay as they were, and so does the history; and when it keeps none, they are made anew.
func TestManagerRequestsStayApart(t *testing.T) {
	h := agentSession(min(90, count(30, 30)), 2_400) // every request is compared with every other
	repaired := append(list(userSays("begin"), modelCalls("lost"), userSays("go on")), h...)
	for _, tt := range []struct {
		name       string
		history    []winnow.Message
		turns      int
		isScribble bool // the host writes to all lists of each request, and keeps none
	}{
		{"kept", h, 0, false}, {"kept, with a turn limit", h, 12, false}, {"kept, repaired", repaired, 0, false},
		{"written to", h, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := &winnow.Options{Now: newClock().Now, HistoryTurns: tt.turns}
			m, twin := newManager(t, 64_000, o), newManager(t, 64_000, o)
			h, before := tt.history, deepCopy(tt.history)
			var kept, copies []winnow.Request
			edited := 0
			for n := 3; n <= len(h); n++ {
				in := h[:n]
				if tt.isScribble {
					in = deepCopy(in)
				}
				r := prepare(t, m, in)
				require.Equal(t, prepare(t, twin, slices.Clone(h[:n])), r, "request %d", n) // in other memory: the whole list is looked at
				if len(r.Edits) > 0 {
					edited++
				}
				if tt.isScribble {
					scribble(r)
					continue
				}
				copied := *r
				copied.Messages, copied.History = deepCopy(r.Messages), deepCopy(r.History)
				copied.Edits, copied.Counts = slices.Clone(r.Edits), slices.Clone(r.Counts)
				kept, copies = append(kept, *r), append(copies, copied)
				_ = append(r.Messages, userSays("mine"))
				_ = append(r.History, userSays("mine"))
				_ = append(r.Edits, winnow.Edit{Reason: "mine"})
			}
			require.Greater(t, edited, len(h)/2)
			require.Equal(t, copies, kept)
			sameMessages(t, before, h, "the history was written to")
		})
	}
}

// scribble writes to all lists of a request.
func scribble(r *winnow.Request) {
	for k := range r.Messages {
		r.Messages[k] = userSays("scribble")
	}
	for k := range r.History {
		r.History[k] = userSays("scribble")
	}
	for k := range r.Edits {
		r.Edits[k] = winnow.Edit{}
	}
	clear(r.Counts)
}

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
// against the one before. Requests are prepared before and after a restart.
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
		r = newManager(t, 1_000_000, nil).Plan(list(userSays("write it"), modelSends(callWith("1", "write", arguments.String()))))
		assert.InEpsilon(t, len(wire), r.Bytes, 0.05, line)
	}
}

func ExampleRequest() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m := must(winnow.New(200_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: func() time.Time { return now }}))
	history := longTalk()
	for _, pause := range []time.Duration{0, time.Minute, time.Hour} {
		now = now.Add(pause)
		r := must(m.Prepare(context.Background(), history))
		fmt.Printf("%d tokens, %d of them cached: they cost as much as %.0f\n", r.Tokens, r.Cached, r.Cost)
		history = append(history, assistant("The budget."), user("Then let us begin with that."))
	}
	// Output:
	// 20516 tokens, 0 of them cached: they cost as much as 25645
	// 20526 tokens, 20516 of them cached: they cost as much as 2064
	// 20536 tokens, 0 of them cached: they cost as much as 25670
}

// A framework that makes its history of the request that went out has lost its own. That is noticed at the next
// request, in this process and in the next one, and nothing else is taken for it.
func TestSentAsHistory(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options winnow.Options
		op      winnow.Op
	}{
		{"a record", winnow.Options{FoldAbove: -1, Compact: &winnow.CompactOptions{Off: true}}, winnow.OpFold},
		{"a summary", winnow.Options{FoldAbove: 1, Tools: &winnow.ToolOptions{Keep: []string{"*"}}}, winnow.OpCompact},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := winnow.New(16_000, &tt.options)
			require.NoError(t, err)
			history := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Read all of it."}}}}
			var sent *winnow.Request
			for i := 0; sent == nil || len(sent.Edits) == 0 || sent.Edits[0].Op != tt.op; i++ {
				require.Less(t, i, 40)
				id := fmt.Sprint("call_", i)
				history = append(history,
					winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindToolCall, ID: id, Name: "read", Arguments: []byte(fmt.Sprintf(`{"path":"%d.md"}`, i))}}},
					winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: "read", Parts: []winnow.Part{{Text: strings.Repeat(fmt.Sprintf("Line of part %d. ", i), 250)}}})
				sent, err = m.Prepare(t.Context(), history)
				require.NoError(t, err)
			}
			// What an SDK's messages keep of it: neither Injected nor Summary.
			kept := make([]winnow.Message, len(sent.Messages))
			for i, m := range sent.Messages {
				kept[i] = winnow.Message{Role: m.Role, Parts: m.Parts, ToolCallID: m.ToolCallID, ToolName: m.ToolName}
			}
			again, err := winnow.New(16_000, &tt.options)
			require.NoError(t, err)
			state, err := m.Snapshot()
			require.NoError(t, err)
			require.NoError(t, again.Restore(state))
			for _, of := range []*winnow.Manager{m, again} {
				_, err = of.Prepare(t.Context(), kept)
				require.ErrorIs(t, err, winnow.ErrSentAsHistory)
				assert.ErrorContains(t, err, "docs/frameworks.md")
				after, err := of.Snapshot()
				require.NoError(t, err)
				assert.Equal(t, state, after, "nothing is changed")
				_, err = of.Prepare(t.Context(), history)
				assert.NoError(t, err, "the host's own")
				_, err = of.Prepare(t.Context(), sent.History)
				assert.NoError(t, err, "what a host may keep")
			}
			stranger, err := winnow.New(16_000, &tt.options)
			require.NoError(t, err)
			_, err = stranger.Prepare(t.Context(), kept)
			assert.NoError(t, err, "of another conversation: a person may show it")
		})
	}
}
