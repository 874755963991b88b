package winnow

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the tests of the package need from inside.

const MaxRetries = maxRetries

var FlushDue = flushDue

// Settings are the options that m goes by, all of them set, and its window.
func (m *Manager) Settings() (Options, int) { return m.opts, m.window }

// HandleOf returns the handle of message i of a history.
func HandleOf(m *Manager, history []Message, i int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return handlesOf(m.begin(history, nil).newDraft().facts).Of(i)
}

// SharedDir returns the directory of the data that stays outside the project (recorded sessions, samples
// counted by true tokenizers): $WINNOW_SHARED, or ../shared. It skips the test if neither exists.
func SharedDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("WINNOW_SHARED")
	if dir == "" {
		dir = "../shared"
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no shared data (set WINNOW_SHARED): %v", err)
	}
	return dir
}

// The helpers of package winnow_test that tests inside of the package use too.

var EstimatorOf, ManagerOf, RequestOf, CompactedBy = estimatorOf, newManager, prepare, compact

func estimatorOf(t testing.TB, family string) Estimator {
	t.Helper()
	e, err := NewEstimator(family)
	require.NoError(t, err)
	return e
}

func newManager(t testing.TB, window int, o *Options) *Manager {
	t.Helper()
	m, err := New(window, o)
	require.NoError(t, err)
	return m
}

func prepare(t testing.TB, m *Manager, h []Message) *Request {
	t.Helper()
	r, err := m.Prepare(t.Context(), h)
	require.NoError(t, err)
	require.LessOrEqual(t, r.Tokens, r.Budget)
	return r
}

// compact is a request behind a compaction by hand.
func compact(t testing.TB, m *Manager, h []Message) *Request {
	t.Helper()
	r, err := m.Compact(t.Context(), h, "")
	require.NoError(t, err)
	return r
}

func snapshotOf(t testing.TB, m *Manager) []byte {
	t.Helper()
	state, err := m.Snapshot()
	require.NoError(t, err)
	return state
}

func inStages(t testing.TB, h []Message, o *SummarizeOptions) *Summary {
	t.Helper()
	summary, err := SummarizeInStages(t.Context(), h, o)
	require.NotNil(t, summary, "%v", err)
	if err != nil {
		require.NotEmpty(t, summary.Degraded, "the error is that nothing was made by the summarizer")
	}
	return summary
}

// answers is a summarizer that says the same whatever it is asked.
func answers(text string) SummarizerFunc {
	return func(context.Context, SummaryRequest) (string, error) { return text, nil }
}
