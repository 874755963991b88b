package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

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
	m.Parts = append(m.Parts, winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Bytes: size})
	return m
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

func TestRecoverShrinksUntilNothingIsLeft(t *testing.T) {
	ctx := context.Background()
	calls := 0
	m, err := winnow.New(20_000, &winnow.Options{Summarizer: winnow.SummarizerFunc(func(ctx context.Context, r winnow.SummaryRequest) (string, error) {
		calls++
		return winnow.Digest().Summarize(ctx, r)
	})})
	require.NoError(t, err)
	h := longSession()
	r, err := m.Prepare(ctx, h)
	require.NoError(t, err)
	seen := map[string]bool{fmt.Sprintf("%+v", r.Messages): true}
	for n := 0; ; n++ {
		require.Less(t, n, 10, "it never gives up")
		next, err := m.Recover(ctx, h, errNoNumbers)
		if err != nil {
			var full *winnow.OverflowError
			require.ErrorAs(t, err, &full)
			require.ErrorIs(t, err, errNoNumbers)
			require.ErrorIs(t, err, winnow.ErrOverflow)
			assert.Contains(t, err.Error(), "larger context window")
			break
		}
		assert.Less(t, next.Tokens, r.Tokens)
		payload := fmt.Sprintf("%+v", next.Messages)
		assert.False(t, seen[payload], "the same request again")
		assert.Contains(t, payload, "And now the last one.")
		assert.Contains(t, payload, "You are careful.")
		seen[payload], r = true, next
	}
	assert.Greater(t, len(seen), 2, "several rungs were tried")
	assert.Positive(t, calls)
}

func TestRecoverLeavesOtherErrorsAlone(t *testing.T) {
	ctx := context.Background()
	for _, cause := range []error{
		errors.New("429 Too Many Requests"),
		errors.New("401 invalid x-api-key"),
		errors.New("max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for this model"),
		context.Canceled,
		fmt.Errorf("post: %w", context.DeadlineExceeded),
	} {
		m, err := winnow.New(20_000, nil)
		require.NoError(t, err)
		h := longSession()
		want, err := m.Prepare(ctx, h)
		require.NoError(t, err)
		_, err = m.Recover(ctx, h, cause)
		require.ErrorIs(t, err, cause)
		assert.NotErrorIs(t, err, winnow.ErrOverflow)
		again, err := m.Prepare(ctx, h)
		require.NoError(t, err)
		sameMessages(t, want.Messages, again.Messages, "nothing happened")
	}
}

// Where compaction is off, Recover cuts and clears, and at the end says what fills the window. No digest stands in.
func TestRecoverCompactsNothingWhereCompactionIsOff(t *testing.T) {
	ctx := context.Background()
	talk := list(userSays("Begin."))
	for i := range 60 {
		talk = append(talk, modelSays(numbered(30)), userSays("Question "+itoa(i)))
	}
	for _, h := range [][]winnow.Message{talk, longSession()} {
		s := says("## Goal\nto go on")
		m, err := winnow.New(100_000, &winnow.Options{Summarizer: s, Compact: &winnow.CompactOptions{
			Off: true, Background: true, BeforeCompact: func(context.Context, []winnow.Message) error { return errors.New("called") },
		}})
		require.NoError(t, err)
		prepare(t, m, h)
		recovered := 0
		for err == nil {
			var r *winnow.Request
			if r, err = m.Recover(ctx, h, errNoNumbers); err == nil {
				recovered++
				require.Nil(t, r.Compaction)
				require.Equal(t, -1, summaryAt(r.Messages))
			}
		}
		var full *winnow.OverflowError
		require.ErrorAs(t, err, &full)
		assert.Zero(t, s.count())
		assert.Equal(t, holdsResults(h), recovered > 0, "results can be cut, words cannot")
		r, err := m.Compact(ctx, h, "")
		require.NoError(t, err, "by hand it compacts all the same")
		require.NotNil(t, r.Compaction)
		require.NoError(t, m.Close())
	}
}

func holdsResults(h []winnow.Message) bool {
	return slices.ContainsFunc(h, func(m winnow.Message) bool { return m.Role == winnow.RoleTool })
}

func TestFailedCompactionIsNotTheEnd(t *testing.T) {
	ctx := context.Background()
	broken := errors.New("503 service unavailable")
	var h []winnow.Message
	for i := range 60 {
		h = append(h, userSays("Question "+itoa(i)), modelSays(numbered(30)))
	}
	h = append(h, userSays("last"))
	m, err := winnow.New(100_000, &winnow.Options{
		Summarizer: winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) { return "", broken }),
		Compact:    &winnow.CompactOptions{Attempts: 1},
	})
	require.NoError(t, err)
	_, err = m.Prepare(ctx, h)
	require.NoError(t, err)
	r, err := m.Recover(ctx, h, errNoNumbers)
	require.NoError(t, err)
	assert.True(t, r.Degraded, "the digest stands in")
}

func TestRecoverBytes(t *testing.T) {
	ctx := context.Background()
	var h []winnow.Message
	for i := range 8 {
		h = append(h, withImage(userSays("Picture "+itoa(i)), 1<<20), modelSays("I see."))
	}
	h = append(h, withImage(userSays("And this one?"), 1<<20))
	m, err := winnow.New(1_000_000, nil)
	require.NoError(t, err)
	first, err := m.Prepare(ctx, h)
	require.NoError(t, err)
	r, err := m.Recover(ctx, h, errors.New("413 request_too_large: Request exceeds the maximum size"))
	require.NoError(t, err)
	n, size := imagesOf(r.Messages)
	assert.Less(t, n, 9)
	assert.Less(t, size, 9<<20*7/10+1)
	assert.Nil(t, r.Compaction, "tokens are not the matter")
	assert.Equal(t, first.Budget, r.Budget, "and neither is the window")
	assert.Equal(t, h[len(h)-1].Parts, r.Messages[len(r.Messages)-1].Parts, "the newest request stays whole")
	assert.Contains(t, fullText(r.Messages[0]), "Image left out", "the oldest goes first")
	assert.NotEmpty(t, r.Edits)

	more := append(h[:len(h):len(h)], modelSays("Yes."), userSays("Thanks."))
	next, err := m.Prepare(ctx, more)
	require.NoError(t, err)
	again, _ := imagesOf(next.Messages)
	assert.Equal(t, n, again, "what was left out stays out")
}

func TestMaxBytes(t *testing.T) {
	ctx := context.Background()
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
		m, err := winnow.New(200_000, &winnow.Options{MaxBytes: c.most})
		require.NoError(t, err)
		r, err := m.Prepare(ctx, h)
		if c.fails {
			var full *winnow.OverflowError
			require.ErrorAs(t, err, &full)
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

func TestRecoverAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	m, err := winnow.New(20_000, nil)
	require.NoError(t, err)
	h := longSession()
	_, err = m.Prepare(ctx, h)
	require.NoError(t, err)
	cancel()
	_, err = m.Recover(ctx, h, errNoNumbers)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, errNoNumbers)
	_, err = m.Recover(context.Background(), h, nil)
	require.Error(t, err)
}

// A request without messages is one that was made: there is nothing smaller to send.
func TestRecoverOfNothing(t *testing.T) {
	m, err := winnow.New(20_000, nil)
	require.NoError(t, err)
	for _, cause := range []error{errNoNumbers, errors.New("413 Request Entity Too Large")} {
		calls := 0
		_, _, err = winnow.Do(t.Context(), m, nil, func(context.Context, []winnow.Message) (int, error) {
			calls++
			return 0, cause
		})
		require.ErrorIs(t, err, winnow.ErrOverflow)
		assert.Equal(t, 1, calls, "no request is returned twice")
	}
}

// A host may ask Prepare only after a refusal. What was refused is then its whole history, and not what Prepare would
// have made of it.
func TestRecoverAsTheFirstCall(t *testing.T) {
	h := longSession()
	for i := range 40 {
		id := "more_" + itoa(i)
		h = append(h, modelCalls(id), toolSays(id, numbered(150)))
	}
	size := sumOf(winnow.CharsPerToken(4), h)
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
			r, err := m.Recover(t.Context(), h, tt.cause)
			require.NoError(t, err)
			assert.Equal(t, want.Budget, r.Budget, "the refusal says nothing about a request within the window")
			assert.Equal(t, want.Tokens, r.Tokens)
		})
	}
}

// An *OverflowError is the end of a ladder: this manager's, or that of another that the call was about.
func TestRecoverLeavesOverflowErrors(t *testing.T) {
	ctx := context.Background()
	inner, err := winnow.New(2_000, nil)
	require.NoError(t, err)
	_, ended := inner.Prepare(ctx, list(userSays(numbered(2_000))))
	var full *winnow.OverflowError
	require.ErrorAs(t, ended, &full)
	full.Err = errors.New("prompt is too long: 9000 tokens > 2000 maximum")

	m, err := winnow.New(20_000, nil)
	require.NoError(t, err)
	h := longSession()
	calls := 0
	_, _, err = winnow.Do(ctx, m, h, func(context.Context, []winnow.Message) (int, error) { calls++; return 0, ended })
	assert.True(t, err == ended, "as it is")
	assert.Equal(t, 1, calls)
	before, err := m.Snapshot()
	require.NoError(t, err)
	_, err = m.Recover(ctx, h, fmt.Errorf("sub-agent: %w", ended))
	require.ErrorIs(t, err, ended)
	after, err := m.Snapshot()
	require.NoError(t, err)
	assert.Equal(t, before, after, "nothing is learned from it")
}

// Anthropic names the rate and not the size of the request. One that is larger than the rate is never taken.
func TestRequestsAboveARateAreMadeSmaller(t *testing.T) {
	ctx := context.Background()
	limited := errors.New("429 rate_limit_error: This request would exceed your organization's rate limit of 10,000 input tokens per minute. Please try again later.")
	m, err := winnow.New(40_000, &winnow.Options{Tools: keepAll, NoMinify: true})
	require.NoError(t, err)
	var sizes []int
	call := func(_ context.Context, messages []winnow.Message) (int, error) {
		n := 0
		for i := range messages {
			n += winnow.CharsPerToken(4).Estimate(messages[i])
		}
		sizes = append(sizes, n)
		return n, limited
	}
	_, r, err := winnow.Do(ctx, m, longSession(), call)
	assert.True(t, err == limited, "then it is a matter of time: %v", err)
	require.Equal(t, 2, len(sizes))
	assert.Greater(t, sizes[0], 10_000)
	assert.Less(t, sizes[1], 10_000)
	assert.LessOrEqual(t, r.Tokens, 10_000)
	_, _, err = winnow.Do(ctx, m, longSession(), call)
	assert.True(t, err == limited)
	assert.Equal(t, 3, len(sizes), "the limit is known")
}

// A request within the limit that was told is tried before nothing is, though it leaves little for the answer.
func TestRecoverUsesAllThatIsAllowed(t *testing.T) {
	ctx := context.Background()
	h := list(userSays(numbered(40)), modelSays("Yes."), userSays(numbered(700)))
	m, err := winnow.New(20_000, nil)
	require.NoError(t, err)
	first, err := m.Prepare(ctx, h)
	require.NoError(t, err)
	told := first.Tokens - 50 // the newest request alone is less, and more than three quarters of it
	cause := fmt.Errorf("prompt is too long: %d tokens > %d maximum", first.Tokens, told)
	r, err := m.Recover(ctx, h, cause)
	require.NoError(t, err)
	assert.Equal(t, "smallest", r.Rung)
	assert.LessOrEqual(t, r.Tokens, told)
	assert.Equal(t, told, r.Budget)
	_, err = m.Recover(ctx, h, cause)
	require.ErrorIs(t, err, winnow.ErrOverflow)
}

// What is told when nothing helps is about what fills the request, not about a limit that was guessed.
func TestOverflowErrorSaysWhatIsKnown(t *testing.T) {
	h := list(systemSays("You are careful."), userSays(numbered(200)))
	m := newManager(t, 20_000, nil)
	prepare(t, m, h)
	_, err := m.Recover(t.Context(), h, errNoNumbers)
	var full *winnow.OverflowError
	require.ErrorAs(t, err, &full)
	assert.Equal(t, 15_000, full.Budget, "the window without the reserve")
	assert.ErrorContains(t, err, "is refused")
	assert.Equal(t, 15_000, prepare(t, m, h).Budget, "and it is tried again when the host asks again")
}

// Tokens that the call reserves for the answer are the caller's: the window is what the provider says it is.
func TestRoomForTheAnswerIsReported(t *testing.T) {
	ctx := context.Background()
	m, err := winnow.New(200_000, nil)
	require.NoError(t, err)
	h := list(userSays(numbered(800)))
	_, err = m.Prepare(ctx, h)
	require.NoError(t, err)
	_, err = m.Recover(ctx, h, errors.New("input length and `max_tokens` exceed context limit: 9000 + 8000 > 16000, decrease input length or `max_tokens` and try again"))
	var full *winnow.OverflowError
	require.ErrorAs(t, err, &full)
	assert.Equal(t, 8_000, full.Answer)
	assert.Equal(t, 8_000, full.Budget, "what the answer leaves")
	assert.Contains(t, err.Error(), "8000 reserved for the answer")
}
