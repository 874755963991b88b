package winnow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Compaction: a summary stands for old history, and nothing that matters is left to whoever writes it.

// chat is a conversation without tools: turns of about the given number of characters, no two alike.
func chat(turns, size int) []winnow.Message {
	var h []winnow.Message
	for i := range turns {
		from := i * 61 % 10_000
		h = append(h, userSays("mark"+itoa(100_000+2*i)+" question "+asciiText[from:][:size/2]), modelSays("mark"+itoa(100_001+2*i)+" answer "+asciiText[from+29:][:size/2]))
	}
	return named(h)
}

// marksOf returns the marks that chat and agentSession put into the texts.
func marksOf(m *winnow.Message) (marks []string) {
	for _, p := range m.Parts {
		if i := strings.Index(p.Text, "mark1"); i >= 0 {
			marks = append(marks, p.Text[i:i+10])
		}
	}
	return marks
}

// summaryAt returns the index of the first summary, or -1.
func summaryAt(messages []winnow.Message) int {
	return slices.IndexFunc(messages, func(m winnow.Message) bool { return m.Summary })
}

// summariesIn counts the summaries in messages.
func summariesIn(messages []winnow.Message) (n int) {
	for i := range messages {
		if messages[i].Summary {
			n++
		}
	}
	return n
}

// appendOnly is a summarizer that writes all that it was given before, and the given number of characters more.
func appendOnly(size int) *fakeSummarizer {
	return &fakeSummarizer{answer: func(n int, req winnow.SummaryRequest) (string, error) {
		text := req.Previous
		if text == "" {
			text = "## Goal\nkeep everything\n## Progress\n### Done"
		}
		text += "\n- fact " + itoa(n) + ": " + asciiText[n*53:][:size]
		if most := req.MaxTokens * 4; len(text) > most { // no longer than it may be
			text = text[:40] + text[len(text)-most+40:]
		}
		return text, nil
	}}
}

func TestManagerCompaction(t *testing.T) {
	h := chat(40, 2_000) // about 20 000 tokens
	s := says("## Goal\nwhat the user wants\n## Progress\n### Done\nsome steps")
	m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: s, Now: newClock().Now})
	before := deepCopy(h)

	plan := m.Plan(h)
	require.True(t, plan.NeedsCompaction)
	require.Greater(t, plan.Tokens, plan.Budget)
	require.Zero(t, s.count(), "a plan asks no summarizer")

	r := prepare(t, m, h)
	sameMessages(t, before, h, "the history was written to")
	require.NotNil(t, r.Compaction)
	assert.Equal(t, s.count(), r.SummaryCalls)
	assert.Equal(t, plan.Tokens, r.Compaction.TokensBefore)
	assert.Equal(t, r.Tokens, r.Compaction.TokensAfter)
	assert.LessOrEqual(t, r.Tokens, r.Budget*6/10, "it lands at 60 % of the budget")
	assert.Greater(t, estimateAll(byChars, r.Messages[1:]), 16_000/4-500, "the newest quarter of the window stays as it is, but for a message that is cut by its edge")
	assert.Empty(t, r.Degraded, "a summarizer wrote it")
	assert.Equal(t, 1, summariesIn(r.Messages))
	assert.True(t, r.Messages[0].Summary, "the summary stands for the beginning")
	assert.Contains(t, fullText(r.Messages[0]), r.Compaction.Summary, "as it stands in the request")
	assert.Contains(t, r.Compaction.Summary, "what the user wants")
	sameMessages(t, h[r.Compaction.FirstKept:], r.Messages[1:], "what is kept is as it was")
	sameMessages(t, r.Messages, r.History, "nothing was pruned: what is sent is what is kept")
	requestCheck{estimator: byChars}.check(t, h, r)
}

func TestManagerCompactOnRequest(t *testing.T) {
	h := chat(6, 2_000)
	s := says("## Goal\nshort")
	m := newManager(t, 200_000, &winnow.Options{Estimator: byChars, Summarizer: s, Compact: &winnow.CompactOptions{Off: true, KeepRecent: 1_000, Instructions: "Mind the tests."}})
	require.Nil(t, prepare(t, m, h).Compaction, "it fits")
	r, err := m.Compact(t.Context(), h, "Mind the branch.")
	require.NoError(t, err, "whatever the size, even where Off is set")
	require.NotNil(t, r.Compaction)
	assert.Zero(t, r.FirstChanged)
	assert.Less(t, r.Tokens, 2_500)
	assert.Contains(t, s.calls[0].Prompt(), "Mind the tests.", "the host's instructions are in every request")
	assert.Contains(t, s.calls[0].Prompt(), "Mind the branch.", "and so are those of this call")
	sameMessages(t, r.Messages, prepare(t, m, h).Messages, "the whole log gives the compacted request from now on")
}

// Kept + summarized + dropped with an edit = input: whatever happens over many compactions, each message is
// in the request, or was in a summarizer's prompt, or fell to the turn limit and an edit says so.
func TestManagerCompactionLosesNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		h    []winnow.Message
		o    winnow.Options
	}{
		{"chat", chat(150, 2_000), winnow.Options{}},
		{"agent", agentSession(120, 4_000), winnow.Options{}},
		{"turn limit", chat(150, 2_000), winnow.Options{HistoryTurns: 30}},
		{"small summarizer", agentSession(80, 4_000), winnow.Options{Compact: &winnow.CompactOptions{SummarizerWindow: 6_000}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			prompted, limited := map[string]bool{}, map[string]bool{}
			s := &fakeSummarizer{answer: func(n int, req winnow.SummaryRequest) (string, error) {
				for i := range req.Messages {
					for _, mark := range marksOf(&req.Messages[i]) {
						prompted[mark] = true
					}
				}
				return "## Goal\nsummary " + itoa(n), nil
			}}
			c := newClock()
			tt.o.Estimator, tt.o.Summarizer, tt.o.Now = byChars, s, c.Now
			m := newManager(t, 24_000, &tt.o)
			compactions := 0
			for n := 10; n <= len(tt.h); n += 10 {
				r := prepare(t, m, tt.h[:n])
				c.pass(time.Duration(n%3) * 3 * time.Minute)
				if r.Compaction != nil {
					compactions++
				}
				requireNothingLost(t, tt.h[:n], r, prompted, limited)
			}
			assert.Positive(t, compactions)
		})
	}
}

// requireNothingLost checks r, the request for h. prompted are the marks that a summarizer has seen, limited
// the messages that have fallen to the turn limit.
func requireNothingLost(t *testing.T, h []winnow.Message, r *winnow.Request, prompted, limited map[string]bool) {
	t.Helper()
	sent := map[string]bool{}
	for k := range r.Messages {
		sent[r.Messages[k].ID] = true
	}
	for _, e := range r.Edits {
		switch e.Op {
		case winnow.OpLimit:
			limited[e.ID] = true
		case winnow.OpFold: // a record stands for it, until a summarizer reads it
			sent[e.ID] = true
		}
	}
	for i := range h {
		for _, mark := range marksOf(&h[i]) {
			require.True(t, sent[h[i].ID] || limited[h[i].ID] || prompted[mark], "message %d of %d (%s) is neither sent nor was it summarized", i, len(h), mark)
		}
	}
}

// Files, failures and rules are what code owns: a summarizer that forgets everything loses none of them,
// over any number of compactions.
func TestManagerCompactionCarries(t *testing.T) {
	call := func(id, name, path string) winnow.Message {
		return modelSends(callWith(id, name, `{"path":"`+path+`"}`))
	}
	unmarked := toolSays("t3", "done")
	unmarked.Details = json.RawMessage(`{"exitCode":3}`)
	failure := toolSays("t2", "open missing.go: no such file")
	failure.IsError, failure.Details = true, json.RawMessage(`{"exitCode":2,"secret":"hidden"}`)
	h := list(userSays("Fix it. Never push to main."), call("t1", "read", "first.go"), toolSays("t1", "package first"), call("t2", "read", "missing.go"), failure,
		call("t3", "edit", "second.go"), unmarked, modelSends(callWith("t4", "paint", `{"canvas":"a.png"}`)), toolSays("t4", "done"), modelSays("I did."))
	m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: says("## Goal\nMend files.\n" + strings.Repeat("Some were mended. ", 60)), Now: newClock().Now,
		Tools:   &winnow.ToolOptions{Modify: []string{"paint"}, PathArguments: []string{"canvas"}},
		Compact: &winnow.CompactOptions{KeepRecent: 200, Rules: func() string { return "Ask first." }}})
	for round := range 12 {
		h = append(h, call("r"+itoa(round), "read", "later"+itoa(round)+".go"), toolSays("r"+itoa(round), "package later"), modelSays(numbered(120)), userSays("go on "+itoa(round)))
		r := compact(t, m, h)
		text := fullText(r.Messages[summaryAt(r.Messages)])
		for _, want := range []string{"<read-files>\n", "first.go\n", "<modified-files>\na.png\nsecond.go\n</modified-files>", "## Tool Failures\n- exec (exitCode=2): open missing.go: no such file", "Ask first.", "(1 lines):\nFix it. Never push to main.\n"} {
			require.Contains(t, text, want, "round %d", round)
			require.Equal(t, 1, strings.Count(text, want), "round %d: %s is there once", round, want)
		}
		if round > 1 {
			require.Contains(t, text, "later"+itoa(round-2)+".go", "round %d", round)
		}
		require.NotContains(t, text, "hidden", "of Details only the exit code is named")
		require.NotContains(t, text, "exitCode=3", "an exit code alone is no failure, as in OpenClaw")
	}
}

// A host's estimator may charge more for a message than a short summary has room for. The summary is one message: it
// says something of the conversation, or there is none.
func TestSummaryBesideACostlyFrame(t *testing.T) {
	t.Parallel()
	const charge = 40
	e := winnow.EstimatorFunc(func(m winnow.Message) int { return winnow.CharsPerToken(4).Estimate(m) + charge })
	for name, s := range map[string]winnow.Summarizer{
		"summary": answers("## Goal\nTo port the parser, and to keep the tests green."), "digest": winnow.Digest(),
	} {
		t.Run(name, func(t *testing.T) {
			for size := 3_500; size < 3_820; size += 5 { // of the newest request: it leaves the summary less and less
				m := newManager(t, 1_500, &winnow.Options{Estimator: e, Summarizer: s, Now: newClock().Now})
				h := append(list(userSays("Never deploy to host-1 before I confirm.")), chat(4, 600)...)
				r := prepare(t, m, append(h, userSays(asciiText[:size])))
				require.NotNil(t, r.Compaction, "%d characters", size)
				body, _, _ := strings.Cut(r.Compaction.Summary, "\n\n## User Rules")
				assert.NotEmpty(t, body, "%d characters: %q", size, r.Compaction.Summary)
			}
		})
	}
}

// Compaction that fails: nothing happens to the history or to the manager, whatever the reason.

var errDown = errors.New("the model is down")

// failures are summarizers that come to nothing, each in its own way. Which answers are no summary, internal/summarytext
// tests.
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
	{"blank", answers(" \n\t\n"), "white space is not a summary"},
	{"cut", func(context.Context, winnow.SummaryRequest) (string, error) {
		return "## Goal\nand then", fmt.Errorf("stopped at max_tokens: %w", winnow.ErrIncomplete)
	}, "an answer that was cut by its length lacks the end"},
	{"null", answers("null"), "a value of JSON"},
	{"refusal", answers("I'm sorry, but I can't help with that."), "a refusal is not a summary"},
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
	h := named(slices.Concat(chat(30, 2_000), inPlace(agentSession(6, 4_000)), chat(4, 2_000)))
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

// By hand nothing happens. Prepare gives a request that fits all the same, with a digest that says that it is one.
func TestManagerCompactFails(t *testing.T) {
	for _, tt := range failures {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer time.Sleep(5 * time.Hour) // until the deaf one has gone
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

				h = chat(40, 2_000)
				before = deepCopy(h)
				m = newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: tt.s})
				require.True(t, m.Plan(h).NeedsCompaction)
				r = prepare(t, m, h)
				sameMessages(t, before, h, "the history was written to")
				requestCheck{estimator: byChars}.check(t, h, r)
				assert.NotEmpty(t, r.Degraded, tt.reason)
				assert.Contains(t, r.Compaction.Summary, "mark1", "the digest is of the history")
				assert.NotEmpty(t, prepare(t, m, h).Degraded, "as long as the digest stands in")
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
	talk := chat(3_000, 500)
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

// A call that fails undoes what it did itself, and not what a call of the host has sent meanwhile.
func TestACallThatFailsLeavesAnotherOneAlone(t *testing.T) {
	full := errors.New("no space left on device")
	var m *winnow.Manager
	var h []winnow.Message
	fails, between := false, ""
	o := &winnow.Options{Estimator: byChars, Now: newClock().Now, Summarizer: says("## Goal\nfine so far"), Compact: &winnow.CompactOptions{
		KeepRecent: 500,
		BeforeCompact: func(context.Context, []winnow.Message) error {
			h = append(h, modelSays("Saved."), userSays("Go on."))
			prepare(t, m, h)
			between, fails = snapshotOf(t, m), true
			return nil
		},
	}, Journal: func([]byte) error {
		if fails {
			return full
		}
		return nil
	}}
	m = newManager(t, 100_000, o)
	h = chat(20, 1_000)
	prepare(t, m, h)
	before := snapshotOf(t, m)
	_, err := m.Compact(t.Context(), h, "")
	require.ErrorIs(t, err, full)
	require.NotEqual(t, before, between)
	// the summarizer's calls, which were made, and the number of a delta, which may be on the disk
	calls := regexp.MustCompile(`"run":\{[^}]*\},|"deltas":\d+,`)
	require.JSONEq(t, calls.ReplaceAllString(between, ""), calls.ReplaceAllString(snapshotOf(t, m), ""))
}

// A host asks aside, with the same text each time, and takes the question back. Where a summary stood in front of
// nothing but the question, what was said since then is new all the same.
func TestTheSameQuestionBehindWhatIsNew(t *testing.T) {
	m, err := winnow.New(4_000, &winnow.Options{
		Reserve: 500, Estimator: winnow.CharsPerToken(4), Compact: &winnow.CompactOptions{KeepRecent: 1},
		Summarizer: says("## Goal\nEach wish is granted: " + strings.Repeat("there is much to tell of it, ", 30)),
	})
	require.NoError(t, err)
	var h []winnow.Message
	for i := range 6 {
		wish := "Wish " + itoa(i) + strings.Repeat(", with much detail", 40)
		h = append(h, userSays(wish), modelSays(strings.Repeat("It is done. ", 200)))
	}
	withAside := func() []winnow.Message { return append(h[:len(h):len(h)], userSays("Status?")) }
	r, err := m.Prepare(context.Background(), withAside())
	require.NoError(t, err)
	r = recovered(t, m, withAside(), fmt.Errorf("prompt is too long: %d tokens > %d maximum", r.Tokens, r.Tokens*2/3))
	require.Len(t, r.Messages, 2, "the summary, which is shorter now, and the question")
	h = append(h, userSays("Deploy to staging-us."), modelSays("Deployed."))
	r, err = m.Prepare(context.Background(), withAside())
	require.NoError(t, err)
	assert.Contains(t, toldIn(r), "Deploy to staging-us.", sketch(r.Messages))
}
