package winnow_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// The provider said "too long": smaller requests, each another one, until one is taken or nothing is left.

var errTooLong = errors.New("prompt is too long: 213462 tokens > 200000 maximum")

// payload is all that a provider is sent of messages.
func payload(messages []winnow.Message) string {
	b := ""
	for i := range messages {
		b += sketch(messages[i:i+1]) + fullText(messages[i]) + "\x00"
	}
	return b
}

// keepAll has no tool's work become stale, so that the first request is the whole history.
var keepAll = &winnow.ToolOptions{Keep: []string{"*"}}

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
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newManager(t, 200_000, &winnow.Options{Estimator: byChars, Now: newClock().Now, FoldAbove: tt.above})
			before := deepCopy(tt.h)
			last := prepare(t, m, tt.h)
			sent := map[string]bool{payload(last.Messages): true}
			for n := 1; ; n++ {
				require.Less(t, n, 20, "it never gives up")
				r, err := m.Recover(t.Context(), tt.h, tt.cause)
				sameMessages(t, before, tt.h, "the history was written to")
				if err != nil {
					require.Greater(t, n, 1, "nothing was tried")
					var e *winnow.OverflowError
					require.ErrorAs(t, err, &e)
					require.ErrorIs(t, err, winnow.ErrOverflow)
					require.ErrorIs(t, err, tt.cause, "the provider's error is wrapped")
					assert.Contains(t, err.Error(), tt.cause.Error())
					return
				}
				require.Less(t, r.Tokens, last.Tokens, "request %d", n)
				require.NotEmpty(t, r.Rung)
				require.False(t, sent[payload(r.Messages)], "request %d was sent before", n)
				sent[payload(r.Messages)] = true
				require.Equal(t, firstDifference(last.Messages, r.Messages), r.FirstChanged)
				requestCheck{estimator: byChars}.check(t, tt.h, r)
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
		{"cancelled call", t.Context(), context.Canceled},
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
