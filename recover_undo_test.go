package winnow_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// What a refusal leaves behind: what was told is kept, what was guessed proves itself, and a run that came to nothing
// leaves nothing.

// errMiniMax is what MiniMax says of requests that are too long, and of some with another fault.
var errMiniMax = errors.New("invalid params, context window exceeds limit (2013)")

// talk is a conversation of a person and a model whose messages have about the given number of tokens by byChars.
func talk(messages, tokens int) []winnow.Message {
	h := make([]winnow.Message, messages)
	for i := range h {
		say := []func(string) winnow.Message{userSays, modelSays}[i%2]
		h[i] = say("Message " + itoa(i) + ". " + numbered(tokens)[:4*tokens])
	}
	return h
}

// A limit that is there is found, by whatever the provider says of it, and the conversation goes on.
func TestHiddenLimitIsFound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		window, limit int
	}{{60_000, 30_000}, {60_000, 44_000}, {60_000, 20_000}, {200_000, 100_000}, {200_000, 60_000}, {20_000, 9_000}} {
		s := says("## Goal\nTalk.\n\n## Progress\nMuch was said.")
		m := newManager(t, tt.window, &winnow.Options{Summarizer: s, Estimator: byChars, Now: newClock().Now})
		refused, asked := 0, 0
		call := func(_ context.Context, messages []winnow.Message) (int, error) {
			if estimateAll(byChars, messages) > tt.limit {
				if refused++; asked < 0 {
					asked = s.count()
				}
				return 0, errNoNumbers
			}
			return 1, nil
		}
		var h []winnow.Message
		most, requests, late := 0, 0, 0
		for i := range 200 {
			h = append(h, userSays("Question "+itoa(i)+numbered(200)[:4*tt.window/100]))
			before := refused
			asked = -1
			_, r, err := winnow.Do(t.Context(), m, h, call)
			require.NoError(t, err, "%+v, request %d", tt, i)
			require.LessOrEqual(t, r.Tokens, tt.limit)
			if asked >= 0 {
				require.LessOrEqual(t, s.count()-asked, 2, "%+v, request %d", tt, i)
			}
			most = max(most, refused-before)
			if requests++; i >= 100 {
				late += refused - before
			}
			h = append(h, modelSays("Answer "+itoa(i)+numbered(200)[:4*tt.window/100]))
		}
		assert.LessOrEqual(t, most, 3, "%+v", tt)
		assert.Positive(t, refused)
		assert.LessOrEqual(t, refused, 6, "%+v", tt)
		assert.LessOrEqual(t, late, 2, "%+v: what was learned is used", tt)
	}
}

// What is guessed near the window is raised as requests near it are taken, and is forgotten in time.
func TestGuessIsRaisedAndForgotten(t *testing.T) {
	s := says("## Goal\nTalk.\n\n## Progress\nMuch was said.")
	o := &winnow.Options{Summarizer: s, Estimator: byChars, Now: newClock().Now}
	m := newManager(t, 60_000, o)
	h := talk(85, 500)
	full := prepare(t, m, h).Budget
	recovered(t, m, h, errMiniMax)
	budgets := []int{}
	for i := range 600 {
		h = append(h, modelSays("Answer "+itoa(i)+numbered(200)[:4_000]), userSays("Go on "+itoa(i)))
		if i%100 == 50 {
			m = restarted(t, 60_000, o, snapshotOf(t, m))
		}
		budgets = append(budgets, prepare(t, m, h).Budget)
	}
	assert.Less(t, budgets[0], full*8/10, "it counts")
	assert.Greater(t, budgets[60], full*85/100, "it is raised")
	assert.Equal(t, full, budgets[599], "it is forgotten")
}

// A provider refuses everything for a minute. What was made in that minute is gone when the minute is.
func TestGivingUpUndoesItself(t *testing.T) {
	for name, cause := range map[string]error{"tokens": errMiniMax, "bytes": errors.New("413 request entity too large")} {
		for _, down := range []bool{false, true} {
			s := says("## Goal\nTalk.\n\n## Progress\nMuch was said.")
			if down {
				s = fails(errors.New("503 service unavailable"))
			}
			m := newManager(t, 60_000, &winnow.Options{Summarizer: s, Estimator: byChars, Now: newClock().Now})
			h := append(agentSession(20, 4_000), userSays("And now the last one."))
			first := prepare(t, m, h)
			calls := 0
			_, _, err := winnow.Do(t.Context(), m, h, func(context.Context, []winnow.Message) (int, error) { calls++; return 0, cause })
			require.ErrorIs(t, err, winnow.ErrOverflow, name)
			assert.LessOrEqual(t, calls, 4, "%s: three retries", name)
			assert.LessOrEqual(t, s.count(), 2, "%s: calls of the summarizer", name)
			again := prepare(t, m, h)
			sameMessages(t, first.Messages, again.Messages, name)
			assert.Equal(t, first.Budget, again.Budget, name)
			assert.Empty(t, again.Degraded, name)
		}
	}
}

// A request of Recover that nobody answered was not taken: the host went on without it.
func TestUnansweredRecoveryIsUndone(t *testing.T) {
	o := &winnow.Options{Estimator: byChars, Now: newClock().Now}
	for _, restored := range []bool{false, true} {
		m := newManager(t, 60_000, o)
		h := talk(85, 500)
		full := prepare(t, m, h)
		r := recovered(t, m, h, errMiniMax)
		require.Less(t, r.Tokens, full.Tokens)
		if restored {
			m = restarted(t, 60_000, o, snapshotOf(t, m))
		}
		same := prepare(t, m, h)
		assert.Less(t, same.Tokens, full.Tokens*8/10, "the same history: the run is still open")
		before := snapshotOf(t, m)
		h = append(h, userSays("Hello? Are you there?"))
		plan := m.Plan(h)
		assert.Equal(t, before, snapshotOf(t, m), "Plan changes nothing")
		next := prepare(t, m, h)
		assert.Equal(t, full.Budget, next.Budget)
		assert.Greater(t, next.Tokens, full.Tokens)
		assert.Empty(t, next.Degraded)
		sameMessages(t, plan.Messages, next.Messages, "Plan and Prepare")
	}
}

// A host puts a message with the time behind each request, or the time into its newest message, and drops it later. The
// answer still shows that the provider accepted the request.
func TestAnswerBehindATextThatIsNotKeptEndsARun(t *testing.T) {
	o := &winnow.Options{Estimator: byChars, Now: newClock().Now}
	for name, withTime := range addsTime {
		for _, restored := range []bool{false, true} {
			m := newManager(t, 60_000, o)
			h := talk(85, 500)
			at := func(hour int) []winnow.Message { return withTime(h, "It is "+itoa(hour)+" o'clock.") }
			full := prepare(t, m, at(9))
			r := recovered(t, m, at(9), errMiniMax)
			require.Less(t, r.Tokens, full.Tokens*8/10)
			if restored {
				m = restarted(t, 60_000, o, snapshotOf(t, m))
			}
			h = append(h, modelSays("Hello."), userSays("Go on."))
			next := prepare(t, m, at(10))
			assert.Less(t, next.Tokens, full.Tokens*8/10, "%s, restored %v: what the provider took is not undone", name, restored)
			assert.Equal(t, len(r.Messages)-1, next.FirstChanged, "%s, restored %v", name, restored)
		}
	}
}

// Two fresh results are too large for the window that the provider tells of, and are cut to what one result may have of
// that. No summary is needed.
func TestResultsAreMeasuredOnWhatWasLearned(t *testing.T) {
	s := says("## Goal\nRead.")
	m := newManager(t, 100_000, &winnow.Options{Summarizer: s, Estimator: byChars, Now: newClock().Now, NoMinify: true})
	large := strings.Repeat("a line of the log with an error in it\n", 2_948)
	h := list(userSays("Read both files."), modelCalls("a"), toolSays("a", "a"+large), modelCalls("b"), toolSays("b", "b"+large))
	prepare(t, m, h[:3])
	r := prepare(t, m, h)
	require.InDelta(t, 56_000, r.Tokens, 600)
	r = recovered(t, m, h, errors.New("prompt is too long: 56397 tokens > 50000 maximum"))
	assert.Nil(t, r.Compaction)
	assert.Zero(t, s.count())
	assert.LessOrEqual(t, r.Tokens, 37_500)
	for _, m := range []winnow.Message{r.Messages[2], r.Messages[4]} {
		assert.InDelta(t, 15_000, byChars(m), 1_500, "30 % of 50 000")
	}
}

// A digest that stands in is replaced as soon as a summarizer works, and not after another whole window.
func TestDigestIsReplacedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a call that failed is made again after a pause
		for _, idle := range []bool{false, true} {
			down := true
			s := &fakeSummarizer{answer: func(int, winnow.SummaryRequest) (string, error) {
				if down {
					return "", errors.New("503 service unavailable")
				}
				return "## Goal\nTalk.\n\n## Progress\nMuch was said.", nil
			}}
			c := newClock()
			o := &winnow.Options{Summarizer: s, Estimator: byChars, Now: c.Now, Compact: &winnow.CompactOptions{SummarizerWindow: 100_000}}
			m := newManager(t, 60_000, o)
			h := talk(1, 500)
			r := prepare(t, m, h)
			for i := 0; r.Degraded == ""; i++ {
				h = append(h, modelSays("Answer "+itoa(i)+numbered(200)[:2_000]), userSays("Go on "+itoa(i)))
				r = prepare(t, m, h)
				require.Less(t, i, 500)
			}
			down = false
			calls := s.count()
			if idle {
				c.pass(1 << 40)
			}
			added := 0
			for i := 0; r.Degraded != ""; i++ {
				answer := modelSays("Later " + itoa(i) + numbered(200)[:2_000])
				added += byChars(answer)
				h = append(h, answer, userSays("Further "+itoa(i)))
				plan := m.Plan(h)
				r = prepare(t, m, h)
				require.Equal(t, r.Compaction != nil, plan.NeedsCompaction)
				require.Less(t, added, r.Budget/8, "idle %v: a tenth of the budget", idle)
			}
			assert.Equal(t, idle, added < 600)
			assert.Equal(t, calls+1, s.count())
			assert.Contains(t, fullText(r.Messages[0]), "Much was said")
		}
	})
}

// Plan says what Prepare does after refusals too, while a run is open and when it has ended.
func TestPlanAfterRefusals(t *testing.T) {
	for tokens := 20; tokens < 700; tokens += 40 {
		for messages := 1; messages < 9; messages += 2 {
			m := newManager(t, 3_000, &winnow.Options{Estimator: byChars, Now: newClock().Now})
			h := talk(messages, tokens)
			compare := func(h []winnow.Message) {
				plan := m.Plan(h)
				if r, err := m.Prepare(t.Context(), h); err == nil && !plan.NeedsCompaction {
					require.Equal(t, r.Budget, plan.Budget, "%d messages of %d", messages, tokens)
					sameMessages(t, plan.Messages, r.Messages, "Plan")
				}
			}
			_, err := m.Prepare(t.Context(), h)
			for err == nil {
				if _, err = m.Recover(t.Context(), h, errMiniMax); tokens%80 == 20 {
					compare(h)
				}
			}
			compare(h)
			h = append(h, modelSays("Yes."), userSays(numbered(30)))
			compare(h)
		}
	}
}

// A summarizer that answers, but never with a summary, is billed for each answer. It is asked ever less often, also
// after a restart and with a cold cache. One that cannot be reached costs nothing, and is asked as often as before.
func TestRefusingSummarizer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // a call that failed is made again after a pause
		const window = 20_000
		calls := func(s *fakeSummarizer) (all []int) {
			clock := newClock()
			o := &winnow.Options{Summarizer: s, Estimator: byChars, Now: clock.Now, Tools: keepAll}
			m := newManager(t, window, o)
			log := chat(600, 1_000)
			for n := 2; n < len(log); n += 2 {
				before := s.count()
				prepare(t, m, log[:n])
				if s.count() > before {
					all = append(all, n)
				}
				if clock.pass(time.Minute); n%100 == 0 {
					m = restarted(t, window, o, snapshotOf(t, m))
					clock.pass(time.Hour)
				}
			}
			return all
		}
		refusing, down := calls(says("I'm sorry, but I can't help with that.")), calls(fails(errDown))
		t.Log(refusing, down)
		require.Greater(t, len(refusing), 4)
		assert.Greater(t, len(down), 2*len(refusing))
		last := len(refusing) - 1
		assert.Greater(t, refusing[last]-refusing[last-1], 60, "messages between the last two calls")
		assert.LessOrEqual(t, refusing[last]-refusing[last-1], 260, "it is never given up")
	})
}

// A limit that a provider told is for the window that the host had then. In another window, which may be another
// model's, it is forgotten; in the same it holds.
func TestRestoredInAnotherWindow(t *testing.T) {
	t.Parallel()
	h := chat(20, 400)
	o := &winnow.Options{Estimator: byChars}
	m := newManager(t, 8_000, o)
	prepare(t, m, h)
	recovered(t, m, h, errors.New("prompt is too long, the limit is 2000 tokens"))
	state := snapshotOf(t, m)
	for window, want := range map[int]int{8_000: 1_500, 200_000: 180_000} {
		restored := restarted(t, window, o, state)
		assert.InDelta(t, want, restored.Plan(h).Budget, float64(want)/10, "window %d", window)
	}
}

// A restart may bring a summarizer that works. It is asked after little growth, once: a host that restarts for each
// request would otherwise pay for refused answers as if none had been refused before.
func TestRefusingSummarizerMendedByARestart(t *testing.T) {
	t.Parallel()
	const window = 20_000
	options := func(s winnow.Summarizer) *winnow.Options {
		return &winnow.Options{Summarizer: s, Estimator: byChars, Now: newClock().Now, Tools: keepAll}
	}
	const refusal = "I'm sorry, but I can't help with that."
	refusing := says(refusal)
	m := newManager(t, window, options(refusing))
	log := chat(600, 1_000)
	for n := 2; n <= 300; n += 2 {
		prepare(t, m, log[:n])
	}
	state, before := snapshotOf(t, m), refusing.count()
	for _, tt := range []struct {
		reason     string
		perProcess int // requests of one process
		want       int // calls for 30 more messages
	}{
		{"a process that lives on", 15, 1},
		{"a process for each request", 1, 0},
	} {
		state := state
		asked := says(refusal)
		for n := 302; n <= 330; n += 2 * tt.perProcess {
			restored := restarted(t, window, options(asked), state)
			for k := n; k < n+2*tt.perProcess; k += 2 {
				prepare(t, restored, log[:k])
			}
			state = snapshotOf(t, restored)
		}
		assert.Equal(t, tt.want, asked.count(), tt.reason)
	}
	for n := 302; n <= 330; n += 2 {
		prepare(t, m, log[:n])
	}
	assert.Equal(t, before, refusing.count(), "one that was never restarted")
}
