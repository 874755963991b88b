package winnow_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
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

// Compactions behind compactions: each begins where the last one ended, and takes nothing from its summary.

// keepsFacts is a summarizer that writes down every fact that it reads, as far as MaxTokens goes: the newest first.
func keepsFacts() *fakeSummarizer {
	fact := regexp.MustCompile(`FACT-\d{5}`)
	return &fakeSummarizer{answer: func(_ int, req winnow.SummaryRequest) (string, error) {
		found := fact.FindAllString(req.Previous, -1)
		for i := range req.Messages {
			found = append(found, fact.FindAllString(fullText(req.Messages[i]), -1)...)
		}
		text := "## Goal\nkeep the facts\n\n## Critical Context"
		seen := map[string]bool{}
		for k := len(found) - 1; k >= 0 && len(text)/4 < req.MaxTokens-10; k-- {
			if !seen[found[k]] {
				seen[found[k]] = true
				text += "\n- " + found[k] + " is true"
			}
		}
		return text, nil
	}}
}

func factsIn(messages []winnow.Message, n int) int {
	return countFacts(toldIn(&winnow.Request{Messages: messages}), "FACT-%05d", n)
}

// factual is a chat in which the first turns say a fact each.
func factual(facts, turns, size int) []winnow.Message {
	h := chat(turns, size)
	for k := range facts {
		h[2*k].Parts[0].Text += fmt.Sprintf(" FACT-%05d is true.", k)
	}
	return h
}

// Asking again is not a failure. Once only the newest step is left it costs nothing: the summary stays as it is.
func TestManagerCompactAgain(t *testing.T) {
	const facts = 60
	h := factual(facts, 70, 1_000)
	s := keepsFacts()
	flushes := 0
	m := newManager(t, 40_000, &winnow.Options{Estimator: byChars, Summarizer: s, Now: newClock().Now, Compact: &winnow.CompactOptions{
		KeepRecent: 2_000, BeforeCompact: func(context.Context, []winnow.Message) error { flushes++; return nil },
	}})
	r := compact(t, m, h)
	require.Equal(t, facts, factsIn(r.Messages, facts))
	r, err := m.Compact(t.Context(), h, "once more")
	require.NoError(t, err)
	require.Len(t, r.Messages, 3, "the summary, the newest request and the answer")
	require.Equal(t, facts, factsIn(r.Messages, facts))
	calls, state := s.count(), snapshotOf(t, m)
	for range 14 {
		_, err = m.Compact(t.Context(), h, "once more")
		require.ErrorIs(t, err, winnow.ErrNothingToCompact)
		require.ErrorIs(t, err, winnow.ErrCompaction, "a host that knows no better takes it for a failure")
	}
	assert.Equal(t, calls, s.count(), "no summarizer is asked")
	assert.Equal(t, 2, flushes, "nothing is about to be lost")
	assert.Equal(t, state, snapshotOf(t, m))
	assert.Equal(t, facts, factsIn(prepare(t, m, h).Messages, facts))

	failed := newManager(t, 40_000, &winnow.Options{Estimator: byChars, Summarizer: fails(errDown)})
	_, err = failed.Compact(t.Context(), h, "")
	require.ErrorIs(t, err, winnow.ErrCompaction)
	assert.NotErrorIs(t, err, winnow.ErrNothingToCompact, "there was something")
}

// By hand a history is summarized whatever its size: the newest step stays, and the newest request.
func TestManagerCompactsAShortHistory(t *testing.T) {
	for _, tt := range []struct {
		name string
		h    []winnow.Message
		kept []int // nil: there is nothing to compact
	}{
		{"nothing", nil, nil},
		{"a request", list(userSays("Hi")), nil},
		{"a request and its answer", list(userSays("Hi"), modelSays("Hello.")), nil},
		{"a request and a step", list(userSays("Look."), modelCalls("a"), toolSays("a", "x")), nil},
		{"instructions", list(systemSays("Be brief."), pinned(userSays("In French.")), userSays("Hi")), nil},
		{"a new request", list(userSays("Hi"), modelSays("Hello."), userSays("Look.")), []int{2}},
		{"two turns", list(userSays("Hi"), modelSays("Hello."), userSays("Look."), modelSays("Seen.")), []int{2, 3}},
		{"steps", list(userSays("Look."), modelCalls("a"), toolSays("a", "x"), modelCalls("b", "c"), toolSays("b", "x"), toolSays("c", "x")), []int{0, 3, 4, 5}},
		{"behind instructions", list(systemSays("Be brief."), userSays("Hi"), modelSays("Hello."), userSays("Look.")), []int{0, 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newManager(t, 200_000, &winnow.Options{Summarizer: says("## Goal\nto talk"), Compact: &winnow.CompactOptions{Off: true}})
			h := named(tt.h)
			if len(h) > 0 {
				prepare(t, m, h)
			}
			before := snapshotOf(t, m)
			r, err := m.Compact(t.Context(), h, "")
			if tt.kept == nil {
				require.ErrorIs(t, err, winnow.ErrNothingToCompact)
				assert.Equal(t, before, snapshotOf(t, m))
				return
			}
			require.NoError(t, err)
			require.Len(t, r.Messages, len(tt.kept)+1)
			for _, i := range tt.kept {
				assert.True(t, holds(r, &h[i]), "message %d", i)
			}
			_, err = m.Compact(t.Context(), h, "")
			require.ErrorIs(t, err, winnow.ErrNothingToCompact, "only what stays is left")
			h = named(append(h, modelSays("Done."), userSays("And now?"), modelSays("Nothing.")))
			r = compact(t, m, h)
			assert.True(t, holds(r, &h[len(h)-1]) && holds(r, &h[len(h)-2]))
		})
	}
}

// A summary that is too long for a smaller window is written anew, once.
func TestManagerCompactsSummaryForSmallerWindow(t *testing.T) {
	h := factual(60, 400, 1_000)
	o := &winnow.Options{Estimator: byChars, Summarizer: appendOnly(12_000), Now: newClock().Now, Compact: &winnow.CompactOptions{KeepRecent: 500}}
	m := newManager(t, 100_000, o)
	compact(t, m, h)
	small := restarted(t, 8_000, o, snapshotOf(t, m))
	for range 2 { // with what is newer than KeepRecent, and then with all but the newest step
		compact(t, small, h)
	}
	_, err := small.Compact(t.Context(), h, "")
	require.ErrorIs(t, err, winnow.ErrNothingToCompact)
}

// What stands before the first summarized message is in the provider's cache. A summary behind it leaves it there,
// whoever writes the summary and whenever, and so does the next one.
func TestSummaryStandsBehindWhatLeads(t *testing.T) {
	rules := strings.Repeat("Answer in French. ", 300)
	fronts := []struct {
		name  string
		front []winnow.Message
		kept  int // of front
	}{
		{"a pin", list(pinned(userSays(rules))), 1},
		{"a pinned text of the host", list(pinned(hostSays(rules))), 1},
		{"a text of the host", list(hostSays(rules)), 1},
		{"system, instructions, a list", list(systemSays("You are careful."), pinned(userSays(rules)), hostSays("Skills: deploy, test.")), 3},
		{"a system message in between", list(hostSays("Skills: deploy, test."), systemSays("You are careful."), pinned(userSays(rules))), 3},
		{"a pinned call", list(pinned(userSays(rules)), pinned(modelCalls("plan")), toolSays("plan", "1. build")), 3},
		{"texts of the host that take most of the window", list(pinned(userSays("Be brief.")), hostSays(strings.Repeat(rules, 8))), 1},
		{"nothing", nil, 0},
	}
	type maker func(t *testing.T, m *winnow.Manager, h []winnow.Message) (*winnow.Request, error)
	byHand := func(t *testing.T, m *winnow.Manager, h []winnow.Message) (*winnow.Request, error) {
		return m.Compact(t.Context(), h, "")
	}
	whenDue := func(t *testing.T, m *winnow.Manager, h []winnow.Message) (*winnow.Request, error) {
		return m.Prepare(t.Context(), h)
	}
	afterRefusal := func(t *testing.T, m *winnow.Manager, h []winnow.Message) (*winnow.Request, error) {
		n := prepare(t, m, h).Tokens
		return m.Recover(t.Context(), h, fmt.Errorf("prompt is too long: %d tokens > %d maximum", n, n*4/5))
	}
	good := says("## Goal\nto go on")
	ways := []struct {
		name string
		size int // of each message in the beginning
		by   winnow.Summarizer
		make maker
	}{
		{"by hand", 2_500, good, byHand},
		{"by hand, a digest", 2_500, winnow.Digest(), byHand},
		{"when it is due", 12_000, good, whenDue},
		{"when it is due, the summarizer is down", 12_000, fails(errDown), whenDue},
		{"after a refusal", 6_000, good, afterRefusal},
	}
	for _, f := range fronts {
		for _, way := range ways {
			t.Run(f.name+", "+way.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := &winnow.Options{
						Estimator: byChars, Summarizer: way.by, Now: newClock().Now, FoldAbove: 1, NoMinify: true,
						Compact: &winnow.CompactOptions{KeepRecent: 2_000},
					}
					m := newManager(t, 40_000, o)
					h := slices.Clip(f.front)
					for range 2 { // the second summary takes the place of the first
						h = append(h, chat(12, 2_500)...)
						prepare(t, m, named(h))
						h = named(append(h, chat(12, way.size)...))
						r, err := way.make(t, m, h)
						require.NoError(t, err)
						require.NotNil(t, r.Compaction)
						assert.Equal(t, f.kept, r.FirstChanged)
						assert.Equal(t, f.kept, summaryAt(r.Messages))
						assert.Equal(t, f.kept, firstDifference(h, r.Messages))
						assert.GreaterOrEqual(t, r.Cached, estimateAll(byChars, h[:f.kept])/1_024*1_024, "less than that is not cached")
						m = newManager(t, 40_000, o)
						sameWire(t, r.Messages, prepare(t, m, r.Messages).Messages, "from what was sent")
					}
				})
			})
		}
	}
}

// A request that nearly fills the window is not refused for the few words that were said before it. A digest of a few
// words stands for them, and no model is asked for so little.
func TestShortHistoryBeforeALargeRequest(t *testing.T) {
	const budget = 3_600
	text := func(tokens int) string { return strings.Repeat("some ", tokens)[:4*tokens] }
	for _, tt := range []struct{ old, over int }{{60, 1}, {60, 15}, {100, 1}, {100, 50}, {200, 150}, {250, 200}} {
		s := says("## Goal\nto go on")
		o := &winnow.Options{Estimator: winnow.CharsPerToken(4), Reserve: 400, Summarizer: s}
		m := newManager(t, budget+400, o)
		h := named(list(userSays(text(tt.old/2)), modelSays(text(tt.old-tt.old/2)), userSays(text(budget-tt.old+tt.over))))
		assert.True(t, m.Plan(h).NeedsCompaction, "%+v", tt)
		r := prepare(t, m, h)
		requestCheck{estimator: o.Estimator}.check(t, h, r)
		assert.LessOrEqual(t, r.Tokens, budget, "%+v", tt)
		assert.True(t, r.Degraded != "" && r.Messages[0].Summary, "%+v", tt)
		assert.Equal(t, h[2], r.Messages[1], "%+v", tt)
		assert.Zero(t, s.count(), "%+v", tt)
	}
	m := newManager(t, budget+400, &winnow.Options{Estimator: winnow.CharsPerToken(4), Reserve: 400})
	_, err := m.Prepare(t.Context(), list(userSays(text(100)), modelSays(text(100)), userSays(text(budget+1))))
	checkOverflow(t, err, budget, 0)
}

// A summary that was written again in fewer words is not forgotten: the next one goes on from the longer one.
func TestSummaryBehindShortOne(t *testing.T) {
	const budget = 1_000
	text := func(tokens int) string { return strings.Repeat("some ", tokens)[:4*tokens] }
	s := says("## Goal\n" + text(50) + "\n\n## Notes\nThe deploy key lives with Marta.\n" + text(50))
	h := named(list(userSays("Look."), modelSays(text(400)), userSays(text(300)), modelSays(text(300)), userSays(text(200))))
	var m *winnow.Manager
	isShort := false
	for answer := 100; !isShort; answer += 10 { // up to the first answer that leaves no room for the whole summary
		m = newManager(t, budget+250, &winnow.Options{Estimator: winnow.CharsPerToken(4), Reserve: 250, Summarizer: s})
		compact(t, m, h)
		longer := named(append(slices.Clip(h), modelSays(text(answer))))
		r := prepare(t, m, longer)
		isShort = r.Degraded != "" && !strings.Contains(r.Messages[0].Parts[0].Text, "Marta")
		if isShort {
			h = longer
		}
	}
	n := s.count()
	prepare(t, m, named(append(h, userSays(text(100)), modelSays(text(200)))))
	require.Greater(t, s.count(), n)
	assert.Contains(t, s.calls[n].Previous, "Marta")
}

// A summarizer that reads the beginning of a turn also reads the request of that turn: once, cut if it is long, and in
// front of the work on it.
func TestSummarizerReadsTheOpenRequest(t *testing.T) {
	t.Parallel()
	const request = "Now translate the manual into Finnish."
	before := []winnow.Message{userSays("Fix the build."), modelSays(strings.Repeat("I fixed a part of it. ", 300))}
	for _, tt := range []struct {
		name   string
		before []winnow.Message
		asked  string
		steps  int
	}{
		{"a divided turn behind another", before, request, 300},
		{"a divided turn behind another, its beginning short", before, request, 42},
		{"one turn", nil, request, 300},
		{"a long request", nil, request + strings.Repeat(" The manual is long.", 300), 300},
	} {
		var read [][]winnow.Message
		s := winnow.SummarizerFunc(func(_ context.Context, r winnow.SummaryRequest) (string, error) {
			read = append(read, r.Messages)
			return "## Goal\nsome work", nil
		})
		m := newManager(t, 40_000, &winnow.Options{
			Summarizer: s, Estimator: byChars, Now: newClock().Now, FoldAbove: 1,
			Compact: &winnow.CompactOptions{KeepRecent: 2_000, Background: false},
		})
		h := append(append([]winnow.Message{}, tt.before...), userSays(tt.asked))
		for i := range tt.steps {
			h = append(h, callOf("call_"+itoa(i), "read", `{}`, strings.Repeat("page "+itoa(i)+" ", 40))...)
		}
		r := compact(t, m, h)
		found := 0
		for _, messages := range read {
			for i, message := range messages {
				if strings.HasPrefix(fullText(message), request) {
					found++
					require.Less(t, i+1, len(messages), tt.name)
					assert.Equal(t, winnow.RoleAssistant, messages[i+1].Role, "%s: what was done for it", tt.name)
					assert.LessOrEqual(t, len(fullText(message)), 3_000, tt.name)
				}
			}
		}
		assert.Equal(t, 1, found, tt.name)
		place := min(1, len(tt.before)) // behind the summary of what stood before it
		assert.Equal(t, tt.asked, fullText(r.Messages[place]), "%s: it stays a message", tt.name)
	}
}

// A summary that the host has at the end of its history is a message like others until something follows it: what is in
// front of it can make room. And what it says is in the next summary, also where the manager has made one before.
func TestSummaryOfTheHostAtTheEnd(t *testing.T) {
	text := func(tokens int) string { return strings.Repeat("some ", tokens)[:4*tokens] }
	s := says("## Goal\nto go on")
	m := newManager(t, 3_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Reserve: 10, Summarizer: s})
	ofHost := winnow.Message{Role: winnow.RoleUser, Summary: true, Parts: []winnow.Part{textPart("So far: Marta has the deploy key.")}}
	h := named(list(userSays(text(500)), modelSays(text(500)), userSays(text(1_500)), modelSays(text(900)), ofHost))
	r := prepare(t, m, h)
	require.NotNil(t, r.Compaction)
	assert.Equal(t, h[4], r.Messages[len(r.Messages)-1])

	h = named(append(h, userSays(text(200)), modelSays(text(500)), userSays(text(1_500))))
	n := s.count()
	require.NotNil(t, prepare(t, m, h).Compaction)
	require.Greater(t, s.count(), n)
	isRead := func(r winnow.SummaryRequest) bool { return strings.Contains(r.Prompt(), "Marta has the deploy key.") }
	assert.True(t, slices.ContainsFunc(s.calls[n:], isRead))
}
