package winnow_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// A history that was rewound behind its summary, but to before the request that was the newest when that was written: the
// request that is the newest now is a message, and not only part of a summary.
func TestRewoundToBeforeTheRequestOfTheSummary(t *testing.T) {
	for _, wanted := range []string{"", "the first"} {
		s := says("## Goal\nFix the build.")
		m := newManager(t, 100_000, &winnow.Options{Estimator: byChars, Summarizer: s, Now: newClock().Now, Tools: keepAll, NoMinify: true, Compact: &winnow.CompactOptions{KeepRecent: 3_000}})
		h := list(userSays("Fix the build."))
		if wanted != "" {
			h = append(h, modelSays("Which?"), userSays("The first."))
		}
		for i := range 20 {
			id := "call_" + itoa(i)
			h = append(h, modelCalls(id), toolSays(id, numbered(60)))
		}
		h = named(append(h, userSays("And the tests?"), modelSays("They pass.")))
		r, err := m.Compact(t.Context(), h, "")
		require.NoError(t, err)
		first := r.Compaction.FirstKept
		require.Greater(t, first, 4, "some of it is summarized")
		require.Less(t, first, len(h)-4, "the newest request is not")

		in := h[:first+2]
		r = prepare(t, m, in)
		require.True(t, r.Messages[0].Summary, "it stands for what is there")
		requestCheck{byChars, 0}.check(t, in, r)
		assert.Equal(t, in[newestRequest(in)], r.Messages[1])
		assert.Len(t, r.Messages, 4)
	}
}

// A request that lies before the first message that is kept, because the history was rewound to it, is sent with each
// later request too: by the manager that goes on, by its Plan and by one that was restored. What goes on from the
// last request begins with the same bytes.
func TestRewoundRequestStays(t *testing.T) {
	o := &winnow.Options{
		Estimator: byChars, Summarizer: says("## Goal\nFix the build."), Now: newClock().Now, Tools: keepAll, NoMinify: true,
		Compact: &winnow.CompactOptions{KeepRecent: 3_000},
	}
	m := newManager(t, 100_000, o)
	h := list(userSays("Fix the build."), modelSays("Which?"), userSays("The first."))
	for i := range 20 {
		id := "call_" + itoa(i)
		h = append(h, modelCalls(id), toolSays(id, numbered(60)))
	}
	h = named(h)
	r, err := m.Compact(t.Context(), h, "")
	require.NoError(t, err)
	require.Greater(t, r.Compaction.FirstKept, 4)

	h = slices.Delete(slices.Clone(h), 2, 3) // the host drops the request that the summary was written for
	r = prepare(t, m, h)
	require.Equal(t, h[0], r.Messages[1], "the newest request is the one before it")

	h = append(slices.Clip(h), modelSays("It is fixed."), userSays("And the tests?"))
	restored := newManager(t, 100_000, o)
	require.NoError(t, restored.Restore([]byte(snapshotOf(t, m))))
	plan := m.Plan(h)
	next := prepare(t, m, h)
	assert.Equal(t, len(r.Messages), next.FirstChanged)
	assert.Equal(t, next.Messages, plan.Messages)
	assert.Equal(t, next.Edits, plan.Edits)
	assert.Equal(t, next.Messages, prepare(t, restored, h).Messages)
}
