package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Compaction that fails: nothing happens to the history or to the manager, whatever the reason.

var errDown = errors.New("the model is down")

// failures are summarizers that come to nothing, each in its own way.
var failures = []struct {
	name   string
	s      winnow.SummarizerFunc
	reason string
}{
	{"error", func(context.Context, winnow.SummaryRequest) (string, error) { return "", errDown }, "the provider is down"},
	{"error with text", func(context.Context, winnow.SummaryRequest) (string, error) { return "## Goal\nhalf of it", errDown }, "a text that comes with an error is not an answer"},
	{"timeout", func(ctx context.Context, _ winnow.SummaryRequest) (string, error) { <-ctx.Done(); return "", ctx.Err() }, "a model that never answers"},
	{"deaf", func(context.Context, winnow.SummaryRequest) (string, error) {
		time.Sleep(time.Hour)
		return "## Goal\ntoo late", nil
	}, "a summarizer that does not honour its ctx"},
	{"empty", answers(""), "half of the compactions of one host stored an empty summary"},
	{"blank", answers(" \n\t\n"), "white space is not a summary"},
	{"invisible", answers("\u200b\ufeff \u00ad\u2060\n"), "characters that nobody sees are not a summary"},
	{"invisible behind reasoning", answers("<think>hm</think>\n\u200b"), "nor are they behind something that was seen"},
	{"cut", func(context.Context, winnow.SummaryRequest) (string, error) {
		return "## Goal\nand then", fmt.Errorf("stopped at max_tokens: %w", winnow.ErrIncomplete)
	}, "an answer that was cut by its length lacks the end"},
	{"reasoning only", answers("<think>Let me see what the user wants"), "the answer was used up by thinking"},
	{"tool call", answers(`{"tool_calls":[{"name":"read","arguments":{}}]}`), "a model that goes on with the task"},
	{"null", answers("null"), "a value of JSON"},
	{"empty field", answers(`{"summary": ""}`), "an object without a text"},
	{"comment", answers("<!-- the summary -->"), "a comment"},
	{"silent token", answers("NO_REPLY"), "what a model says that has nothing to say"},
	{"question back", answers("Sure! Could you please provide the conversation you would like me to summarize?"), "it did not see the conversation"},
	{"an error as text", answers("Error: rate limit exceeded, please try again later."), "a proxy that answers with status 200"},
	{"refusal", answers("I'm sorry, but I can't help with that."), "a refusal is not a summary"},
	{"echo", func(_ context.Context, r winnow.SummaryRequest) (string, error) { return r.Prompt(), nil }, "a model that repeats its prompt"},
	{"only what code writes", answers("## Tool Failures\n- exec: x\n<read-files>\na.go\n</read-files>"), "sections that a model copied are not a summary"},
	{"nil", nil, "a function that is not there"},
	{"longer", answers("## Goal\n" + strings.Repeat("blah blah ", 40_000)), "a summary that is longer than what it stands for"},
	{"panic", func(context.Context, winnow.SummaryRequest) (string, error) { panic("nil map") }, "a host's bug must not take the agent down"},
	{"goexit", func(context.Context, winnow.SummaryRequest) (string, error) { runtime.Goexit(); return "", nil }, "a test's FailNow ends its goroutine"},
}

func answers(text string) winnow.SummarizerFunc {
	return func(context.Context, winnow.SummaryRequest) (string, error) { return text, nil }
}

// switched is a summarizer that can be exchanged, while a call that was given up on may still run.
type switched struct {
	mu sync.Mutex
	s  winnow.Summarizer
}

func switchedTo(s winnow.Summarizer) *switched { return &switched{s: s} }

func (s *switched) to(other winnow.Summarizer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.s = other
}

func (s *switched) Summarize(ctx context.Context, r winnow.SummaryRequest) (string, error) {
	s.mu.Lock()
	current := s.s
	s.mu.Unlock()
	return current.Summarize(ctx, r)
}

// workingManager returns a manager that has compacted and pruned already, its summarizer, and the history.
func workingManager(t *testing.T) (*winnow.Manager, *switched, []winnow.Message) {
	s := switchedTo(says("## Goal\nfine so far"))
	c := newClock()
	m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: s, Now: c.Now})
	h := append(chat(30, 2_000), inPlace(agentSession(6, 4_000))...)
	h = append(h, chat(4, 2_000)...)
	for i := range h {
		h[i].ID = nameOf(i)
		h[i].Source = nil
	}
	compacted := false
	for n := 10; n <= len(h)-8; n += 10 {
		r := prepare(t, m, h[:n])
		compacted = compacted || r.Compaction != nil
		c.pass(3 * time.Minute)
	}
	require.True(t, compacted)
	require.Contains(t, snapshotOf(t, m), `"edits"`)
	return m, s, h
}

func TestManagerCompactFails(t *testing.T) {
	for _, tt := range failures {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer time.Sleep(2 * time.Hour) // until the deaf one has gone
				m, s, h := workingManager(t)
				twin, twins, _ := workingManager(t)
				s.to(tt.s)
				before, state := deepCopy(h), snapshotOf(t, m)
				r, err := m.Compact(t.Context(), h, "")
				require.Nil(t, r, tt.reason)
				require.ErrorIs(t, err, winnow.ErrCompaction, tt.reason)
				require.NotErrorIs(t, err, winnow.ErrOverflow)
				sameMessages(t, before, h, "the history was written to")
				require.Equal(t, state, snapshotOf(t, m), "the manager changed")
				if strings.HasPrefix(tt.name, "error") {
					require.ErrorIs(t, err, errDown, "the cause is wrapped")
				}
				if tt.name == "cut" {
					require.ErrorIs(t, err, winnow.ErrIncomplete, "the cause is wrapped")
				}
				back := says("## Goal\nback again")
				s.to(back)
				twins.to(back)
				sameMessages(t, prepare(t, twin, h).Messages, prepare(t, m, h).Messages, "the next request is as if nothing had been tried")
			})
		})
	}
}

// Without the host's rules no summary is made, and nothing changes.
func TestManagerRulesPanic(t *testing.T) {
	broken := true
	rules := func() string {
		if broken {
			panic("no such file")
		}
		return "Name the ticket."
	}
	m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: says("## Goal\nfine so far"), Compact: &winnow.CompactOptions{KeepRecent: 500, Rules: rules}})
	h := chat(30, 500)
	prepare(t, m, h)
	state := snapshotOf(t, m)
	_, err := m.Compact(t.Context(), h, "")
	require.ErrorIs(t, err, winnow.ErrCompaction)
	require.ErrorContains(t, err, "no such file")
	require.Equal(t, state, snapshotOf(t, m), "the manager changed")
	_, err = m.Prepare(t.Context(), chat(60, 2_000))
	require.ErrorIs(t, err, winnow.ErrOverflow, "there is nothing but turns, and no summary of them")
	broken = false
	r := prepare(t, m, chat(60, 2_000))
	assert.Contains(t, r.Compaction.Summary, "Name the ticket.")
}

// A Prepare whose compaction fails gives a request that fits all the same: cut further, or with a digest that
// says that it is one.
func TestManagerPrepareSurvivesFailures(t *testing.T) {
	for _, tt := range failures {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer time.Sleep(3 * time.Hour) // until the deaf one has gone
				h := chat(40, 2_000)
				m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: tt.s})
				before := deepCopy(h)
				require.True(t, m.Plan(h).NeedsCompaction)
				r := prepare(t, m, h)
				sameMessages(t, before, h, "the history was written to")
				requestCheck{estimator: byChars}.check(t, h, r)
				assert.True(t, r.Degraded, tt.reason)
				require.NotNil(t, r.Compaction)
				assert.True(t, r.Compaction.Degraded)
				assert.Contains(t, r.Compaction.Summary, "mark1", "the digest is of the history")
				assert.True(t, prepare(t, m, h).Degraded, "as long as the digest stands in")
			})
		})
	}
}

// The digest is not the last word: the next compaction that succeeds is made from the history it stood for.
func TestManagerDegradedIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := chat(120, 2_000)
		s := switchedTo(fails(errDown))
		m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: s})
		r := prepare(t, m, log[:80])
		require.True(t, r.Degraded)
		digested := log[:r.Compaction.FirstKept]

		healthy := says("## Goal\nwritten by a model")
		s.to(healthy)
		n := 80
		for ; r.Degraded; n += 2 {
			require.Less(t, n, len(log), "the digest was never replaced")
			r = prepare(t, m, log[:n])
		}
		require.NotNil(t, r.Compaction)
		assert.False(t, r.Compaction.Degraded)
		assert.Contains(t, r.Compaction.Summary, "written by a model")
		prompts := ""
		for _, req := range healthy.calls {
			prompts += req.Prompt()
		}
		for i := range digested {
			require.Contains(t, prompts, marksOf(&digested[i])[0], "message %d was summarized from the history, not from the digest", i)
		}
		require.LessOrEqual(t, r.Tokens, r.Budget)

		again := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: s})
		s.to(fails(errDown))
		require.True(t, prepare(t, again, log[:80]).Degraded)
		s.to(healthy)
		asked, err := again.Compact(t.Context(), log[:82], "")
		require.NoError(t, err)
		assert.False(t, asked.Degraded, "a manual compaction replaces it at once")
	})
}

// A summarizer that does not work is not paid for at every request. New content or a host that asks for it
// gives it another chance.
func TestManagerBreaker(t *testing.T) {
	for name, answer := range map[string]func(int, winnow.SummaryRequest) (string, error){
		"fails": func(int, winnow.SummaryRequest) (string, error) { return "", errDown },
		"does not shrink the request": func(_ int, r winnow.SummaryRequest) (string, error) {
			return "## Goal\n" + strings.Repeat("all of it once more ", 200_000), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testBreaker(t, &fakeSummarizer{answer: answer}, name != "fails") })
		})
	}
}

func testBreaker(t *testing.T, s *fakeSummarizer, isBilled bool) {
	m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: s})
	// A system prompt leaves so little room that each compaction is soon followed by the next.
	const budget = 12_000
	h := []winnow.Message{{ID: "system", Role: winnow.RoleSystem, Parts: []winnow.Part{textPart(strings.Repeat("be good ", budget*9/20))}}}
	talk := chat(2_000, 800)
	compact := func() (calls, grown int) { // goes on until the next compaction
		for before := s.count(); ; {
			added := talk[:2]
			h, talk = append(h, added...), talk[2:]
			grown += estimateAll(byChars, added)
			if r := prepare(t, m, h); r.Compaction != nil {
				return s.count() - before, grown
			}
		}
	}
	calls, _ := compact()
	assert.Greater(t, calls, 1, "the first")
	calls, _ = compact()
	assert.Greater(t, calls, 1, "the second: the first may have been bad luck")
	chances := 0
	for grown := 0; chances < 5; {
		calls, more := compact()
		grown += more
		if calls == 0 {
			if isBilled { // see TestRefusingSummarizer
				require.Less(t, grown, 2*budget, "new content is another chance")
			} else {
				require.Less(t, grown, budget/5, "new content is another chance")
			}
			continue
		}
		require.GreaterOrEqual(t, grown, budget/10, "two in a row failed: a little more is no reason to ask again")
		require.Equal(t, 1, calls, "it is asked whether it is back, and no more")
		chances++
		grown = 0
	}
	before := s.count()
	_, err := m.Compact(t.Context(), h, "")
	require.ErrorIs(t, err, winnow.ErrCompaction)
	assert.Greater(t, s.count(), before+1, "who asks for it gets it, open or not")
	calls, _ = compact()
	assert.Zero(t, calls, "it failed as well")

	s.answer = func(int, winnow.SummaryRequest) (string, error) { return "## Goal\nback again", nil }
	_, err = m.Compact(t.Context(), h, "")
	require.NoError(t, err)
	calls, _ = compact()
	assert.Positive(t, calls, "a success closes it")
}

// What cannot fit with a summary either is not paid for.
func TestManagerHopelessIsNotPaid(t *testing.T) {
	s := says("## Goal\nshort")
	m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: s, Now: newClock().Now})
	before := snapshotOf(t, m)
	h := append(chat(10, 2_000), userSays(strings.Repeat("a request above the window ", 2_000)))
	for range 3 {
		_, err := m.Prepare(t.Context(), h)
		e := checkOverflow(t, err, 12_000, 0)
		require.Greater(t, e.Protected, 12_000)
	}
	assert.Zero(t, s.count(), "calls of the summarizer")
	assert.Equal(t, before, snapshotOf(t, m))
}

// Finished parts of a compaction that failed later are kept: the next try asks for the rest.
func TestManagerCompactionKeepsFinishedParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := chat(120, 2_000)
		down := true
		s := &fakeSummarizer{answer: func(n int, req winnow.SummaryRequest) (string, error) {
			if down && strings.Contains(req.Prompt(), "mark100150") {
				return "", errDown
			}
			return "## Goal\nsummary " + itoa(n), nil
		}}
		m := newManager(t, 200_000, &winnow.Options{Estimator: byChars, Summarizer: s, Compact: &winnow.CompactOptions{SummarizerWindow: 16_000, KeepRecent: 2_000}})
		_, err := m.Compact(t.Context(), h, "")
		require.ErrorIs(t, err, errDown)
		failed := s.count()
		down = false
		r, err := m.Compact(t.Context(), h, "")
		require.NoError(t, err)
		assert.Less(t, r.Compaction.Calls, failed, "what was finished is not asked for again")
		seen := map[string]bool{}
		for _, req := range s.calls {
			p := req.Prompt()
			assert.False(t, seen[p] && !strings.Contains(p, "mark100150"), "a prompt that was answered was sent again")
			seen[p] = true
			assert.LessOrEqual(t, byChars(userSays(p+req.System()))+req.MaxTokens, 16_000, "a call above the summarizer's window")
		}
	})
}

// Who cancels while a summary is written gets the cause at once, and nothing has happened.
func TestManagerCancelledCompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the user pressed escape")
		h := chat(40, 2_000)
		m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: winnow.SummarizerFunc(func(ctx context.Context, _ winnow.SummaryRequest) (string, error) {
			<-ctx.Done()
			return "## Goal\ntoo late", nil
		})})
		prepare(t, m, h[:10])
		before, state := deepCopy(h), snapshotOf(t, m)
		for _, f := range []func(ctx context.Context) (*winnow.Request, error){
			func(ctx context.Context) (*winnow.Request, error) { return m.Prepare(ctx, h) },
			func(ctx context.Context) (*winnow.Request, error) { return m.Compact(ctx, h, "") },
		} {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(10*time.Second, func() { cancel(cause) })
			start := time.Now()
			r, err := f(ctx)
			assert.Nil(t, r)
			require.Error(t, err)
			assert.Equal(t, 10*time.Second, time.Since(start), "at once")
			sameMessages(t, before, h, "the history was written to")
			assert.Equal(t, state, snapshotOf(t, m), "the manager changed")
		}
	})
}

// No summary is paid for where not even a short one makes the request fit: the newest request alone is too large.
func TestManagerCompactAsksForNothingInVain(t *testing.T) {
	s := says("## Goal\nTo port the parser.")
	flushed := false
	m := newManager(t, 8_000, &winnow.Options{
		Summarizer: s, Now: newClock().Now, Compact: &winnow.CompactOptions{
			BeforeCompact: func(context.Context, []winnow.Message) error { flushed = true; return nil },
		},
	})
	h := chat(20, 400)
	before := snapshotOf(t, m)
	_, err := m.Compact(t.Context(), append(h, userSays(numbered(1_000))), "")
	require.ErrorIs(t, err, winnow.ErrOverflow)
	assert.Empty(t, s.calls)
	assert.False(t, flushed, "nothing is about to be lost")
	assert.Equal(t, before, snapshotOf(t, m))

	r, err := m.Compact(t.Context(), append(h, userSays("Go on.")), "")
	require.NoError(t, err)
	assert.NotNil(t, r.Compaction)
	assert.NotEmpty(t, s.calls)
}
