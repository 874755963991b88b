package winnow_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// What holds for every compaction, over random histories and recorded ones.

// within is a summarizer that fails the test where a call is above its window, or holds what it must not.
func within(t testing.TB, window int, e winnow.Estimator, calls *atomic.Int64) winnow.Summarizer {
	count := func(s string) int { return e.Estimate(userSays(s)) }
	return winnow.SummarizerFunc(func(_ context.Context, r winnow.SummaryRequest) (string, error) {
		n := calls.Add(1)
		if used := count(r.System()) + count(r.Prompt()) + r.MaxTokens; used > window {
			t.Errorf("a call of %d tokens for a window of %d", used, window)
		}
		for i := range r.Messages {
			if m := &r.Messages[i]; m.Details != nil || m.Source != nil {
				t.Errorf("message %d has details or a source", i)
			}
		}
		return fmt.Sprintf("## Goal\nSummary %d.\n\n## Critical Context\n- part of %d messages", n, len(r.Messages)), nil
	})
}

// grow prepares ever longer beginnings of h, as a host does, and returns how often it was compacted.
func grow(t testing.TB, m *winnow.Manager, h []winnow.Message, step int) (compactions int) {
	t.Helper()
	for n := min(step, len(h)); ; n = min(n+step, len(h)) {
		for n < len(h) && h[n].Role == winnow.RoleTool { // a host asks when all results are there
			n++
		}
		r, err := m.Prepare(context.Background(), h[:n])
		if err != nil {
			require.ErrorIs(t, err, winnow.ErrOverflow)
		} else {
			require.LessOrEqual(t, r.Tokens, r.Budget)
			checkEdits(t, h[:n], r)
			checkVerbatim(t, h[:n], r.Messages)
			if r.Compaction != nil {
				compactions++
			}
		}
		if n == len(h) {
			return compactions
		}
	}
}

func TestCompactionPropertiesRandom(t *testing.T) {
	t.Parallel()
	e := winnow.CharsPerToken(4)
	var calls atomic.Int64
	compactions := 0
	for seed := range count(70, 80) {
		h := named(randomHistory(uint64(7_000_000 + seed)))
		if !validText(h) {
			continue
		}
		window := max(1_200, estimateAll(e, h)/2)
		summarizer := []int{4_000, 7_000, 16_000, 200_000, 2_000_000}[seed%5]
		m := newManager(t, window, &winnow.Options{
			Summarizer: within(t, summarizer, e, &calls), Estimator: e, Reserve: window / 8,
			Compact: &winnow.CompactOptions{SummarizerWindow: summarizer, Rules: func() string { return "Be careful." }},
		})
		compactions += grow(t, m, h, 1+seed%7)
	}
	assert.Greater(t, compactions, 20, "the test says nothing if nothing is compacted")
	assert.Positive(t, calls.Load())
}

func TestCompactionPropertiesRecorded(t *testing.T) {
	e := estimatorOf(t, "")
	recordedSessions(t, sized(18, 12), func(t *testing.T, name string, h []winnow.Message) {
		for i := range h {
			h[i].Pinned = i%97 == 5 && h[i].Role == winnow.RoleUser && len(fullText(h[i])) < 2_000
		}
		for _, window := range []int{16_000, 48_000} {
			var calls atomic.Int64
			m := newManager(t, window, &winnow.Options{Summarizer: within(t, window, e, &calls)})
			if n := grow(t, m, h, 12); n > 0 {
				t.Logf("%s in %d: %d compactions, %d calls", name, window, n, calls.Load())
			}
		}
	})
}
