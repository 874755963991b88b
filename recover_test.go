package winnow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

var errNoNumbers = errors.New("input is too long for requested model")

// longSession has results of several sizes, of which much can be shrunk.
func longSession() []winnow.Message {
	h := list(systemSays("You are careful."))
	for i := range 30 {
		id := "call_" + itoa(i)
		h = append(h, userSays("Step "+itoa(i)+": look into it."), modelCalls(id), toolSays(id, numbered(40+i)), modelSays("Done with "+itoa(i)+"."))
	}
	return append(h, userSays("And now the last one."))
}

func withImage(m winnow.Message, size int) winnow.Message {
	return withParts(m, winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Bytes: size})
}

func imagesOf(messages []winnow.Message) (n, bytes int) {
	for i := range messages {
		for _, p := range messages[i].Parts {
			if p.Kind == winnow.KindImage {
				n, bytes = n+1, bytes+p.Bytes
			}
		}
	}
	return n, bytes
}

// Where compaction is off, Recover cuts and clears, and at the end says what fills the window. No digest stands in.
func TestRecoverCompactsNothingWhereCompactionIsOff(t *testing.T) {
	for _, tt := range []struct {
		h    []winnow.Message
		cuts bool
	}{{talk(121, 500), false}, {longSession(), true}} { // results can be cut, words cannot
		s := says("## Goal\nto go on")
		m := newManager(t, 100_000, &winnow.Options{Summarizer: s, Compact: &winnow.CompactOptions{
			Off: true, Background: true, BeforeCompact: func(context.Context, []winnow.Message) error { return errors.New("called") },
		}})
		prepare(t, m, tt.h)
		recovered := 0
		r, err := m.Recover(t.Context(), tt.h, errNoNumbers)
		for ; err == nil; r, err = m.Recover(t.Context(), tt.h, errNoNumbers) {
			recovered++
			require.Nil(t, r.Compaction)
			require.Equal(t, -1, summaryAt(r.Messages))
		}
		overflowOf(t, err)
		assert.Zero(t, s.count())
		assert.Equal(t, tt.cuts, recovered > 0)
		require.NotNil(t, compact(t, m, tt.h).Compaction)
		m.Close()
	}
}

func TestFailedCompactionIsNotTheEnd(t *testing.T) {
	h := talk(121, 500)
	m := newManager(t, 100_000, &winnow.Options{Summarizer: fails(errDown)})
	prepare(t, m, h)
	assert.NotEmpty(t, recovered(t, m, h, errNoNumbers).Degraded, "the digest stands in")
}

func TestRecoverBytes(t *testing.T) {
	h := album(8, 1<<20)
	h[len(h)-1] = withImage(userSays("And this one?"), 1<<20)
	m := newManager(t, 1_000_000, nil)
	first := prepare(t, m, h)
	r := recovered(t, m, h, errors.New("413 request_too_large: Request exceeds the maximum size"))
	n, size := imagesOf(r.Messages)
	assert.Less(t, size, 9<<20*7/10+1)
	assert.Nil(t, r.Compaction, "tokens are not the matter")
	assert.Equal(t, first.Budget, r.Budget, "and neither is the window")
	assert.Equal(t, h[len(h)-1].Parts, r.Messages[len(r.Messages)-1].Parts, "the newest request stays whole")
	assert.Contains(t, fullText(r.Messages[0]), "Image left out", "the oldest goes first")
	again, _ := imagesOf(prepare(t, m, append(h, modelSays("Yes."), userSays("Thanks."))).Messages)
	assert.Equal(t, n, again, "what was left out stays out")
}

func TestMaxBytes(t *testing.T) {
	h := list(withImage(userSays("old"), 5_000), modelCalls("a"), toolSays("a", strings.Repeat("line\n", 2_000)), withImage(userSays("new"), 5_000))
	for _, c := range []struct {
		most, images int
		cleared      bool
		fails        bool
	}{
		{most: 0, images: 2},
		{most: 50_000, images: 2},
		{most: 18_500, images: 1},
		{most: 9_000, images: 1, cleared: true},
		{most: 4_000, fails: true},
	} {
		m := newManager(t, 200_000, &winnow.Options{MaxBytes: c.most})
		r, err := m.Prepare(t.Context(), h)
		if c.fails {
			full := overflowOf(t, err)
			assert.Greater(t, full.Bytes, full.MaxBytes)
			assert.Contains(t, err.Error(), "images")
			continue
		}
		require.NoError(t, err)
		n, _ := imagesOf(r.Messages)
		assert.Equal(t, c.images, n, "%d bytes", c.most)
		assert.Equal(t, c.cleared, !strings.Contains(fullText(r.Messages[2]), "line"), "%d bytes", c.most)
	}
}

// A request without messages is one that was made: there is nothing smaller to send.
func TestRecoverOfNothing(t *testing.T) {
	m := newManager(t, 20_000, nil)
	for _, cause := range []error{errNoNumbers, errors.New("413 Request Entity Too Large")} {
		_, err := m.Prepare(t.Context(), nil)
		require.NoError(t, err)
		_, err = m.Recover(t.Context(), nil, cause)
		require.ErrorIs(t, err, winnow.ErrNothingToSend, "no request is returned twice")
	}
}

// A host may ask Prepare only after a refusal. What was refused is then its whole history, and not what Prepare would
// have made of it.
func TestRecoverAsTheFirstCall(t *testing.T) {
	h := longSession()
	for i := range 40 {
		h = append(h, callOf("more_"+itoa(i), "exec", `{}`, numbered(150))...)
	}
	size := estimateAll(winnow.CharsPerToken(4), h)
	window := size / 2
	o := &winnow.Options{Estimator: winnow.CharsPerToken(4), HistoryTurns: 1}
	for _, tt := range []struct {
		name  string
		cause error
	}{
		{"no numbers", errNoNumbers},
		{"numbers", fmt.Errorf("prompt is too long: %d tokens > %d maximum", size+10, window)},
		{"bytes", errors.New("413 Request Entity Too Large")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newManager(t, window, o)
			want := m.Plan(h)
			require.Less(t, want.Tokens, window/2, "the draft is far smaller than the history")
			r := recovered(t, m, h, tt.cause)
			assert.Equal(t, want.Budget, r.Budget, "the refusal says nothing about a request within the window")
			assert.Equal(t, want.Tokens, r.Tokens)
		})
	}
}

// An *OverflowError is the end of a ladder: this manager's, or that of another that the call was about.
func TestRecoverLeavesOverflowErrors(t *testing.T) {
	inner := newManager(t, 2_000, nil)
	_, ended := inner.Prepare(t.Context(), list(userSays(numbered(2_000))))
	full := overflowOf(t, ended)
	full.Err = errors.New("prompt is too long: 9000 tokens > 2000 maximum")

	m := newManager(t, 20_000, nil)
	h := longSession()
	calls := 0
	_, _, err := winnow.Do(t.Context(), m, h, func(context.Context, []winnow.Message) (int, error) { calls++; return 0, ended })
	assert.True(t, err == ended, "as it is")
	assert.Equal(t, 1, calls)
	before := snapshotOf(t, m)
	_, err = m.Recover(t.Context(), h, fmt.Errorf("sub-agent: %w", ended))
	require.ErrorIs(t, err, ended)
	after := snapshotOf(t, m)
	assert.Equal(t, before, after, "nothing is learned from it")
}

// Anthropic names the rate and not the size of the request. One that is larger than the rate is never taken.
func TestRequestsAboveARateAreMadeSmaller(t *testing.T) {
	limited := errors.New("429 rate_limit_error: This request would exceed your organization's rate limit of 10,000 input tokens per minute. Please try again later.")
	m := newManager(t, 40_000, &winnow.Options{Tools: keepAll, NoMinify: true})
	var sizes []int
	call := func(_ context.Context, messages []winnow.Message) (int, error) {
		n := estimateAll(winnow.CharsPerToken(4), messages)
		sizes = append(sizes, n)
		return n, limited
	}
	_, r, err := winnow.Do(t.Context(), m, longSession(), call)
	assert.True(t, err == limited, "then it is a matter of time: %v", err)
	require.Equal(t, 2, len(sizes))
	assert.Greater(t, sizes[0], 10_000)
	assert.Less(t, sizes[1], 10_000)
	assert.LessOrEqual(t, r.Tokens, 10_000)
	_, _, err = winnow.Do(t.Context(), m, longSession(), call)
	assert.True(t, err == limited)
	assert.Equal(t, 3, len(sizes), "the limit is known")
}

// A request within the limit that was told is tried before nothing is, though it leaves little for the answer.
func TestRecoverUsesAllThatIsAllowed(t *testing.T) {
	h := list(userSays(numbered(40)), modelSays("Yes."), userSays(numbered(700)))
	m := newManager(t, 20_000, nil)
	first := prepare(t, m, h)
	told := first.Tokens - 50 // the newest request alone is less, and more than three quarters of it
	cause := fmt.Errorf("prompt is too long: %d tokens > %d maximum", first.Tokens, told)
	r := recovered(t, m, h, cause)
	assert.Equal(t, "smallest", r.Rung)
	assert.LessOrEqual(t, r.Tokens, told)
	assert.Equal(t, told, r.Budget)
	_, err := m.Recover(t.Context(), h, cause)
	require.ErrorIs(t, err, winnow.ErrOverflow)
}

// What is told when nothing helps is about what fills the request, not about a limit that was guessed.
func TestOverflowErrorSaysWhatIsKnown(t *testing.T) {
	h := list(systemSays("You are careful."), userSays(numbered(200)))
	m := newManager(t, 20_000, nil)
	prepare(t, m, h)
	_, err := m.Recover(t.Context(), h, errNoNumbers)
	full := overflowOf(t, err)
	assert.Equal(t, 15_000, full.Budget, "the window without the reserve")
	assert.ErrorContains(t, err, "is refused")
	assert.Equal(t, 15_000, prepare(t, m, h).Budget, "and it is tried again when the host asks again")
}

// Tokens that the call reserves for the answer are the caller's: the window is what the provider says it is.
func TestRoomForTheAnswerIsReported(t *testing.T) {
	m := newManager(t, 200_000, nil)
	h := list(userSays(numbered(800)))
	prepare(t, m, h)
	_, err := m.Recover(t.Context(), h, errors.New("input length and `max_tokens` exceed context limit: 9000 + 8000 > 16000, decrease input length or `max_tokens` and try again"))
	full := overflowOf(t, err)
	assert.Equal(t, 8_000, full.Answer)
	assert.Equal(t, 8_000, full.Budget, "what the answer leaves")
	assert.Contains(t, err.Error(), "8000 reserved for the answer")
}

// Refusals for the size of the body in bytes: tokens are not the matter.

func album(pictures, size int) []winnow.Message {
	var h []winnow.Message
	for i := range pictures {
		h = append(h, withImage(userSays("Picture "+itoa(i)), size), modelSays("I see."))
	}
	return append(h, userSays("And what do they show?"))
}

// A body limit that was only guessed is given up where it cannot be reached.
func TestRecoverBytesWithoutNumbers(t *testing.T) {
	h := album(4, 1<<20)
	h = append(h, modelSays("Cats."), withImage(userSays("And this?"), 9<<20)) // the newest request cannot shrink
	m := newManager(t, 1_000_000, nil)
	isTaken := func(r *winnow.Request) bool { // the images, and little else
		_, n := imagesOf(r.Messages)
		return n <= 19<<19
	}
	require.False(t, isTaken(prepare(t, m, h)))
	require.True(t, isTaken(recovered(t, m, h, errors.New("413 request_too_large"))), "nine megabytes are taken, if somebody sends them")
	h = append(h, modelSays("A dog."), userSays("Thanks."))
	require.True(t, isTaken(prepare(t, m, h)), "and the conversation goes on")
	moved := restarted(t, 1_000_000, nil, snapshotOf(t, m))
	require.True(t, isTaken(prepare(t, moved, h)))
}

// A log names what was decided, and holds nothing of the conversation: not of its texts, names and ids, and not
// of errors, which may repeat it.
func TestLogsHoldNoText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a call that failed is made again after a pause
		const secret = "xyzzy"
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		failing := winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) {
			return secret, errors.New("the model said " + secret)
		})
		panicking := winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) { panic(secret) })
		for _, o := range []winnow.Options{
			{},
			{Summarizer: failing},
			{Summarizer: panicking, Compact: &winnow.CompactOptions{Rules: func() string { return "Never say " + secret }}},
			{Compact: &winnow.CompactOptions{BeforeCompact: func(context.Context, []winnow.Message) error { return errors.New(secret) }}},
			{Compact: &winnow.CompactOptions{BeforeCompact: func(context.Context, []winnow.Message) error { panic(secret) }, Background: true}},
			{HistoryTurns: 5, MaxBytes: 20_000},
		} {
			o.Logger = logger
			m := newManager(t, 8_000, &o)
			h := list(systemSays(secret), userSays("The secret is "+secret+"."))
			for i := range 60 {
				call := modelCalls(secret + itoa(i))
				call.ID, call.StopReason = secret, secret
				call.Parts[0].Name, call.Parts[0].Arguments = secret, []byte(`{"`+secret+`":"`+secret+`"}`)
				result := toolSays(secret+itoa(i), secret+" "+numbered(20+i))
				result.ToolName, result.Details, result.IsError = secret, []byte(`{"`+secret+`":1}`), i%7 == 0
				answer := modelSays(secret + " " + numbered(20))
				answer.Usage = &winnow.Usage{Input: 1 + i%2*1_000_000} // which is not believed
				image := withImage(userSays(secret+" "+itoa(i)), 2_000)
				image.Parts[1].MediaType, image.Parts[1].Signature = secret, secret
				h = append(h, call, result, answer, image)
				if i%10 == 9 {
					_, _ = m.Prepare(t.Context(), h)
				}
			}
			for _, cause := range []error{errors.New("prompt is too long, " + secret), errors.New("413 request too large: " + secret)} {
				_, err := m.Prepare(t.Context(), h)
				for err == nil {
					_, err = m.Recover(t.Context(), h, cause)
				}
			}
			_, _ = m.Compact(t.Context(), h, "mind the "+secret)
			m.Close()
		}
		for _, said := range []string{"compacting", "compacted", "compaction failed", "reason=", "refused a request", "guessed_limit", "recovering", "rung=", "rewritten",
			"nothing is left", "BeforeCompact failed", "usage not used", "breaker"} {
			assert.True(t, strings.Contains(out.String(), said), "no record says %q", said)
		}
		assert.False(t, strings.Contains(out.String(), secret), "the log holds the secret")
	})
}

// Estimates have a margin. A request that is within the budget and not within the margin is made smaller where that
// is cheap. It is not a reason to fail, and not to ask a summarizer in every request.

// textOf is a text that byChars counts as the given number of tokens in a message.
func textOf(tokens int) string { return numbered(tokens)[:4*(tokens-1)] }

func TestMarginIsNoReasonToFail(t *testing.T) {
	for _, tt := range []struct{ older, request int }{
		{20_000, 102_600}, {20_000, 107_000}, {2_000, 105_500}, {20_000, 95_000}, {60_000, 100_000},
	} {
		s := says("## Goal\nBook a flight.\n\n## Progress\nIt was looked for and found.")
		m := newManager(t, 128_000, &winnow.Options{Summarizer: s, Estimator: byChars, Now: newClock().Now})
		var h []winnow.Message
		for range 10 {
			h = append(h, userSays(textOf(tt.older/20)), modelSays(textOf(tt.older/20)))
		}
		h = append(h, userSays(textOf(tt.request)))
		r, err := m.Prepare(t.Context(), h)
		require.NoError(t, err, "%+v", tt)
		assert.LessOrEqual(t, r.Tokens, r.Budget)
		assert.Equal(t, 108_000, r.Budget)
		calls := s.count()
		for range 5 {
			h = append(h, modelSays("Yes, and so on."), hostSays("Go on."))
			if r, err = m.Prepare(t.Context(), h); err != nil {
				break
			}
		}
		require.NoError(t, err, "%+v", tt)
		assert.LessOrEqual(t, s.count(), calls, "%+v: the summarizer is asked again for nothing", tt)
		assert.Empty(t, r.Degraded, "%+v", tt)
	}
}

// The provider counts twice as much, so that what stays leaves no room for a summary besides the reserve. What takes
// some of the reserve has one that says something: once the request is taken, nothing else holds the older messages.
func TestSummaryBesideWhatDoesNotFit(t *testing.T) {
	cause := errors.New("prompt is too long: 12600 tokens > 12000 maximum")
	for _, request := range []int{4_400, 4_500, 4_600, 4_800} {
		s := says("The disks are full.")
		m := newManager(t, 12_000, &winnow.Options{Estimator: byChars, Now: newClock().Now, Summarizer: s})
		h := list(userSays("And the disks? "+textOf(800)), modelSays("They are full. "+textOf(800)), userSays(textOf(request)))
		prepare(t, m, h)
		r, err := m.Recover(t.Context(), h, cause)
		require.NoError(t, err, request)
		require.NotNil(t, r.Compaction, request)
		assert.Contains(t, r.Compaction.Summary, "disks are full", "request %d, rung %s", request, r.Rung)
	}
}

// The provider counts more for the two ends of a result than for its middle, so a result that was cut has more tokens
// than the count of the refused request suggests. A summary does not help, because all results are in the newest step.
func TestResultsAreCutUntilTheProviderTakesThem(t *testing.T) {
	const window, reserve = 32_000, 8_000
	for _, tt := range []struct {
		factor   float64 // of the tokens of a result that Recover has cut
		refusals int
		reason   string
	}{
		{1.06, 1, "the margin that is left after the first refusal is enough"},
		{1.2, 2, "the second refusal teaches the rest"},
	} {
		m := newManager(t, window, &winnow.Options{Estimator: byChars, Reserve: reserve, Now: newClock().Now})
		counted := func(messages []winnow.Message) (n int) {
			for i := range messages {
				part := float64(byChars.Estimate(messages[i]))
				switch isResult := messages[i].Role == winnow.RoleTool; {
				case isResult && part < 5_450:
					part *= tt.factor
				case isResult:
					part *= 1.03
				}
				n += int(part)
			}
			return n
		}
		h := list(userSays(textOf(13_000)), modelCalls("a", "b"), toolSays("a", textOf(9_000)), toolSays("b", textOf(9_000)))
		h[1].Usage = &winnow.Usage{Input: counted(h[:1])}
		refusals := 0
		_, r, err := winnow.Do(t.Context(), m, h, func(_ context.Context, sent []winnow.Message) (string, error) {
			n := counted(sent)
			if n <= window-reserve {
				return "Done.", nil
			}
			refusals++
			return "", fmt.Errorf("input length and `max_tokens` exceed context limit: %d + %d > %d", n, reserve, window)
		})
		require.NoError(t, err, tt.reason)
		assert.Equal(t, tt.refusals, refusals, tt.reason)
		assert.Greater(t, counted(r.Messages), (window-reserve)*3/4, "no more was cut than had to be")
	}
}

// What no message shows, such as tools, takes half of the window, as the host or the provider's usage says. The count
// in a refusal is then right, although it is far above the estimate of the messages.
func TestCountAboveTheEstimateIsTakenWhereMuchIsHidden(t *testing.T) {
	const hidden = 15_000
	cause := errors.New("input length and `max_tokens` exceed context limit: 24500 + 8000 > 32000")
	for _, overhead := range []int{0, hidden} {
		m := newManager(t, 32_000, &winnow.Options{Estimator: byChars, Reserve: 8_000, Overhead: overhead, Now: newClock().Now})
		h := list(userSays("Look."), modelCalls("a"), toolSays("a", textOf(4_600)))
		if overhead == 0 {
			h[1].Usage = &winnow.Usage{Input: hidden}
		}
		prepare(t, m, h)
		r, err := m.Recover(t.Context(), h, cause)
		require.NoError(t, err, overhead)
		assert.Equal(t, 24_000, r.Budget, "overhead %d: the count is used, and no limit is guessed", overhead)
	}
}

// The provider refuses without numbers. All that can be shrunk is a twentieth of the request, and that is enough.
func TestALittleSmallerIsTriedBeforeGivingUp(t *testing.T) {
	const window, reserve = 32_000, 8_000
	m := newManager(t, window, &winnow.Options{Estimator: byChars, Reserve: reserve, Now: newClock().Now})
	h := list(userSays(textOf(22_900)), modelCalls("a"), toolSays("a", textOf(1_000)))
	refusals := 0
	_, r, err := winnow.Do(t.Context(), m, h, func(_ context.Context, sent []winnow.Message) (string, error) {
		if estimateAll(byChars, sent) <= 23_700 {
			return "Done.", nil
		}
		refusals++
		return "", errNoNumbers
	})
	require.NoError(t, err)
	assert.Equal(t, 1, refusals)
	assert.Equal(t, "smallest", r.Rung)
}

// The provider said "too long": smaller requests, each another one, until one is taken or nothing is left.

var errTooLong = errors.New("prompt is too long: 213462 tokens > 200000 maximum")

// payload is all that a provider is sent of messages.
func payload(messages []winnow.Message) string {
	var b strings.Builder
	for i := range messages {
		m := &messages[i]
		fmt.Fprintf(&b, "%s %q %v %s", m.Role, m.ToolCallID, m.IsError, messageText(m))
		for _, p := range m.Parts {
			fmt.Fprintf(&b, "%q %q %d %q", p.ID, p.Name, p.Bytes, p.Signature)
		}
	}
	return b.String()
}

// keepAll has no tool's work become stale, so that the first request is the whole history.
var keepAll = &winnow.ToolOptions{Keep: []string{"*"}}

// A request that was refused is not made again while a run of Recover is open, whoever asks. A run that came to
// nothing is undone: the next one begins from the log.
func TestManagerRecoverShrinks(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cause error
		h     []winnow.Message
		above float64
	}{
		{"agent", errTooLong, agentSession(30, 4_000), 0},
		{"chat", errTooLong, chat(60, 2_000), 0},
		{"no numbers", errors.New("context_length_exceeded"), agentSession(30, 4_000), 0},
		{"bytes", errors.New("413 request entity too large"), agentSession(30, 4_000), 1},
		{"bytes of images", errors.New("413 request_too_large"), named(album(4, 6<<20)), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := &winnow.Options{Estimator: picturesOf(1_400), Now: newClock().Now, FoldAbove: tt.above}
			m := newManager(t, 200_000, o)
			before := deepCopy(tt.h)
			first := prepare(t, m, tt.h)
			last := first
			sent := map[string]bool{payload(last.Messages): true}
			for n := 1; ; n++ {
				require.Less(t, n, 20, "it never gives up")
				r, err := m.Recover(t.Context(), tt.h, tt.cause)
				sameMessages(t, before, tt.h, "the history was written to")
				if err != nil {
					require.Greater(t, n, 1, "nothing was tried")
					overflowOf(t, err)
					require.ErrorIs(t, err, winnow.ErrOverflow)
					require.ErrorIs(t, err, tt.cause, "the provider's error is wrapped")
					assert.Contains(t, err.Error(), tt.cause.Error())
					assert.Contains(t, err.Error(), "start a new conversation", "and what to do")
					sameMessages(t, first.Messages, prepare(t, m, tt.h).Messages, "the run is undone")
					return
				}
				require.Less(t, r.Tokens, last.Tokens, "request %d", n)
				require.NotEmpty(t, r.Rung)
				require.False(t, sent[payload(r.Messages)], "request %d was sent before", n)
				for where, m := range map[string]*winnow.Manager{"here": m, "restored": restarted(t, 200_000, o, snapshotOf(t, m))} {
					require.False(t, sent[payload(prepare(t, m, tt.h).Messages)], "%s: a refused request again", where)
				}
				sent[payload(r.Messages)] = true
				require.Equal(t, firstDifference(last.Messages, r.Messages), r.FirstChanged)
				requestCheck{estimator: picturesOf(1_400)}.check(t, tt.h, r)
				last = r
			}
		})
	}
}

// Any other error does not make the request smaller: it comes back wrapped, and the manager is as it was.
func TestManagerRecoverLeavesOtherErrors(t *testing.T) {
	h := agentSession(10, 2_000)
	m := newManager(t, 200_000, nil)
	prepare(t, m, h)
	state := snapshotOf(t, m)
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		cause error
	}{
		{"rate limit", t.Context(), errors.New("429 Too Many Requests: rate limit reached")},
		{"auth", t.Context(), errors.New("401 invalid x-api-key")},
		{"network", t.Context(), errors.New("connection reset by peer")},
		{"room for the answer", t.Context(), errors.New("max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens")},
		{"cancelled call", t.Context(), context.Canceled},
		{"too late", t.Context(), fmt.Errorf("post: %w", context.DeadlineExceeded)},
		{"none", t.Context(), nil},
	} {
		r, err := m.Recover(tt.ctx, h, tt.cause)
		assert.Nil(t, r, tt.name)
		require.Error(t, err, tt.name)
		assert.NotErrorIs(t, err, winnow.ErrOverflow, tt.name)
		if tt.cause != nil {
			assert.ErrorIs(t, err, tt.cause, tt.name)
		}
		assert.Equal(t, state, snapshotOf(t, m), tt.name)
	}
}

// provider takes requests up to a limit that nobody told the manager.
func provider(limit int) (call func(context.Context, []winnow.Message) (string, error), sent *[][]winnow.Message) {
	sent = new([][]winnow.Message)
	return func(_ context.Context, messages []winnow.Message) (string, error) {
		*sent = append(*sent, messages)
		if n := estimateAll(byChars, messages); n > limit {
			return "", errors.New("This model's maximum context length is " + itoa(limit) + " tokens. However, your messages resulted in " + itoa(n) + " tokens.")
		}
		return "done", nil
	}, sent
}

func TestManagerDo(t *testing.T) {
	h := agentSession(40, 4_000)
	m := newManager(t, 200_000, &winnow.Options{Estimator: byChars, Now: newClock().Now, Tools: keepAll})
	call, sent := provider(30_000)
	answer, r, err := winnow.Do(t.Context(), m, h, call)
	require.NoError(t, err)
	assert.Equal(t, "done", answer)
	assert.LessOrEqual(t, r.Tokens, 30_000)
	assert.Greater(t, len(*sent), 1, "the first was refused")
	assert.LessOrEqual(t, len(*sent), 4)
	sameMessages(t, (*sent)[len(*sent)-1], r.Messages, "the request returned is the last one that was sent")

	for _, cause := range []error{errors.New("500 internal server error"), context.DeadlineExceeded} {
		_, r, err = winnow.Do(t.Context(), m, h, func(context.Context, []winnow.Message) (int, error) { return 1, cause })
		assert.True(t, cause == err, "any other error is returned as it is")
		assert.NotNil(t, r, "it was sent")
	}

	call, _ = provider(100)
	answer, _, err = winnow.Do(t.Context(), m, h, call)
	assert.Zero(t, answer)
	require.ErrorIs(t, err, winnow.ErrOverflow, "a provider that takes nothing")
	require.ErrorContains(t, err, "maximum context length is 100 ")

	called := false
	_, r, err = winnow.Do(t.Context(), newManager(t, 100, nil), h, func(context.Context, []winnow.Message) (int, error) { called = true; return 1, nil })
	require.ErrorIs(t, err, winnow.ErrOverflow)
	assert.Nil(t, r)
	assert.False(t, called, "what is known not to fit is not sent")
}

// TestOverflowOfTheHost: what ClassifyError calls an overflow, Recover and Do take for one. Only where a manager itself
// found no smaller request, nothing is tried again.
func TestOverflowOfTheHost(t *testing.T) {
	h := agentSession(40, 4_000)
	for _, tt := range []struct {
		name  string
		err   error
		calls int
	}{
		{"by the answer", winnow.ErrOverflow, 2},
		{"wrapped", fmt.Errorf("stop reason model_context_window_exceeded: %w", winnow.ErrOverflow), 2},
		{"of another manager", fmt.Errorf("sub-agent: %w", &winnow.OverflowError{Tokens: 5, Budget: 4}), 1},
	} {
		require.Equal(t, winnow.ErrorOverflow, winnow.ClassifyError(tt.err).Class, tt.name)
		calls := 0
		_, _, err := winnow.Do(t.Context(), newManager(t, 200_000, nil), h, func(context.Context, []winnow.Message) (int, error) {
			if calls++; calls > 1 {
				return 1, nil
			}
			return 0, tt.err
		})
		assert.Equal(t, tt.calls, calls, tt.name)
		if tt.calls == 1 {
			assert.True(t, err == tt.err, "any other error is returned as it is")
			_, err = newManager(t, 200_000, nil).Recover(t.Context(), h, tt.err)
			require.ErrorIs(t, err, winnow.ErrOverflow, "the cause is wrapped")
		}
	}
	for _, empty := range [][]winnow.Message{nil, {userSays(" ")}} {
		cause := errors.New("prompt is too long: 9000 tokens > 8000 maximum")
		_, err := newManager(t, 200_000, nil).Recover(t.Context(), empty, cause)
		require.ErrorIs(t, err, winnow.ErrNothingToSend)
		require.ErrorIs(t, err, cause)
	}
}

func TestRecoverLearns(t *testing.T) {
	h := longSession()
	for _, c := range []struct {
		name  string
		cause error
		most  int // tokens of later requests
	}{
		{"limit and count", errors.New("400 prompt is too long: 19000 tokens > 10000 maximum"), 10_000},
		{"an answer is part of it", errors.New("input length and `max_tokens` exceed context limit: 9000 + 4096 > 12000, decrease input length or `max_tokens` and try again"), 12_000 - 4_096},
		{"tokens per minute: waiting never helps", errors.New("429 Request too large for gpt-5 on tokens per min (TPM): Limit 10000, Requested 14000."), 10_000},
		{"no numbers", errNoNumbers, 15_000},
		{"characters", errors.New("The input is 40000 characters long and the maximum is 20000 characters, the context is too long"), 15_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newManager(t, 20_000, &winnow.Options{Tools: keepAll})
			first := prepare(t, m, h)
			next := recovered(t, m, h, c.cause)
			assert.Less(t, estimateAll(byChars, next.Messages), estimateAll(byChars, first.Messages))
			assert.LessOrEqual(t, next.Tokens, c.most)

			moved := restarted(t, 20_000, &winnow.Options{Tools: keepAll}, snapshotOf(t, m))
			longer := append(h[:len(h):len(h)], modelCalls("more"), toolSays("more", strings.Repeat("more of it\n", 900)), userSays("So?"))
			for name, m := range map[string]*winnow.Manager{"here": m, "restored": moved} {
				r, err := m.Prepare(t.Context(), longer)
				require.NoError(t, err, name)
				assert.LessOrEqual(t, r.Tokens, c.most, "%s: what was learned is used", name)
				assert.LessOrEqual(t, r.Budget, c.most, name)
			}
		})
	}
}

func TestErrorMatcherOption(t *testing.T) {
	strange := errors.New("E4711")
	m := newManager(t, 20_000, &winnow.Options{ErrorMatcher: func(err error) (winnow.ErrorInfo, bool) {
		return winnow.ErrorInfo{Class: winnow.ErrorOverflow, Limit: 8_000}, errors.Is(err, strange)
	}})
	calls := 0
	_, r, err := winnow.Do(t.Context(), m, longSession(), func(context.Context, []winnow.Message) (int, error) {
		if calls++; calls == 1 {
			return 0, strange
		}
		return calls, nil
	})
	require.NoError(t, err)
	assert.Equal(t, 2, calls)
	assert.LessOrEqual(t, r.Tokens, 8_000)
}
