package winnow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// byteCount counts a token for each byte of text, so that the figures of a test can be read.
var byteCount = winnow.EstimatorFunc(func(m winnow.Message) int {
	n := 0
	for i := range m.Parts {
		n += len(m.Parts[i].Text)
	}
	return n
})

func billed(m winnow.Message, u winnow.Usage) winnow.Message {
	m.Usage = &u
	return m
}

func of(n int) string { return string(bytes.Repeat([]byte("x"), n)) }

// counted is the size of the last request for h, which grows step by step, and what was logged.
func counted(t *testing.T, o winnow.Options, h []winnow.Message) (tokens int, log string) {
	t.Helper()
	var out bytes.Buffer
	o.Estimator = byteCount
	o.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	m := newManager(t, 100_000, &o)
	steps(h, func(in []winnow.Message) { tokens = prepare(t, m, in).Tokens })
	return tokens, out.String()
}

func TestTokensGoOnFromWhatWasBilled(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer winnow.Message // to a request of 1 000 estimated tokens
		o      winnow.Options
		want   int    // of the next request: 1 000, 100 of the answer, 100 of the user
		log    string // why the count was not used
	}{
		{"no usage: the estimates", modelSays(of(100)), winnow.Options{}, 1_200, ""},
		{"no usage: the host's overhead", modelSays(of(100)), winnow.Options{Overhead: 500}, 1_700, ""},
		{"what was billed, and the estimate of what came after it", billed(modelSays(of(100)), winnow.Usage{Input: 3_000}), winnow.Options{}, 3_200, ""},
		{"the provider called tools of its own: the sum of several requests", billed(modelSends(textPart(of(100)),
			winnow.Part{Kind: winnow.KindOpaque, ID: "s1", Name: "web_search"}, winnow.Part{Kind: winnow.KindOpaque, ID: "s1"}),
			winnow.Usage{Input: 3_000}), winnow.Options{}, 1_200, "the sum of several requests"},
		{"cached tokens are part of the prompt", billed(modelSays(of(100)), winnow.Usage{Input: 10, CacheRead: 2_900, CacheWrite: 90}), winnow.Options{}, 3_200, ""},
		{"the output is not part of the prompt", billed(modelSays(of(100)), winnow.Usage{Input: 3_000, Output: 9_000}), winnow.Options{}, 3_200, ""},
		{"zero says nothing", billed(modelSays(of(100)), winnow.Usage{}), winnow.Options{}, 1_200, "zero"},
		{"the sum of several calls", billed(modelSays(of(100)), winnow.Usage{Input: 160_000}), winnow.Options{}, 1_200, "above the window"},
		{"of a failed turn", failed(billed(modelSays(of(100)), winnow.Usage{Input: 9_000}), "error"), winnow.Options{}, 1_200, "of a failed turn"},
		{"without what was cached", billed(modelSays(of(100)), winnow.Usage{Input: 400}), winnow.Options{}, 1_200, "below half of the estimate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, log := counted(t, c.o, list(userSays(of(1_000)), c.answer, userSays(of(100))))
			assert.Equal(t, c.want, got)
			if c.log != "" {
				assert.Contains(t, log, c.log)
			} else {
				assert.NotContains(t, log, "usage not used")
			}
		})
	}
}

// Where providers may drop or discount parts, a count far below the estimate is not an error.
func TestSmallCountOfAPromptWithHiddenParts(t *testing.T) {
	h := list(userSays("look"), billed(modelSends(thinkPart(of(1_000), "signed"), textPart("a")), winnow.Usage{Input: 900}),
		userSays("and"), billed(modelSays("b"), winnow.Usage{Input: 300}), userSays("so"))
	got, log := counted(t, winnow.Options{}, h)
	assert.NotContains(t, log, "below half")
	assert.Equal(t, 300+1+2, got)

	// The parts that are never dropped are a lower bound: a host that leaves out what was cached reports a handful.
	h[0] = userSays(of(1_000))
	h[3].Usage.Input = 3
	got, log = counted(t, winnow.Options{}, h)
	assert.Contains(t, log, `reason="below half of the estimate" prompt=3 estimate=2004`)
	assert.Equal(t, 900+1_001+3+1+2, got, "it goes on from the answer before")
}

// The parts of one answer may be messages of their own, each with the usage of the request.
func TestAnswerInSeveralMessages(t *testing.T) {
	u := winnow.Usage{Input: 3_000}
	h := list(userSays(of(1_000)), billed(modelSays(of(100)), u), billed(modelSays(of(50)), u), userSays(of(100)))
	for name, before := range map[string]int{"at once": 0, "later": 1, "one after the other": 2} {
		m := newManager(t, 100_000, &winnow.Options{Estimator: byteCount})
		if before > 0 {
			prepare(t, m, h[:before])
		}
		r := prepare(t, m, h)
		assert.Equal(t, 3_250, r.Tokens, name)
	}
}

// What was billed before a compaction is not an anchor for what comes after it, but the hidden part that it tells of
// is still sent.
func TestCompactionKeepsWhatWasLearned(t *testing.T) {
	h := list(userSays(of(1_000)))
	for i := range 50 {
		h = append(h, billed(modelSays(of(500)), winnow.Usage{Input: 41_000 + 1_000*i}), userSays(of(500)))
	}
	for name, before := range map[string][]int{"taken over": nil, "from the beginning": {1, 21, 61}} {
		m := newManager(t, 100_000, &winnow.Options{Estimator: byteCount})
		for _, n := range before {
			_, err := m.Prepare(context.Background(), h[:n])
			require.NoError(t, err, name)
		}
		r, err := m.Prepare(context.Background(), h)
		require.NoError(t, err, name)
		require.NotNil(t, r.Compaction, name)
		assert.Equal(t, 40_000+estimateAll(byteCount, r.Messages), r.Tokens, name)
		assert.Equal(t, r.Tokens, r.Compaction.TokensAfter, name)
	}
}

// Only a request that this one goes on from tells its size, and the log has what was left out for that.
func TestUsageOfOtherRequests(t *testing.T) {
	summary := summarySays(of(100))
	lost := failed(modelCalls("a"), "error")
	for _, c := range []struct {
		name string
		h    []winnow.Message
		want int
		log  bool
	}{
		{"behind a summary of another manager", list(summary, userSays(of(100)), billed(modelSays(of(100)), winnow.Usage{Input: 9_000}), userSays(of(100))), 400, true},
		{"before a turn that failed, and behind it", list(userSays(of(100)), billed(modelSays(of(100)), winnow.Usage{Input: 2_000}), userSays(of(100)), lost,
			billed(modelSays(of(100)), winnow.Usage{Input: 9_000}), userSays(of(100))), 2_000 + 400, true},
		{"nothing", list(summary, userSays(of(100)), modelSays(of(100)), userSays(of(100))), 400, false},
	} {
		var out bytes.Buffer
		m := newManager(t, 100_000, &winnow.Options{Estimator: byteCount, Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		r := prepare(t, m, c.h)
		assert.Equal(t, c.want, r.Tokens, c.name)
		assert.Equal(t, c.log, bytes.Contains(out.Bytes(), []byte("from before a compaction")), "%s: %s", c.name, &out)
	}
}

// A host puts a message with the time behind each request, or the time into its newest message, and drops it later. The
// usage of the answer still counts, less the share of that message. It also counts after a restart.
func TestUsageOfRequestsWithATextThatIsNotKept(t *testing.T) {
	options := &winnow.Options{Estimator: byteCount, Now: newClock().Now}
	counted := func(messages []winnow.Message) int { return 7_000 + 3*estimateAll(byteCount, messages)/2 }
	for name, withTime := range addsTime {
		t.Run(name, func(t *testing.T) {
			m := newManager(t, 100_000, options)
			h := list(userSays(of(2_000)))
			var r *winnow.Request
			for i := range 8 {
				if i == 5 {
					m = restarted(t, 100_000, options, snapshotOf(t, m))
				}
				r = prepare(t, m, withTime(h, "It is "+itoa(10+i)+" o'clock. "+of(300)))
				call := billed(modelCalls("c"+itoa(i)), winnow.Usage{Input: counted(r.Messages)})
				h = append(h, call, toolSays("c"+itoa(i), of(1_000+100*i)))
			}
			assert.InEpsilon(t, counted(r.Messages), r.Tokens, .05)
		})
	}
}

// addsTime are the ways in which hosts tell a model the time: as a message behind the request, or in its newest
// message.
var addsTime = map[string]func(h []winnow.Message, text string) []winnow.Message{
	"behind": func(h []winnow.Message, text string) []winnow.Message { return append(slices.Clone(h), hostSays(text)) },
	"in the newest": func(h []winnow.Message, text string) []winnow.Message {
		h = slices.Clone(h)
		newest := &h[len(h)-1]
		newest.Parts = append(slices.Clone(newest.Parts), winnow.Part{Text: text})
		return h
	},
}

// After a history was cut nothing is anchored; what was learned of the hidden part stays.
func TestHiddenPartIsLearned(t *testing.T) {
	m := newManager(t, 100_000, &winnow.Options{Estimator: byteCount})
	h := list(userSays(of(1_000)), billed(modelSays(of(100)), winnow.Usage{Input: 4_000}), userSays(of(100)))
	prepare(t, m, h[:1])
	prepare(t, m, h)

	moved := restarted(t, 100_000, &winnow.Options{Estimator: byteCount}, snapshotOf(t, m))
	for name, m := range map[string]*winnow.Manager{"here": m, "restored": moved} {
		r := prepare(t, m, list(userSays(of(500))))
		assert.Equal(t, 3_500, r.Tokens, name)
	}
}

// Before anything was billed an estimate has a margin, and half of the reserve is it.
func TestMarginBeforeTheFirstAnswer(t *testing.T) {
	full := func(tokens int, h ...winnow.Message) bool {
		m := newManager(t, 100_000, &winnow.Options{Estimator: byteCount, Reserve: 10_000})
		return m.Plan(append(list(userSays(of(tokens/2)), modelSays(of(tokens/2)), userSays("so")), h...)).NeedsCompaction
	}
	assert.False(t, full(82_000), "82 000 and a margin of 15 % are within 95 000")
	assert.True(t, full(84_000), "84 000 and a margin of 15 % are not")
	assert.False(t, full(1_000, billed(modelSays("a"), winnow.Usage{Input: 89_000}), userSays("b")), "what was counted needs no margin")
}

// A window that a provider named is wrong once a larger prompt was answered: kept, it would have the manager refuse
// every later request itself.
func TestToldWindowIsDisprovedByAnAnswer(t *testing.T) {
	t.Parallel()
	h := chat(60, 400)
	o := &winnow.Options{Estimator: byChars}
	m := newManager(t, 100_000, o)
	prepare(t, m, h)
	recovered(t, m, h, errors.New("prompt is too long, the limit is 4000 tokens"))
	require.Equal(t, 3_000, m.Plan(h).Budget)
	restored := restarted(t, 100_000, o, snapshotOf(t, m))
	h = append(h, billed(modelSays("Yes."), winnow.Usage{Input: 5_000}), userSays("On."))
	assert.Equal(t, 80_000, m.Plan(h).Budget, "as planned")
	assert.Equal(t, 80_000, prepare(t, m, h).Budget, "the recovery is settled")
	assert.Equal(t, 80_000, prepare(t, restored, h).Budget, "behind a restart")
}

func TestCounted(t *testing.T) {
	h := namelessHistory(8, true)
	m := newManager(t, 200_000, &winnow.Options{Estimator: winnow.CharsPerToken(4)})
	m.Counted(winnow.Usage{Input: 50_000}) // nothing was sent
	first := prepare(t, m, h)
	for _, absurd := range []int{-1, 0, 1, first.Tokens / 3, 1_000_000} {
		m.Counted(winnow.Usage{Input: absurd})
		assert.Equal(t, first.Tokens, m.Plan(h).Tokens, "%d tokens are not of this request", absurd)
	}
	counted := first.Tokens + first.Tokens/3
	m.Counted(winnow.Usage{Input: counted})
	h = append(h, modelSays("All is well."), userSays("Go on."))
	next := prepare(t, m, h)
	assert.Greater(t, next.Tokens, counted, "the next request goes on from there")
	assert.Less(t, next.Tokens, counted+200, "and only what is new is estimated")
	assert.Equal(t, len(first.Messages), next.FirstChanged, "nothing is sent differently")
}

// reporting is a summarizer that says what it was billed for; every second answer is cut.
func reporting(calls *int) winnow.Summarizer {
	return winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		*calls++
		winnow.ReportUsage(ctx, winnow.Usage{Input: 100, CacheRead: 10, CacheWrite: 1, Output: 20})
		if *calls%2 == 1 {
			return "", fmt.Errorf("cut: %w", winnow.ErrIncomplete)
		}
		return "## Goal\nLook around.", nil
	})
}

func TestSummariesSayWhatTheyCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // an answer that is refused is asked for again after a pause
		calls := 0
		history := namelessHistory(40, true)
		summary, err := winnow.SummarizeInStages(t.Context(), history, &winnow.SummarizeOptions{Summarizer: winnow.FirstOf(0, reporting(&calls))})
		require.NoError(t, err)
		require.Positive(t, calls)
		assert.Equal(t, calls, summary.Calls)
		assert.Equal(t, winnow.Usage{Input: 100 * calls, CacheRead: 10 * calls, CacheWrite: calls, Output: 20 * calls}, summary.Usage, "answers that are refused are billed as well")

		calls = 0
		m := newManager(t, 60_000, &winnow.Options{Tools: keepAll, Summarizer: reporting(&calls)})
		request := compact(t, m, history)
		require.Positive(t, calls)
		assert.Equal(t, winnow.Usage{Input: 100 * calls, CacheRead: 10 * calls, CacheWrite: calls, Output: 20 * calls}, request.SummaryUsage)
	})
}

// TestRequestsSayWhatSummariesCost: the requests of a conversation add up to what its summarizer was asked, whatever it
// answered and whoever was returned the request.
func TestRequestsSayWhatSummariesCost(t *testing.T) {
	one := winnow.Usage{Input: 1_000, Output: 10}
	good := "## Goal\nThe model gave a long answer about this question."
	for _, tt := range []struct {
		name    string
		text    string
		err     error
		options winnow.CompactOptions
		reason  string
	}{
		{"good", good, nil, winnow.CompactOptions{}, "each summary is one call"},
		{"refused", "", nil, winnow.CompactOptions{}, "an empty answer is billed too, and asked for twice"},
		{"failed", "", errors.New("boom"), winnow.CompactOptions{}, "so is an answer that failed on its way"},
		{"in the background", good, nil, winnow.CompactOptions{Background: true}, "the next request has it"},
		{"refused in the background", "", nil, winnow.CompactOptions{Background: true}, "even where no compaction came of it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, calls, billed := 0, 0, winnow.Usage{}
				s := winnow.SummarizerFunc(func(ctx context.Context, _ winnow.SummaryRequest) (string, error) {
					asked++
					winnow.ReportUsage(ctx, one)
					return tt.text, tt.err
				})
				m := newManager(t, 12_000, &winnow.Options{Summarizer: s, Compact: &tt.options})
				defer m.Close()
				var h []winnow.Message
				for n := range 40 {
					h = append(h, userSays("Question "+itoa(n)+" about a long answer?"), modelSays(strings.Repeat("The model gave a long answer about this question. ", 60)))
					r := prepare(t, m, h)
					calls, billed.Input, billed.Output = calls+r.SummaryCalls, billed.Input+r.SummaryUsage.Input, billed.Output+r.SummaryUsage.Output
					synctest.Wait()
				}
				r := prepare(t, m, h)
				calls, billed.Input, billed.Output = calls+r.SummaryCalls, billed.Input+r.SummaryUsage.Input, billed.Output+r.SummaryUsage.Output
				require.Greater(t, asked, 2, tt.reason)
				assert.Equal(t, asked, calls, tt.reason)
				assert.Equal(t, winnow.Usage{Input: asked * one.Input, Output: asked * one.Output}, billed, tt.reason)
			})
		})
	}
}

// TestRecoverSaysWhatItsSummariesCost: Do returns the last of the requests that it tried, which has the calls of all.
func TestRecoverSaysWhatItsSummariesCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, h := 0, agentSession(40, 4_000)
		m := newManager(t, 30_000, &winnow.Options{Tools: keepAll, Summarizer: reporting(&calls)})
		_, err := m.Compact(t.Context(), h[:2], "")
		require.ErrorIs(t, err, winnow.ErrNothingToCompact)
		call, sent := provider(4_000)
		_, r, _ := winnow.Do(t.Context(), m, h, call)
		require.Greater(t, len(*sent), 1)
		require.Greater(t, calls, 2, "of Prepare, and of Recover")
		assert.Equal(t, calls, r.SummaryCalls)
		assert.Equal(t, 100*calls, r.SummaryUsage.Input)
	})
}

func TestReportUsageOutsideOfACall(t *testing.T) {
	winnow.ReportUsage(t.Context(), winnow.Usage{Input: 1}) // nobody asks
	s := winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		winnow.ReportUsage(ctx, winnow.Usage{Input: math.MaxInt, Output: -5})
		winnow.ReportUsage(ctx, winnow.Usage{Input: math.MaxInt, Output: 7})
		if strings.Contains(req.Instructions, "fail") {
			return "", errors.New("no")
		}
		return "## Goal\nLook around.", nil
	})
	summary, err := winnow.SummarizeInStages(t.Context(), namelessHistory(2, true), &winnow.SummarizeOptions{Summarizer: s})
	require.NoError(t, err)
	assert.Equal(t, winnow.Usage{Input: math.MaxInt, Output: 7 * summary.Calls}, summary.Usage, "sums do not wrap")
}

// A summarizer of one's own says what its answers were billed for.
func ExampleReportUsage() {
	s := winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		winnow.ReportUsage(ctx, winnow.Usage{Input: 1_200, Output: 80}) // from the answer of the API
		return "## Goal\nFind the bug.", nil
	})
	history := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: strings.Repeat("Find the bug. ", 50)}}}}
	summary := must(winnow.SummarizeInStages(context.Background(), history, &winnow.SummarizeOptions{Summarizer: s}))
	fmt.Println(summary.Calls, summary.Usage.Prompt(), summary.Usage.Output)
	// Output: 1 1200 80
}
