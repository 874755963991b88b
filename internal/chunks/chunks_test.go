package chunks

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/count"
)

// spansOf returns spans of one item each.
func spansOf(sizes ...int) (spans []Span) {
	for i, n := range sizes {
		spans = append(spans, Span{i, i + 1, n})
	}
	return spans
}

func TestWithin(t *testing.T) {
	assert.Equal(t, []Span{{0, 2, 5}, {2, 3, 9}, {3, 4, 1}}, Within(spansOf(2, 3, 9, 1), 6), "9 is above the limit")
	assert.Empty(t, Within(nil, 6))
}

func TestPlan(t *testing.T) {
	sizes := []int{30_000, 30_000, 30_000, 30_000}
	p := NewPlan(sizes, 2, 100_000, 50_000)
	assert.Equal(t, []int{2, 2}, p.Runs)
	assert.Equal(t, []int{4}, NewPlan(sizes, 2, 1_000_000, 500_000).Runs, "parts smaller than a chunk only add calls")
	assert.Equal(t, 5_000, NewPlan(sizes, 2, 100_000, 5_000).Limit, "no chunk has more than fits")
	assert.Equal(t, leastChunk, NewPlan(sizes, 2, 16_000, 50_000).Limit)

	next, ok := p.Extended(7, 1_000)
	assert.True(t, ok)
	assert.Equal(t, Plan{Limit: 1_000, Runs: []int{2, 5}}, next, "what came later goes to the last part")
	assert.Equal(t, []int{2, 2}, p.Runs, "p stays as it is")
	_, ok = p.Extended(2, 1_000)
	assert.False(t, ok, "nothing is left for the last part")
}

// TestRunsAndGroups: no item is lost, and only an item that is too large makes a group exceed the limit.
func TestRunsAndGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2_000 {
		sizes := make([]int, r.IntN(12))
		for i := range sizes {
			sizes[i] = r.IntN(50)
		}
		parts, limit := r.IntN(6), r.IntN(80)
		runs, groups := Runs(sizes, parts), Group(sizes, limit)
		require.Equal(t, len(sizes), count.Sum(runs))
		require.Equal(t, len(sizes), count.Sum(groups))
		require.LessOrEqual(t, len(runs), max(1, parts))
		at := 0
		for _, n := range groups {
			require.Positive(t, n)
			if n > 1 {
				require.LessOrEqual(t, count.Sum(sizes[at:at+n-1]), max(1, limit))
			}
			if n > 1 && sizes[at+n-1] <= limit {
				require.LessOrEqual(t, count.Sum(sizes[at:at+n]), max(1, limit))
			}
			at += n
		}
	}
}
