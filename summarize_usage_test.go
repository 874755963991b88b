package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

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
		request, err := m.Compact(t.Context(), history, "")
		require.NoError(t, err)
		require.Positive(t, calls)
		assert.Equal(t, winnow.Usage{Input: 100 * calls, CacheRead: 10 * calls, CacheWrite: calls, Output: 20 * calls}, request.Compaction.Usage)
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
	summary, err := winnow.SummarizeInStages(context.Background(), history, &winnow.SummarizeOptions{Summarizer: s})
	if err != nil {
		panic(err)
	}
	fmt.Println(summary.Calls, summary.Usage.Prompt(), summary.Usage.Output)
	// Output: 1 1200 80
}
