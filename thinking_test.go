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
		h = append(h, modelSends(thinkPart("what next? "+itoa(i), "sig"+itoa(i)), callWith(id, "exec", `{"n":`+itoa(i)+`}`)), toolSays(id, "mark"+itoa(10_000+i)+" "+asciiText[i*37%10_000:][:size]))
	}
	return named(h)
}

func thinks(m winnow.Message) bool { return len(thoughtsOf(m)) > 0 }

func thoughtsOf(m winnow.Message) []winnow.Part {
	return slices.DeleteFunc(slices.Clone(m.Parts), func(p winnow.Part) bool { return p.Kind != winnow.KindThinking })
}

// steps calls f with each prefix of h that a model would be sent.
func steps(h []winnow.Message, f func(in []winnow.Message)) {
	for n := 1; n <= len(h); n++ {
		if n == len(h) || h[n].Role == winnow.RoleAssistant {
			f(h[:n])
		}
	}
}

// Whatever the policy and however narrow the window: thinking is sent as it came or not at all.
func TestThinkingIsNeverEdited(t *testing.T) {
	t.Parallel()
	h := thinkingSession(60, 7, 2_000)
	for _, policy := range []winnow.ThinkingPolicy{winnow.ThinkingKept, winnow.ThinkingDropped, winnow.ThinkingBound} {
		for _, window := range []int{6_000, 12_000} {
			c := newClock()
			m := newManager(t, window, &winnow.Options{Estimator: byChars, Now: c.Now, NoMinify: true, Thinking: policy})
			steps(h, func(in []winnow.Message) {
				for _, m := range prepare(t, m, in).Messages {
					if i, ok := originOf(&m); ok && (policy == winnow.ThinkingKept || thinks(m)) {
						require.Equal(t, thoughtsOf(in[i]), thoughtsOf(m), "%s: message %d", policy, i)
					}
				}
				c.pass(time.Duration(len(in)%8) * time.Minute)
			})
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

// A message of the newest turn that reads like an older one is sent as it came, in this request and in the next, and so
// is one whose turn is the newest again.
func TestThinkingDroppedTwins(t *testing.T) {
	twin := modelSends(thinkPart("hm", ""), textPart("well"))
	h := append(thinkingSession(24, 6, 4_000), userSays("a"), twin, userSays("b"), twin, hostSays("go on"))
	c := newClock()
	m := newManager(t, 60_000, &winnow.Options{FoldAbove: 0.02, Estimator: winnow.CharsPerToken(4), Now: c.Now, NoMinify: true, Thinking: winnow.ThinkingDropped})
	prepare(t, m, h[:len(h)-3])
	c.pass(time.Hour)
	r := prepare(t, m, h)
	n := len(r.Messages)
	require.False(t, thinks(r.Messages[n-4]), "it is of an older turn")
	require.True(t, thinks(r.Messages[n-2]), "it is of the newest turn")
	for _, says := range []func(string) winnow.Message{hostSays, userSays} {
		next := prepare(t, m, append(slices.Clip(h), modelSays("yes"), says("go on")))
		assert.Equal(t, n, min(n, next.FirstChanged), "what was sent whole stays so")
	}

	prepare(t, m, h)
	r = prepare(t, m, append(h[:len(h)-3:len(h)-3], hostSays("go on")))
	require.True(t, thinks(r.Messages[n-4]), "the history was rewound into its turn, and providers want its thinking")
}

// ThinkingDropped: who rewinds into an older tool loop goes on in it. What was sent whole again stays so, though a
// record stood for it once.
func TestThinkingDroppedRewound(t *testing.T) {
	h := thinkingSession(24, 6, 4_000)
	c := newClock()
	m := newManager(t, 60_000, &winnow.Options{Estimator: byChars, Now: c.Now, NoMinify: true, Thinking: winnow.ThinkingDropped})
	steps(h[:40], func(in []winnow.Message) { prepare(t, m, in); c.pass(10 * time.Second) })
	c.pass(time.Hour)
	prepare(t, m, h[:42])

	in := h[:23:23] // in the second turn
	before := len(prepare(t, m, in).Messages)
	for _, next := range []string{"and now?", "well"} {
		in = append(in, modelSays("done"), userSays(next))
		r := prepare(t, m, in)
		assert.Equal(t, before, r.FirstChanged, next)
		before = len(r.Messages)
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
		m := must(winnow.New(12_000, &winnow.Options{Thinking: policy}))
		r := must(m.Prepare(context.Background(), history))
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

// ThinkingBound: while the request fits nothing is rewritten, however cold the cache and however much it would pay.
func TestThinkingBoundWaits(t *testing.T) {
	h := thinkingSession(60, 10, 4_000)
	c := newClock()
	bound := newManager(t, 400_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: c.Now, NoMinify: true, Thinking: winnow.ThinkingBound})
	other := newManager(t, 400_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: c.Now, NoMinify: true})
	rewritten := false
	steps(h, func(in []winnow.Message) {
		r := prepare(t, bound, in)
		require.True(t, sharesMemory(in, r.Messages), "it is sent as it is")
		rewritten = len(prepare(t, other, in).Edits) > 0 || rewritten
		c.pass(time.Duration(len(in)%10) * time.Minute)
	})
	assert.True(t, rewritten, "with another policy some of it is dropped")
}

// boundCheck follows what a model saw when it thought: each signature is bound to the request that it answered.
type boundCheck struct {
	t    *testing.T
	seen map[string][]winnow.Message // what stood in front of the thinking with a signature when it was written
}

// check fails where thinking stands behind anything else than what it was written behind.
func (b *boundCheck) check(messages []winnow.Message, note string) (sent int) {
	for i, m := range messages {
		for _, p := range thoughtsOf(m) {
			sent++
			before := b.seen[p.Signature]
			require.NotNil(b.t, before, "%s: %s", note, p.Signature)
			require.Len(b.t, before, i, "%s: %s stands elsewhere than when it was written", note, p.Signature)
			sameWire(b.t, before, messages[:i], "%s: what stands before %s", note, p.Signature)
		}
	}
	return sent
}

// answered remembers that the model answered the request with the messages that follow.
func (b *boundCheck) answered(request []winnow.Message, m *winnow.Message) {
	for _, p := range thoughtsOf(*m) {
		b.seen[p.Signature] = request
	}
}

// ThinkingBound: of thinking that is sent every byte in front is what the model saw, also in what Recover sends.
func TestThinkingBound(t *testing.T) {
	t.Parallel()
	h := thinkingSession(90, 10, 2_000)
	for _, tt := range []struct {
		name    string
		window  int
		pins    int // one in this number of answers is pinned; 0: no answer is
		options winnow.Options
	}{
		{"results are dropped", 20_000, 0, winnow.Options{Compact: &winnow.CompactOptions{Off: true}}},
		{"compaction", 12_000, 0, winnow.Options{}},
		{"turn limit", 100_000, 0, winnow.Options{HistoryTurns: 3}},
		{"nothing may be dropped", 12_000, 0, winnow.Options{Tools: &winnow.ToolOptions{Keep: []string{"*"}}}},
		{"results are cut", 20_000, 0, winnow.Options{Truncate: &winnow.TruncateOptions{MaxChars: 1_000}}},
		{"the body has a limit", 1_000_000, 0, winnow.Options{MaxBytes: 30_000}},
		{"results are dropped, with pins", 20_000, 11, winnow.Options{Compact: &winnow.CompactOptions{Off: true}}},
		{"compaction, with pins", 12_000, 17, winnow.Options{}},
		{"turn limit, with pins", 100_000, 17, winnow.Options{HistoryTurns: 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := slices.Clone(h)
			for i := range h {
				h[i].Pinned = tt.pins > 0 && i/2%tt.pins == 1 && h[i].Role == winnow.RoleAssistant
			}
			c := newClock()
			tt.options.Estimator, tt.options.Now, tt.options.Thinking = winnow.CharsPerToken(4), c.Now, winnow.ThinkingBound
			tt.options.NoMinify = true
			m := newManager(t, tt.window, &tt.options)
			b := &boundCheck{t, map[string][]winnow.Message{}}
			sent, epochs, before := 0, 0, 0
			steps(h, func(in []winnow.Message) {
				r := prepare(t, m, in)
				sent += b.check(r.Messages, "request "+itoa(len(in)))
				if r.FirstChanged < before {
					epochs++
				}
				before = len(r.Messages)
				if len(in) < len(h) {
					b.answered(slices.Clone(r.Messages), &h[len(in)])
				}
				if len(in)%9 == 0 {
					m = restarted(t, tt.window, &tt.options, snapshotOf(t, m))
				}
				c.pass(time.Duration(len(in)%8) * time.Minute)
				for refused := 2 * r.Tokens; len(in) == len(h); {
					next, err := m.Recover(t.Context(), in, fmt.Errorf("prompt is too long: %d tokens > %d maximum", refused, r.Tokens/2))
					if err != nil {
						require.ErrorIs(t, err, winnow.ErrOverflow)
						break
					}
					b.check(next.Messages, "recovered")
				}
			})
			assert.Positive(t, epochs, "nothing was ever rewritten")
			assert.Greater(t, sent, 90, "hardly any thinking was sent")
		})
	}
}

// A body that stays too large, whatever is left out of it, has no thinking behind that: Recover may send it where the
// limit is only guessed.
func TestThinkingBoundBodyStaysTooLarge(t *testing.T) {
	h := append(list(userSays(numbered(1_500))), thinkingSession(12, 20, 2_000)...)
	m := newManager(t, 1_000_000, &winnow.Options{MaxBytes: 60_000, Thinking: winnow.ThinkingBound, Compact: &winnow.CompactOptions{Off: true}})
	r := m.Plan(h)
	require.Greater(t, r.Bytes, 60_000)
	same := firstDifference(h, r.Messages)
	require.Less(t, same, 8, "results are cleared")
	for i, m := range r.Messages {
		require.Equal(t, i < same && thinks(h[i]), thinks(m), "message %d", i)
	}
}

// The answer to a request stands directly behind it. What a host puts between them, such as a message that came in
// while the model was writing, the model has not seen, and the thinking of the answer is bound to what it has seen.
func TestThinkingBoundBehindAnInsertedMessage(t *testing.T) {
	answer := modelSends(thinkPart("hm", "sig"), textPart("Yes."))
	for _, tt := range []struct {
		name   string
		added  []winnow.Message
		thinks bool
		reason string
	}{
		{"answer", list(answer, userSays("Good.")), true, "the answer is to what was sent"},
		{"user", list(userSays("Wait."), answer, userSays("Good.")), false, "it came while the model was writing"},
		{"system", list(systemSays("It is noon."), answer, userSays("Good.")), false, "the same by the host"},
	} {
		for _, restored := range []bool{false, true} {
			o := &winnow.Options{Estimator: byChars, Now: newClock().Now, Thinking: winnow.ThinkingBound}
			m := newManager(t, 10_000, o)
			h := list(userSays("Is it so?"))
			prepare(t, m, h)
			if restored {
				m = restarted(t, 10_000, o, snapshotOf(t, m))
			}
			h = append(h, tt.added...)
			r := prepare(t, m, h)
			assert.Equal(t, tt.thinks, slices.ContainsFunc(r.Messages, thinks), "%s, restored %v: %s", tt.name, restored, tt.reason)
		}
	}
}

// What is left out of a message is not left out of an older one that reads the same and was sent whole: that would
// change what all later thinking is bound to.
func TestThinkingBoundTwins(t *testing.T) {
	twin := modelSends(thinkPart("hm", ""), textPart("well"))
	m := newManager(t, 10_000, &winnow.Options{Estimator: byChars, Now: newClock().Now, Thinking: winnow.ThinkingBound})
	h := list(userSays("a"), twin, userSays("b"))
	prepare(t, m, h)
	h = append(h, userSays("c"), twin, userSays("d"))
	r := prepare(t, m, h)
	require.True(t, thinks(r.Messages[1]), "it was sent so")
	require.False(t, thinks(r.Messages[4]), "the model has not seen what stands before it")
	assert.Equal(t, len(r.Messages), m.Plan(h).FirstChanged)
	next := prepare(t, m, append(h, modelSays("e")))
	assert.Equal(t, len(r.Messages), next.FirstChanged, "nothing is rewritten")
}

// Gemini signs text parts, and sends the signature of a stream in one without a text. What is signed goes back as it
// came.
func TestSignedPartsStay(t *testing.T) {
	signed := func(text string) winnow.Part { return winnow.Part{Text: text, Signature: "c2ln"} }
	for _, text := range []string{"", " \n", "\u200b", "The answer."} {
		answer := modelSends(textPart("Well."), signed(text))
		h := list(userSays("And?"), answer, userSays("Go on."), modelSends(signed(text)), userSays("More."))
		repaired, edits := winnow.RepairToolPairing(h)
		assert.Empty(t, edits, "%q", text)
		assert.Equal(t, h, repaired, "%q", text)
		m := newManager(t, 100_000, nil)
		for n := 1; n <= len(h); n += 2 {
			r := prepare(t, m, h[:n])
			require.Equal(t, h[:n], r.Messages, "%q", text)
			require.Empty(t, r.Edits, "%q", text)
		}
	}
}

// A picture that the model made is signed, too: others go first, and where that is not enough a summary makes room.
func TestSignedImagesStay(t *testing.T) {
	h := list(userSays("Draw."))
	for i := range 12 {
		made := winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 100_000, Signature: "c2ln"}
		h = append(h, modelSends(textPart("Drawing "+itoa(i)), made), withImage(userSays("Like this one."), 100_000))
	}
	r := prepare(t, newManager(t, 200_000, &winnow.Options{MaxBytes: 1_500_000, Now: newClock().Now}), h)
	assert.LessOrEqual(t, r.Bytes, 1_500_000)
	_, markers := imagesOf(r.Messages)
	assert.Positive(t, markers)
	for i := range r.Messages {
		if m := &r.Messages[i]; m.Role == winnow.RoleAssistant {
			assert.Equal(t, "c2ln", m.Parts[1].Signature)
		}
	}
}
