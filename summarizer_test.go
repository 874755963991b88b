package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// flaky is a summarizer that fails with err while it is set, and counts.
type flaky struct {
	name  string
	err   error
	calls int
}

func (f *flaky) Summarize(context.Context, winnow.SummaryRequest) (string, error) {
	f.calls++
	return f.name, f.err
}

func TestFirstOfRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &flaky{name: "a", err: errors.New("429 too many requests")}
		b := &flaky{name: "b"}
		s := winnow.FirstOf(time.Minute, a, nil, b)
		ask := func() string {
			text, err := s.Summarize(t.Context(), winnow.SummaryRequest{})
			require.NoError(t, err)
			return text
		}
		assert.Equal(t, "b", ask())
		assert.Equal(t, "b", ask())
		assert.Equal(t, 1, a.calls, "it rests")
		time.Sleep(time.Minute)
		a.err = nil
		assert.Equal(t, "a", ask(), "it is back")
		a.err = errors.New("connection reset by peer")
		assert.Equal(t, "b", ask())
		assert.Equal(t, "b", ask())
		assert.Equal(t, 4, a.calls, "a passing error is no reason to rest")

		a.err, b.err = errors.New("quota exceeded"), errors.New("401 unauthorized")
		_, err := s.Summarize(t.Context(), winnow.SummaryRequest{})
		require.ErrorContains(t, err, "quota exceeded")
		require.ErrorContains(t, err, "401")
		calls := a.calls
		time.Sleep(time.Second)
		_, err = s.Summarize(t.Context(), winnow.SummaryRequest{})
		require.Error(t, err)
		assert.Equal(t, calls+1, a.calls, "while all rest, the one that is free soonest is asked")
	})
}

// A digest that stood in is replaced by the next summary of a model: it must be known for one.
func TestFirstOfTellsOfADigest(t *testing.T) {
	a := &flaky{name: "## Goal\nby a model", err: errors.New("401 unauthorized")}
	for _, tc := range []struct {
		err      error
		degraded string
	}{{errors.New("401 unauthorized"), "summarizer: auth"}, {nil, ""}} {
		a.err = tc.err
		sum, err := winnow.SummarizeInStages(t.Context(), agentSession(5, 100), &winnow.SummarizeOptions{Summarizer: winnow.FirstOf(0, a, winnow.Digest())})
		require.NoError(t, err)
		assert.Equal(t, tc.degraded, sum.Degraded)
	}
}

func TestFirstOfEnds(t *testing.T) {
	_, err := winnow.FirstOf(time.Second).Summarize(t.Context(), winnow.SummaryRequest{})
	require.Error(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	a := winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) { cancel(); return "", errors.New("429") })
	b := &flaky{name: "b"}
	_, err = winnow.FirstOf(time.Second, a, b).Summarize(ctx, winnow.SummaryRequest{})
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, b.calls, "nobody is asked after ctx has ended")
	_, err = winnow.FirstOf(-1, winnow.SummarizerFunc(nil)).Summarize(t.Context(), winnow.SummaryRequest{})
	require.ErrorContains(t, err, "the summarizer panicked: ")
}

func TestFirstOfIsSafe(t *testing.T) {
	down := winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) { return "", errors.New("rate limit") })
	s := winnow.FirstOf(time.Microsecond, down, down, winnow.Digest())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				_, _ = s.Summarize(context.Background(), winnow.SummaryRequest{Messages: agentSession(1, 10)})
			}
		})
	}
	wg.Wait()
}

func ExampleFirstOf() {
	limited := winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) {
		return "", errors.New("status 429: rate limit reached")
	})
	backup := winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) {
		return "## Goal\nShip it.", nil
	})
	text, err := winnow.FirstOf(10*time.Minute, limited, backup).Summarize(context.Background(), winnow.SummaryRequest{})
	fmt.Println(text, err)
	// Output:
	// ## Goal
	// Ship it. <nil>
}

// TestSummarizerHasOneBound: slow calls in a row, each within its own time, end together; then the digest stands in, and
// the request says why.
func TestSummarizerHasOneBound(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    winnow.CompactOptions
		each time.Duration // a call takes
		most time.Duration // Prepare may take
		why  string
	}{
		{"healthy, but slow", winnow.CompactOptions{SummarizerWindow: 6_000}, 2 * time.Minute, 6 * time.Minute, "timeout"},
		{"the host's own", winnow.CompactOptions{SummarizerWindow: 6_000, TotalTimeout: time.Minute}, 25 * time.Second, time.Minute, "timeout"},
		{"fast enough", winnow.CompactOptions{SummarizerWindow: 6_000}, time.Second, 6 * time.Minute, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				s := winnow.SummarizerFunc(func(ctx context.Context, _ winnow.SummaryRequest) (string, error) {
					calls++
					select {
					case <-time.After(tt.each):
						return "## Goal\nto go on", nil
					case <-ctx.Done():
						return "", ctx.Err()
					}
				})
				m := newManager(t, 30_000, &winnow.Options{Summarizer: s, Compact: &tt.o})
				began := time.Now()
				r := prepare(t, m, talkOf(120))
				require.NotNil(t, r.Compaction)
				assert.Equal(t, tt.why, r.Degraded)
				assert.LessOrEqual(t, time.Since(began), tt.most+time.Second)
				assert.Greater(t, calls, 2, "the test proves something")
			})
		})
	}
}

// talkOf is a talk in which nothing but a summary makes room.
func talkOf(n int) (h []winnow.Message) {
	for i := range n {
		h = append(h, user("Question "+itoa(i)+": "+asciiText[i*31%9_000:][:300]), assistant(asciiText[i*17%9_000:][:900]))
	}
	return append(h, user("And now?"))
}

// TestSummaryIsRefusedWithItsRule: what a unit test's fake says is accepted or refused by a rule that the error, the
// report and the request name.
func TestSummaryIsRefusedWithItsRule(t *testing.T) {
	t.Parallel()
	history := talkOf(40)
	history[0].Parts[0].Text += " Mend the parser in src/parse.go, whose tests fail."
	for _, tt := range []struct{ answer, rule, reason string }{
		{"## Goal\nMend it.", "", "it has a section that was asked for"},
		{"The parser is mended, and its tests no longer fail.", "", "plain prose about the conversation"},
		{"src/parse.go is done", "", "a name of the conversation"},
		{"summary", "refused: it says nothing of the conversation", "a word"},
		{"This is a summary of all that happened so far.", "refused: it says nothing of the conversation", "prose about nothing"},
		{"", "refused: it is empty", "nothing"},
	} {
		s, err := winnow.SummarizeInStages(t.Context(), history, &winnow.SummarizeOptions{Summarizer: answers(tt.answer)})
		require.NotNil(t, s)
		assert.Equal(t, tt.rule, s.Degraded, "%q: %s", tt.answer, tt.reason)
		if tt.rule == "" {
			require.NoError(t, err, tt.answer)
			continue
		}
		assert.ErrorIs(t, err, winnow.ErrIncomplete, tt.answer)
		assert.ErrorContains(t, err, tt.rule[len("refused: "):], tt.answer)
		m := newManager(t, 9_000, &winnow.Options{Summarizer: answers(tt.answer)})
		assert.Equal(t, tt.rule, prepare(t, m, history).Degraded, tt.answer)
	}
	none := prepare(t, newManager(t, 9_000, nil), history)
	assert.Equal(t, "no summarizer", none.Degraded)
	down := errors.New("529 overloaded_error")
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, 9_000, &winnow.Options{Summarizer: winnow.SummarizerFunc(
			func(context.Context, winnow.SummaryRequest) (string, error) { return "", down })})
		r := prepare(t, m, history)
		assert.Equal(t, "summarizer: overloaded", r.Degraded)
		again := newManager(t, 9_000, nil)
		require.NoError(t, again.Restore([]byte(snapshotOf(t, m))))
		assert.Equal(t, r.Degraded, prepare(t, again, history).Degraded, "after a restart too")
	})
}

// TestNilEstimatorHoldsChinese: limits in tokens hold without an Estimator where a character is a token.
func TestNilEstimatorHoldsChinese(t *testing.T) {
	exact, err := winnow.TiktokenEstimator("o200k_base")
	require.NoError(t, err)
	sentence := "错误:模块“订单服务”找不到类型定义,请先在仓库里运行构建命令,再检查配置文件。"
	h := list(userSays("请修复构建。"), call("call_1", "exec", `{}`), toolOf("call_1", "exec", strings.Repeat(sentence, 400)))
	cut, edits := winnow.TruncateToolResults(h, 8_000, nil)
	require.Len(t, edits, 1)
	assert.LessOrEqual(t, exact.Estimate(cut[2]), 8_000*3/10)
	var talk []winnow.Message
	for i := range 40 {
		talk = append(talk, userSays(itoa(i)+strings.Repeat(sentence, 12)), modelSays(strings.Repeat(sentence, 8)))
	}
	requests := 0
	s := winnow.SummarizerFunc(func(_ context.Context, r winnow.SummaryRequest) (string, error) {
		requests++
		tokens := exact.Estimate(userSays(r.System())) + exact.Estimate(userSays(r.Prompt())) + r.MaxTokens
		assert.LessOrEqual(t, tokens, 8_000)
		return "## Goal\n修复构建", nil
	})
	_, err = winnow.SummarizeInStages(t.Context(), talk, &winnow.SummarizeOptions{Summarizer: s, Window: 8_000})
	require.NoError(t, err)
	assert.Greater(t, requests, 2)
}
