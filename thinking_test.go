package winnow_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// thinkingSession is the history of an agent that thinks before each call; a person speaks after each group of calls.
func thinkingSession(calls, every, size int) []winnow.Message {
	var h []winnow.Message
	for i := range calls {
		if i%every == 0 {
			if i > 0 {
				h = append(h, modelSends(thinkPart("so that was it "+itoa(i), "sum"+itoa(i)), textPart("done "+itoa(i))))
			}
			h = append(h, userSays("request "+itoa(i)))
		}
		id := "call_" + itoa(i)
		m := modelSends(thinkPart("what next? "+itoa(i), "sig"+itoa(i)), callPart(id, "exec"))
		m.Parts[1].Arguments = []byte(`{"n":` + itoa(i) + `}`)
		h = append(h, m, toolSays(id, "mark"+itoa(10_000+i)+" "+asciiText[i*37%10_000:][:size]))
	}
	return named(h)
}

func thinks(m winnow.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p winnow.Part) bool { return p.Kind == winnow.KindThinking })
}

// steps calls f with each prefix of h that a model would be sent.
func steps(h []winnow.Message, f func(in []winnow.Message)) {
	for n := 1; n <= len(h); n++ {
		if n == len(h) || h[n].Role == winnow.RoleAssistant {
			f(h[:n])
		}
	}
}

// Whatever the policy and however narrow the window: thinking is sent as it came or not at all, and no turn is empty.
func TestThinkingIsNeverEdited(t *testing.T) {
	t.Parallel()
	h := thinkingSession(60, 7, 2_000)
	h[9] = modelSends(thinkPart("only thinking", "alone"))
	for _, policy := range []winnow.ThinkingPolicy{winnow.ThinkingKept, winnow.ThinkingDropped, winnow.ThinkingBound} {
		for _, window := range []int{6_000, 12_000, 1_000_000} {
			left := 0
			c := newClock()
			m := newManager(t, window, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: c.Now, NoMinify: true, Thinking: policy})
			var last *winnow.Request
			steps(h, func(in []winnow.Message) {
				plan := m.Plan(in)
				r := prepare(t, m, in)
				if !plan.NeedsCompaction {
					sameWire(t, r.Messages, plan.Messages, "%s: Plan at %d", policy, len(in))
				}
				if last != nil {
					require.Equal(t, firstDifference(last.Messages, r.Messages), r.FirstChanged)
				}
				last = r
				for _, m := range r.Messages {
					require.NotEmpty(t, m.Parts, "an empty turn")
					if m.Role != winnow.RoleAssistant {
						continue
					}
					i, ok := originOf(&m)
					require.True(t, ok)
					var want, got []winnow.Part
					for _, p := range in[i].Parts {
						if p.Kind == winnow.KindThinking {
							want = append(want, p)
						}
					}
					for _, p := range m.Parts {
						if p.Kind == winnow.KindThinking {
							got = append(got, p)
						}
					}
					if len(got) == 0 {
						left += len(want)
						continue
					}
					require.Equal(t, want, got, "%s: message %d", policy, i)
				}
				c.pass(time.Duration(len(in)%8) * time.Minute)
			})
			if policy == winnow.ThinkingKept {
				assert.Zero(t, left, "nothing is left out")
			} else if window < 1_000_000 {
				assert.Positive(t, left, "%s in %d", policy, window)
			}
		}
	}
}

// ThinkingDropped: that of older turns goes when something is rewritten anyway, and that of the newest turn stays.
func TestThinkingDropped(t *testing.T) {
	h := thinkingSession(24, 6, 4_000)
	c := newClock()
	m := newManager(t, 200_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: c.Now, NoMinify: true, Thinking: winnow.ThinkingDropped, Tools: &winnow.ToolOptions{Keep: []string{"*"}}})
	steps(h[:40], func(in []winnow.Message) {
		r := prepare(t, m, in)
		for i := range r.Messages {
			require.True(t, sameOnWire(&in[i], &r.Messages[i]), "nothing is rewritten: nothing is left out")
		}
		c.pass(10 * time.Second)
	})

	m = newManager(t, 60_000, &winnow.Options{FoldAbove: 0.02, Estimator: winnow.CharsPerToken(4), Now: c.Now, NoMinify: true, Thinking: winnow.ThinkingDropped})
	var last *winnow.Request
	steps(h[:40], func(in []winnow.Message) { last = prepare(t, m, in); c.pass(10 * time.Second) })
	c.pass(time.Hour)
	in := h[:42]
	r := prepare(t, m, in)
	require.Less(t, r.FirstChanged, len(last.Messages), "the cache is cold and results are old: they are dropped")
	newest := newestRequest(in)
	of := func(id string) int { return slices.IndexFunc(in, func(m winnow.Message) bool { return m.ID == id }) }
	for k := range r.Messages {
		switch i := of(r.Messages[k].ID); {
		case k < r.FirstChanged:
			assert.Equal(t, thinks(last.Messages[k]), thinks(r.Messages[k]), "message %d is before what is rewritten", k)
		case i >= newest:
			assert.Equal(t, thinks(in[i]), thinks(r.Messages[k]), "message %d is of the newest turn", k)
		default:
			assert.False(t, thinks(r.Messages[k]), "message %d is of an older turn", k)
		}
	}
	for _, e := range r.Edits {
		assert.Contains(t, []winnow.Op{winnow.OpFold, winnow.OpClear, winnow.OpTrim}, e.Op)
	}
}

// A message of the newest turn that reads like an older one is sent as it came, in this request and in the next.
func TestThinkingDroppedTwins(t *testing.T) {
	twin := modelSends(thinkPart("hm", ""), textPart("well"))
	h := append(thinkingSession(12, 12, 4_000), userSays("a"), twin, userSays("b"), twin, hostSays("go on"))
	c := newClock()
	m := newManager(t, 200_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: c.Now, NoMinify: true, Thinking: winnow.ThinkingDropped})
	prepare(t, m, h[:len(h)-3])
	c.pass(time.Hour)
	r := prepare(t, m, h)
	require.True(t, thinks(r.Messages[len(h)-2]), "it is of the newest turn")
	next := prepare(t, m, append(slices.Clip(h), modelSays("yes"), hostSays("go on")))
	assert.Equal(t, len(r.Messages), next.FirstChanged, "nothing is rewritten")
}

// ThinkingDropped: who rewinds into an older tool loop goes on in it, and providers want its thinking.
func TestThinkingDroppedRewound(t *testing.T) {
	h := thinkingSession(24, 6, 4_000)
	c := newClock()
	o := &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: c.Now, NoMinify: true, Thinking: winnow.ThinkingDropped}
	m := newManager(t, 60_000, o)
	steps(h[:40], func(in []winnow.Message) { prepare(t, m, in); c.pass(10 * time.Second) })
	c.pass(time.Hour)
	prepare(t, m, h[:42])
	restored := newManager(t, 60_000, o)
	require.NoError(t, restored.Restore([]byte(snapshotOf(t, m))))

	in := h[:23] // in the second turn
	require.Equal(t, winnow.RoleTool, in[len(in)-1].Role)
	plan := m.Plan(in)
	r := prepare(t, m, in)
	sameWire(t, r.Messages, plan.Messages, "Plan")
	sameWire(t, r.Messages, prepare(t, restored, in).Messages, "restored")
	left := 0
	for i := range in {
		k := slices.IndexFunc(r.Messages, func(m winnow.Message) bool { return m.ID == in[i].ID })
		if i >= newestRequest(in) && thinks(in[i]) {
			require.Equal(t, in[i].Parts, r.Messages[k].Parts, "message %d is of the newest turn", i)
		} else if thinks(in[i]) && (k < 0 || !thinks(r.Messages[k])) {
			left++
		}
	}
	assert.Positive(t, left, "older turns stay as they were sent")

	for _, next := range []winnow.Message{modelSays("done"), userSays("and now?"), modelSays("nothing"), userSays("well")} {
		in = append(slices.Clip(in), next)
		if next.Role == winnow.RoleUser {
			before := r
			plan = m.Plan(in)
			r = prepare(t, m, in)
			sameWire(t, r.Messages, plan.Messages, "Plan")
			assert.Equal(t, len(before.Messages), r.FirstChanged, "what was sent whole stays so")
		}
	}
}

func ExampleThinkingPolicy() {
	thinking := func(text, signature, id string) winnow.Message {
		m := call(id, "exec", `{"command":"go test"}`)
		m.Parts = append([]winnow.Part{{Kind: winnow.KindThinking, Text: text, Signature: signature}}, m.Parts...)
		return m
	}
	history := []winnow.Message{user("Why does the test fail?")}
	for i := range 6 {
		id := fmt.Sprint("call_", i)
		history = append(history, thinking("Once more.", "signed", id), result(id, "exec", strings.Repeat("one more word of a log, ", 300)))
	}
	for _, policy := range []winnow.ThinkingPolicy{winnow.ThinkingKept, winnow.ThinkingBound} {
		m, err := winnow.New(12_000, &winnow.Options{Thinking: policy})
		if err != nil {
			panic(err)
		}
		r, err := m.Prepare(context.Background(), history)
		if err != nil {
			panic(err)
		}
		n := 0
		for _, m := range r.Messages {
			if m.Parts[0].Kind == winnow.KindThinking {
				n++
			}
		}
		fmt.Printf("%q: %d results were dropped, and the thinking of %d of 6 messages is sent\n", policy, len(r.Edits)-(6-n), n)
	}
	// Output:
	// "kept": 4 results were dropped, and the thinking of 6 of 6 messages is sent
	// "bound": 4 results were dropped, and the thinking of 1 of 6 messages is sent
}
