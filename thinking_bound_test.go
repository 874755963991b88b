package winnow_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

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
		for _, p := range m.Parts {
			if p.Kind != winnow.KindThinking {
				continue
			}
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
	for _, p := range m.Parts {
		if p.Kind == winnow.KindThinking {
			b.seen[p.Signature] = request
		}
	}
}

// ThinkingBound: of thinking that is sent every byte in front is what the model saw.
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
					state, err := m.Snapshot()
					require.NoError(t, err)
					m = newManager(t, tt.window, &tt.options)
					require.NoError(t, m.Restore(state))
				}
				c.pass(time.Duration(len(in)%8) * time.Minute)
			})
			assert.Positive(t, epochs, "nothing was ever rewritten")
			assert.Greater(t, sent, 90, "hardly any thinking was sent")
		})
	}
}

// ThinkingBound holds for what Recover sends as well.
func TestThinkingBoundRecover(t *testing.T) {
	h := thinkingSession(40, 10, 2_000)
	c := newClock()
	m := newManager(t, 100_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: c.Now, NoMinify: true, Thinking: winnow.ThinkingBound})
	b := &boundCheck{t, map[string][]winnow.Message{}}
	steps(h, func(in []winnow.Message) {
		r := prepare(t, m, in)
		b.check(r.Messages, "request")
		if len(in) < len(h) {
			b.answered(slices.Clone(r.Messages), &h[len(in)])
			return
		}
		refused := fmt.Errorf("prompt is too long: %d tokens > 15000 maximum", 2*r.Tokens)
		for range 3 {
			next, err := m.Recover(t.Context(), in, refused)
			if err != nil {
				require.ErrorIs(t, err, winnow.ErrOverflow)
				return
			}
			require.Less(t, next.Tokens, r.Tokens)
			b.check(next.Messages, "recovered")
		}
	})
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

// A manager that takes over a history sends it as it is, or leaves out the thinking behind what it changes.
func TestThinkingBoundTakesOver(t *testing.T) {
	h := thinkingSession(60, 10, 2_000)
	o := winnow.Options{Estimator: winnow.CharsPerToken(4), NoMinify: true, Thinking: winnow.ThinkingBound}
	r := prepare(t, newManager(t, 100_000, &o), h)
	require.True(t, sharesMemory(h, r.Messages))

	for _, window := range []int{20_000, 30_000} {
		r = prepare(t, newManager(t, window, &o), h)
		same := firstDifference(h, r.Messages)
		require.Less(t, same, len(h))
		for i, m := range r.Messages {
			if i >= same {
				require.False(t, thinks(m), "message %d stands behind message %d, which is not what the model saw", i, same)
			} else {
				require.Equal(t, thinks(h[i]), thinks(m))
			}
		}
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
				state := snapshotOf(t, m)
				m = newManager(t, 10_000, o)
				require.NoError(t, m.Restore([]byte(state)))
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
