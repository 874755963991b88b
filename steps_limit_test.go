package winnow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// What the turn limit dropped before a compaction is in no summary, and Edits say so. An earlier summary is in the new
// one, and so is the question of a pin.
func TestEditsTellTheTurnLimitFromTheSummary(t *testing.T) {
	for _, down := range []bool{false, true} {
		s := says("## Goal\nTalk.\n\n## Progress\nMuch was said.")
		if down {
			s = fails(assert.AnError)
		}
		m := newManager(t, 20_000, &winnow.Options{Summarizer: s, Estimator: byChars, Now: newClock().Now, HistoryTurns: 4, Compact: &winnow.CompactOptions{KeepRecent: 1_000, Attempts: 1}})
		h := list(summarySays("The parser was ported."), userSays("And?"))
		h = append(h, pinned(modelSays("It is slow.")))
		h = append(h, talk(12, 100)...)
		prepare(t, m, h)
		h = append(h, modelSays(numbered(200)[:4_000]))
		h = append(h, talk(3, 100)...)
		r, err := m.Compact(t.Context(), h, "")
		if down {
			require.Error(t, err)
			for n := 0; err != nil || r.Compaction == nil; n++ {
				require.Less(t, n, 100)
				h = append(h, modelSays("Answer "+itoa(n)+numbered(300)[:6_000]), hostSays("Go on."))
				r, err = m.Prepare(t.Context(), h)
			}
		}
		require.NoError(t, err)
		ops := map[int]winnow.Op{}
		for _, e := range r.Edits {
			ops[e.Index] = e.Op
		}
		assert.Equal(t, winnow.OpCompact, ops[0], "the summary is in the new one")
		assert.Equal(t, winnow.OpCompact, ops[1], "the question of a pin was not dropped by the limit")
		assert.Equal(t, winnow.OpLimit, ops[3], "the oldest turn was")
	}
}
