package winnow_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

func TestRecoverLearns(t *testing.T) {
	ctx := context.Background()
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
			m, err := winnow.New(20_000, &winnow.Options{Tools: keepAll})
			require.NoError(t, err)
			first, err := m.Prepare(ctx, h)
			require.NoError(t, err)
			next, err := m.Recover(ctx, h, c.cause)
			require.NoError(t, err)
			assert.Less(t, estimateAll(byChars, next.Messages), estimateAll(byChars, first.Messages))
			assert.LessOrEqual(t, next.Tokens, c.most)

			state, err := m.Snapshot()
			require.NoError(t, err)
			moved, err := winnow.New(20_000, &winnow.Options{Tools: keepAll})
			require.NoError(t, err)
			require.NoError(t, moved.Restore(state))
			longer := append(h[:len(h):len(h)], modelCalls("more"), toolSays("more", strings.Repeat("more of it\n", 900)), userSays("So?"))
			for name, m := range map[string]*winnow.Manager{"here": m, "restored": moved} {
				r, err := m.Prepare(ctx, longer)
				require.NoError(t, err, name)
				assert.LessOrEqual(t, r.Tokens, c.most, "%s: what was learned is used", name)
				assert.LessOrEqual(t, r.Budget, c.most, name)
			}
		})
	}
}

func TestErrorMatcherOption(t *testing.T) {
	ctx := context.Background()
	strange := errors.New("E4711")
	m, err := winnow.New(20_000, &winnow.Options{ErrorMatcher: func(err error) (winnow.ErrorInfo, bool) {
		return winnow.ErrorInfo{Class: winnow.ErrorOverflow, Limit: 8_000}, errors.Is(err, strange)
	}})
	require.NoError(t, err)
	calls := 0
	_, r, err := winnow.Do(ctx, m, longSession(), func(context.Context, []winnow.Message) (int, error) {
		if calls++; calls == 1 {
			return 0, strange
		}
		return calls, nil
	})
	require.NoError(t, err)
	assert.Equal(t, 2, calls)
	assert.LessOrEqual(t, r.Tokens, 8_000)
}

// What a refusal said is true although nobody waits any more: the same request is not sent again.
func TestRecoverAfterTheEndLearns(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	m, err := winnow.New(20_000, nil)
	require.NoError(t, err)
	h := longSession()
	r, err := m.Prepare(ctx, h)
	require.NoError(t, err)
	cancel()
	_, err = m.Recover(ctx, h, errors.New("prompt is too long: 19000 tokens > 9000 maximum"))
	require.ErrorIs(t, err, context.Canceled)
	next, err := m.Prepare(context.Background(), h)
	require.NoError(t, err)
	assert.Less(t, next.Tokens, r.Tokens)
	assert.LessOrEqual(t, next.Budget, 9_000)
}
