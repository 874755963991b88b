package winnow_test

import (
	"encoding/json"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// What the manager once got wrong, each as small as it could be made.

// The summarizer is down for good and nothing but a compaction can make the request fit. The breaker must
// keep the summarizer from being asked, not the digest from standing in: a conversation never ends for it.
func TestManagerDeadSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := chat(150, 4_000)
		m := newManager(t, 32_000, &winnow.Options{Estimator: byChars, Summarizer: fails(errDown)})
		dead := 0
		for n := 1; n <= len(h); n += 2 {
			if _, err := m.Prepare(t.Context(), h[:n]); err != nil {
				if dead++; dead == 1 {
					t.Logf("turn %d: %v", n/2, err)
				}
			}
		}
		assert.Zero(t, dead, "turns of %d without a request, each of 1 000 tokens in a window of 32 000", len(h)/2)
	})
}

// Compact is no way around the budget: a request that is known not to fit is an *OverflowError.
func TestManagerCompactAboveBudget(t *testing.T) {
	h := list(pinned(userSays(strings.Repeat("word ", 6_000))), modelSays(strings.Repeat("text ", 800)), userSays("and?"), modelSays("x"), userSays("y"))
	m := newManager(t, 8_000, &winnow.Options{Estimator: byChars})
	_, err := m.Prepare(t.Context(), h)
	require.ErrorIs(t, err, winnow.ErrOverflow)
	r, err := m.Compact(t.Context(), h, "")
	if err == nil {
		require.LessOrEqual(t, r.Tokens, r.Budget, "above the budget, and no error")
	}
	require.ErrorIs(t, err, winnow.ErrOverflow)
}

// A summary has a tenth of the budget. Where that is too much and less would do, a shorter one must be asked for.
func TestManagerShorterSummaryFits(t *testing.T) {
	s := &fakeSummarizer{answer: func(_ int, req winnow.SummaryRequest) (string, error) {
		return ("## Goal\n" + asciiText)[:min(4*req.MaxTokens, 100_000)], nil
	}}
	for answer := 5_000; answer <= 5_500; answer += 100 {
		m := newManager(t, 8_000, &winnow.Options{Estimator: byChars, Summarizer: s})
		h := append(chat(10, 2_000), userSays("Write it."), modelSays(strings.Repeat("text ", answer*4/5)))
		_, err := m.Prepare(t.Context(), h)
		assert.NoError(t, err, "the newest answer has %d tokens of 6 000: %d are left for a summary", answer, 6_000-answer)
	}
}

// A checkpoint is of a history, not of a message that reads like its first kept one. Here the host began a
// new conversation, and all of it up to the last "continue" is gone.
func TestManagerReplacedConversation(t *testing.T) {
	m := newManager(t, 8_000, &winnow.Options{Estimator: byChars, Summarizer: says("## Goal\nthe old conversation"), Now: newClock().Now})
	var h []winnow.Message
	for i := range 12 {
		h = append(h, userSays("continue"), modelSays("old "+itoa(i)+strings.Repeat(" text", 500)))
	}
	require.NotNil(t, prepare(t, m, h).Compaction)
	fresh := list(userSays("New task: write a poem"), modelSays("roses"), userSays("continue"), modelSays("violets"), userSays("continue"))
	sameMessages(t, fresh, prepare(t, m, fresh).Messages, "a short conversation that fits")
}

// The turns that are kept are the same whether the host passes its log or what the last request returned,
// though its users say the same in each turn and repair has left messages out.
func TestManagerAlikeTurns(t *testing.T) {
	m := newManager(t, 100_000, &winnow.Options{HistoryTurns: 3, Now: newClock().Now})
	var h []winnow.Message
	for i := range 8 {
		h = append(h, toolSays("ghost"+itoa(i), "answers no call"), userSays("continue"), modelSays("ok"))
	}
	r := prepare(t, m, h)
	require.Len(t, r.Messages, 6, "three turns")
	sameWire(t, r.Messages, prepare(t, m, r.History).Messages, "Prepare of Request.History")
}

// envFile is the result of a command that prints a secret, as a host reads it from its log. The beginning,
// the middle and the end are the same for all secrets of one length.
//
//go:noinline
func envFile(secret string) []winnow.Message {
	var b strings.Builder
	b.Grow(40_000)
	b.WriteString("$ cat .env  ")
	for range 1_000 {
		b.WriteString("KEY=" + secret + "\n")
	}
	b.WriteString("middle of the text")
	for range 1_000 {
		b.WriteString("KEY=" + secret + "\n")
	}
	b.WriteString("exit status 0")
	return list(userSays("show"), modelCalls("a"), toolSays("a", b.String()))
}

func textAddress(h []winnow.Message) *byte { return unsafe.StringData(h[2].Parts[0].Text) }

// sendSecret prepares a history and forgets it. It returns where the text of its result lay.
//
//go:noinline
func sendSecret(t *testing.T, m *winnow.Manager) (uintptr, weak.Pointer[byte]) {
	h := envFile("hunter2hunter2")
	prepare(t, m, h)
	return uintptr(unsafe.Pointer(textAddress(h))), weak.Make(textAddress(h))
}

// A message is not known by where it lies in memory: memory is used again. A host that reads its log anew for
// each request has redacted a secret meanwhile, and the manager sends the excerpt of the old text.
func TestManagerReusedMemory(t *testing.T) {
	reused := 0
	for try := 0; try < 150 && reused < 2; try++ { // whether memory is used again is up to the runtime
		m := newManager(t, 8_000, &winnow.Options{Now: newClock().Now})
		at, old := sendSecret(t, m)
		for runtime.GC(); old.Value() != nil; runtime.GC() {
		}
		var held [][]winnow.Message
		for range 30 {
			h := envFile("[redacted-14c]")
			held = append(held, h)
			if uintptr(unsafe.Pointer(textAddress(h))) == at {
				reused++
				require.False(t, strings.Contains(fullText(prepare(t, m, h).Messages[2]), "hunter2"), "try %d: the secret is not in the history any more", try)
				break
			}
		}
		runtime.KeepAlive(held)
	}
	t.Logf("memory was used again %d times", reused)
}

// Messages may share the history's memory. Who appends to them writes to neither.
func TestManagerRequestsAreClipped(t *testing.T) {
	log := append(make([]winnow.Message, 0, 16), systemSays("be kind"), userSays("hello"), modelSays("hi"), userSays("how?"))
	before := deepCopy(log[:8])
	m := newManager(t, 100_000, nil)
	r := prepare(t, m, log)
	_ = append(r.Messages, userSays("[cached]"))
	_ = append(r.History, userSays("[cached]"))
	sameMessages(t, before, log[:8], "appending to a request wrote to the history")
}

// An edit of a message that the library made must not say that message 0 of the history is gone.
func TestManagerEditsOfMadeMessages(t *testing.T) {
	m := newManager(t, 100_000, &winnow.Options{HistoryTurns: 1})
	h := named(list(systemSays("be kind"), userSays("a"), modelCalls("x"), userSays("b"), modelSays("c"), userSays("d")))
	r := prepare(t, m, h)
	require.Equal(t, " s u", sketch(r.Messages))
	for _, e := range r.Edits {
		assert.False(t, e.Index == 0 && e.After == 0, "the system message is there: %+v", e)
	}
}

// What the turn limit dropped was never summarized, and edits must not say so.
func TestManagerLimitedIsNotSummarized(t *testing.T) {
	s := says("## Goal\nshort")
	m := newManager(t, 100_000, &winnow.Options{Estimator: byChars, Summarizer: s, HistoryTurns: 4, Compact: &winnow.CompactOptions{KeepRecent: 100}})
	h := chat(10, 2_000)
	prepare(t, m, h)
	r, err := m.Compact(t.Context(), h, "")
	require.NoError(t, err)
	prompts := ""
	for _, req := range s.calls {
		prompts += req.Prompt()
	}
	var wrong []int
	for _, e := range r.Edits {
		if e.Op == winnow.OpCompact && !strings.Contains(prompts, marksOf(&h[e.Index])[0]) {
			wrong = append(wrong, e.Index)
		}
	}
	assert.Empty(t, wrong, "messages that no summarizer has seen and that are said to be summarized")
}

// A pin survives every stage, a summary that the host wrote itself and pinned too.
func TestManagerPinnedSummary(t *testing.T) {
	m := newManager(t, 8_000, &winnow.Options{Estimator: byChars})
	pin := pinned(summarySays("Before this the user has agreed to the plan."))
	r := prepare(t, m, append(list(pin), chat(30, 2_000)...))
	require.NotNil(t, r.Compaction)
	assert.Equal(t, 1, countOf(&pin, r.Messages))
}

// Absurd counts of a host are cut like any other: the total must not wrap or go below the truth.
func TestManagerAbsurdCounts(t *testing.T) {
	h := list(userSays("list"), modelCalls("a", "b"), toolSays("a", numbered(400)), toolSays("b", numbered(400)), modelSays("done"), userSays("and?"))
	for _, i := range []int{2, 3} {
		h[i].Parts[0].Tokens = math.MaxInt
	}
	m := newManager(t, 16_000, &winnow.Options{})
	e, err := winnow.NewEstimator("")
	require.NoError(t, err)
	r := prepare(t, m, h)
	assert.Equal(t, estimateAll(e, r.Messages), r.Tokens)
}

// A count that the host learns later is not sent: the prefix is the same, and edits stay.
func TestManagerCountsThatComeLater(t *testing.T) {
	m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Now: newClock().Now})
	h := list(userSays("list"), modelCalls("a"), toolSays("a", numbered(400)), modelSays("done"), userSays("and?"))
	first := prepare(t, m, h)
	require.NotEmpty(t, first.Edits)
	h = slices.Clone(h)
	h[0].Parts = []winnow.Part{{Text: "list", Tokens: 1}}
	assert.Equal(t, len(h), prepare(t, m, h).FirstChanged)
}

// A negative number means 0: no attempt after the first.
func TestManagerNegativeAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := func(attempts int) int {
			s := fails(errDown)
			m := newManager(t, 16_000, &winnow.Options{Summarizer: s, Compact: &winnow.CompactOptions{Attempts: attempts}})
			_, err := m.Compact(t.Context(), chat(20, 2_000), "")
			require.ErrorIs(t, err, winnow.ErrCompaction)
			return s.count()
		}
		assert.LessOrEqual(t, calls(-1), calls(1))
	})
}

// What a host can pass can be saved: arguments in a result are carried, whatever they are.
func TestManagerSnapshotOfOddParts(t *testing.T) {
	h := list(userSays("list"), modelCalls("a"), toolSays("a", numbered(400)))
	h[2].Parts = append(h[2].Parts, winnow.Part{Kind: winnow.KindOpaque, MediaType: "application/pdf", Arguments: json.RawMessage(`{"cut":`)})
	m := newManager(t, 16_000, nil)
	require.NotEmpty(t, prepare(t, m, h).Edits)
	_, err := m.Snapshot()
	assert.NoError(t, err)
}

// Prepare does what Plan says. Here the new message brings the request above the share of the window from which
// old results are trimmed, and the cache is cold: the short way looks at the size without the new message.
func TestManagerShortWayDoesNotPrune(t *testing.T) {
	c := newClock()
	m := newManager(t, 100_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: c.Now})
	h := append(agentSession(8, 6_000), userSays(strings.Repeat("word ", 8_000)), modelSays("well"))
	prepare(t, m, h[:len(h)-2]) // 27 000 tokens: below 30 %
	c.pass(time.Hour)
	plan := m.Plan(h)
	require.NotEmpty(t, plan.Edits, "37 000 tokens: above 30 %")
	assert.Equal(t, plan.Edits, prepare(t, m, h).Edits)
}

// The parts of an overflow are counted as the whole is: as the provider bills, once it has billed.
func TestManagerOverflowPartsAreNotBilled(t *testing.T) {
	m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Now: newClock().Now})
	var h []winnow.Message
	for i := range 5 { // each answer says that the estimates are a third too high
		h = append(h, userSays(strings.Repeat("word ", 1_600)))
		prepare(t, m, h)
		answer := modelSays("answer " + itoa(i))
		answer.Usage = &winnow.Usage{Input: estimateAll(byChars, h) * 2 / 3}
		h = append(h, answer)
	}
	_, err := m.Prepare(t.Context(), append(h, userSays(strings.Repeat("word ", 40_000))))
	var e *winnow.OverflowError
	require.ErrorAs(t, err, &e)
	assert.LessOrEqual(t, e.Overhead+e.Pinned+e.Summary+e.Protected, e.Tokens, "%+v", *e)
}
