package winnow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/jsontext"
)

func TestSummarizeInStagesContext(t *testing.T) {
	blocks := SummarizerFunc(func(ctx context.Context, _ SummaryRequest) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	for _, tc := range []struct {
		name string
		s    Summarizer
		ends time.Duration
	}{
		{"before it begins", blocks, 0},
		{"within a call", blocks, 10 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(tc.ends, cancel)
				if tc.ends == 0 {
					cancel()
				}
				start := time.Now()
				for _, noDigest := range []bool{false, true} {
					run := newSummaryRun(ctx, SummarizeOptions{Summarizer: tc.s})
					run.noDigest = noDigest
					sum, err := run.run(numbered(5, 2_000))
					assert.Nil(t, sum)
					require.ErrorIs(t, err, context.Canceled)
					assert.Equal(t, noDigest, errors.Is(err, ErrCompaction))
				}
				assert.Equal(t, tc.ends, time.Since(start), "it waits no longer than ctx")
			})
		})
	}
}

func TestSummarizeInStagesTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		deaf := SummarizerFunc(func(context.Context, SummaryRequest) (string, error) { <-release; return "late", nil })
		start := time.Now()
		run := newSummaryRun(t.Context(), SummarizeOptions{Summarizer: deaf})
		run.noDigest, run.timeout = true, time.Minute
		_, err := run.run(numbered(5, 2_000))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, ErrCompaction)
		assert.Equal(t, 2*(time.Minute+lingering), time.Since(start), "one call, and one with less text")
		close(release)
	})
}

func TestSummarizeInStagesIsSafe(t *testing.T) {
	vandal := SummarizerFunc(func(_ context.Context, r SummaryRequest) (string, error) {
		for i := range r.Messages {
			r.Messages[i].Role = "nobody"
			for k := range r.Messages[i].Parts {
				r.Messages[i].Parts[k].Text = "overwritten"
				for b := range r.Messages[i].Parts[k].Arguments {
					r.Messages[i].Parts[k].Arguments[b] = 'x'
				}
			}
		}
		return "fine", nil
	})
	h := numbered(5, 100)
	h[2].Details = json.RawMessage(`{"exitCode":3,"secret":"hidden"}`)
	h[2].Source, h[2].Parts[0].Source = "source", "source"
	before, err := json.Marshal(h)
	require.NoError(t, err)
	absurd := EstimatorFunc(func(Message) int { return math.MaxInt })
	negative := EstimatorFunc(func(Message) int { return math.MinInt })
	for _, n := range []int{math.MinInt, -1, 0, 1, 100, 4_000, math.MaxInt} {
		for _, s := range []Summarizer{nil, vandal, Digest(), FirstOf(0), SummarizerFunc(nil)} {
			for _, e := range []Estimator{nil, absurd, negative} {
				o := SummarizeOptions{Summarizer: s, Window: n, MaxTokens: n, Parts: n, MinMessages: n, Estimator: e}
				sum, err := SummarizeInStages(t.Context(), h, &o)
				require.NoError(t, err)
				assert.NotEmpty(t, sum.Text)
			}
		}
	}
	after, err := json.Marshal(h)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(string(before), string(after)), "the history was written to")
	s := &scripted{}
	_, err = SummarizeInStages(t.Context(), h, &SummarizeOptions{Summarizer: s})
	require.NoError(t, err)
	for _, m := range s.reqs[0].Messages {
		assert.Nil(t, m.Details)
		assert.Nil(t, m.Source)
	}
	assert.Contains(t, s.prompts[0], "[exit code 3]")
	assert.NotContains(t, s.prompts[0], "hidden")
}

func TestSummarizeInStagesEmpty(t *testing.T) {
	sum, err := SummarizeInStages(t.Context(), nil, &SummarizeOptions{Summarizer: &scripted{}, Previous: "as it was"})
	require.NoError(t, err)
	assert.Equal(t, &Summary{Text: "as it was"}, sum)
	sum, err = SummarizeInStages(t.Context(), numbered(2, 10), nil)
	require.NoError(t, err)
	assert.True(t, sum.Degraded, "without a summarizer it is the digest")
}

func TestClipArgumentsStayJSON(t *testing.T) {
	raw := json.RawMessage(`{"path":"a.go","content":"` + strings.Repeat(`line\n\"quoted\" ünï <b> `, 2_000) + `"}`)
	m := []Message{{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: "1", Name: "write", Arguments: raw}}}}
	got := fitMessages(CharsPerToken(4), m, 300)
	require.True(t, json.Valid(got[0].Parts[0].Arguments))
	assert.LessOrEqual(t, renderedTokens(CharsPerToken(4), &got[0]), 400, "the quotes of the JSON string are escaped")
	text := jsontext.Unquote(got[0].Parts[0].Arguments)
	assert.True(t, strings.HasPrefix(text, `{"path":"a.go"`), "head")
	assert.True(t, strings.HasSuffix(text, `<b> "}`), "tail")
	assert.True(t, bytes.HasPrefix(m[0].Parts[0].Arguments, []byte(`{"path"`)), "the input is not written")
}

// An answer is judged by all that it should tell of, also where the second request for it has only a part of that.
func TestHollowAnswerOfAClippedRequest(t *testing.T) {
	history := []Message{{Role: RoleUser, Parts: []Part{{Text: "Mend src/parser.go. " + strings.Repeat("Mind the tests. ", 200)}}}}
	for _, text := range []string{
		"Could you tell me which conversation you want me to summarize?", "No summary available.",
		"Ich kann diese Anfrage leider nicht bearbeiten.", `{"action": "NO_REPLY"}`,
	} {
		s := SummarizerFunc(func(context.Context, SummaryRequest) (string, error) { return text, nil })
		sum, err := SummarizeInStages(t.Context(), history, &SummarizeOptions{Summarizer: s})
		require.NoError(t, err)
		assert.True(t, sum.Degraded, text)
		assert.Equal(t, 2, sum.Calls, text)
	}
}

func TestSafely(t *testing.T) {
	boom := errors.New("boom")
	require.NoError(t, safely("the host", func() error { return nil }))
	require.ErrorIs(t, safely("the host", func() error { return boom }), boom)
	require.EqualError(t, safely("the host", func() error { panic("lost") }), "the host panicked: lost")
}

func TestWithin(t *testing.T) {
	boom := errors.New("boom")
	for _, tc := range []struct {
		name  string
		f     func(context.Context) (string, error)
		want  string
		err   error
		after time.Duration
	}{
		{"at once", func(context.Context) (string, error) { return "yes", nil }, "yes", nil, 0},
		{"an error", func(context.Context) (string, error) { return "", boom }, "", boom, 0},
		{"it stops when told", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}, "", context.DeadlineExceeded, time.Minute},
		{"an answer that comes just too late", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "late", nil
		}, "late", nil, time.Minute},
		{"it does not stop", func(context.Context) (string, error) {
			time.Sleep(time.Hour)
			return "much too late", nil
		}, "", context.DeadlineExceeded, time.Minute + lingering},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got, err := within(t.Context(), time.Minute, tc.f)
				require.ErrorIs(t, err, tc.err)
				assert.Equal(t, tc.want, got)
				assert.Equal(t, tc.after, time.Since(start))
				time.Sleep(2 * time.Hour) // until what did not stop has ended
			})
		})
	}
}

func TestWithinEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := within(ctx, time.Minute, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 1, nil
		})
		require.ErrorIs(t, err, context.Canceled, "an answer that comes after the context has ended does not count")
	})
}

func TestWithinSurvivesGoexit(t *testing.T) {
	_, err := within(t.Context(), time.Minute, func(context.Context) (int, error) {
		runtime.Goexit()
		return 1, nil
	})
	require.EqualError(t, err, "the call ended its goroutine")
}
