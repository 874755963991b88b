package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// questions is a conversation of n turns with long answers.
func questions(n int) (history []winnow.Message) {
	for i := range n {
		history = append(history, user(fmt.Sprint("Question ", i)), assistant(fmt.Sprintf("Answer %d. %s", i, strings.Repeat("And so on. ", 60))))
	}
	return append(history, user("Go on."))
}

// A plan for another history, which shows that a recovery came to nothing, changes nothing.
func TestPlanHasNoEffect(t *testing.T) {
	flushes := 0
	m, err := winnow.New(4_000, &winnow.Options{
		Compact: &winnow.CompactOptions{KeepRecent: 500, SoftThreshold: 2_000, BeforeCompact: func(context.Context, []winnow.Message) error {
			flushes++
			return nil
		}},
		Summarizer: winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) {
			return "## Goal\nAnswer the questions.", nil
		}),
	})
	require.NoError(t, err)
	history := questions(8)
	r, err := m.Prepare(t.Context(), history)
	require.NoError(t, err)
	require.Nil(t, r.Compaction)
	require.Equal(t, 1, flushes, "a compaction is near")
	r, err = m.Recover(t.Context(), history, errors.New("400 prompt is too long: 2600 tokens > 2000 maximum"))
	require.NoError(t, err)
	require.NotNil(t, r.Compaction)
	before, err := m.Snapshot()
	require.NoError(t, err)
	m.Plan(append(history[:len(history):len(history)], user("And another thing.")))
	m.Plan([]winnow.Message{user("Another conversation.")})
	after, err := m.Snapshot()
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
	was := flushes
	history = append(history, assistant("Yes."))
	for i := 0; i < 20 && flushes == was; i++ {
		history = append(history, questions(3)[:6]...)
		if _, err = m.Prepare(t.Context(), append(history[:len(history):len(history)], user("Go on."))); err != nil {
			break
		}
	}
	assert.Greater(t, flushes, was, "the next compaction has a flush of its own")
}

// In another window an open recovery is undone. What the journal is given then follows both the state that was restored
// and the one that it became.
func TestJournalBehindAnotherWindow(t *testing.T) {
	t.Parallel()
	opened := 0
	for steps := 6; steps < 40; steps += 3 {
		for refused := 3_000; refused < 7_000; refused += 1_000 {
			for _, above := range []float64{1, -1} {
				opened += testAnotherWindow(t, steps, refused, above)
			}
		}
	}
	assert.Greater(t, opened, 10)
}

func testAnotherWindow(t *testing.T, steps, refused int, above float64) int {
	var deltas [][]byte
	options := func() *winnow.Options {
		return &winnow.Options{
			FoldAbove: above, Compact: &winnow.CompactOptions{KeepRecent: 500},
			Now: func() time.Time { return time.Unix(1_700_000_000, 0) },
			Summarizer: winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) {
				return "## Goal\nRead the files.", nil
			}),
			Journal: func(delta []byte) error {
				deltas = append(deltas, delta)
				return nil
			},
		}
	}
	m, err := winnow.New(8_000, options())
	require.NoError(t, err)
	var history []winnow.Message
	for n := range steps {
		history = append(history, stepOfNames(n, fmt.Sprint("call_", n), false)...)
		_, err = m.Prepare(t.Context(), history)
		require.NoError(t, err)
	}
	cause := fmt.Errorf("400 prompt is too long: %d tokens > %d maximum", refused+900, refused)
	if _, err = m.Recover(t.Context(), history, cause); err != nil {
		return 0
	}
	old, err := m.Snapshot()
	require.NoError(t, err)

	m, err = winnow.New(5_000, options())
	require.NoError(t, err)
	require.NoError(t, m.Restore(old))
	became, err := m.Snapshot()
	require.NoError(t, err)
	deltas = nil
	for n := range 4 {
		history = append(history, stepOfNames(steps+n, fmt.Sprint("call_", steps+n), false)...)
		_, err = m.Prepare(t.Context(), history)
		require.NoError(t, err)
		want, err := m.Snapshot()
		require.NoError(t, err)
		for name, state := range map[string][]byte{"the state that was restored": old, "what it became": became} {
			again, err := winnow.New(5_000, options())
			require.NoError(t, err)
			require.NoError(t, again.Restore(state, deltas...))
			is, err := again.Snapshot()
			require.NoError(t, err)
			require.Equal(t, string(want), string(is), "%s, %d deltas, %d steps, %d refused, %s", name, len(deltas), steps, refused, above)
		}
	}
	return 1
}
