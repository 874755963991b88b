package winnow_test

import (
	"context"
	"errors"
	"fmt"
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
