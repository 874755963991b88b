package count

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAddStaysInRange(t *testing.T) {
	assert.Equal(t, 5, Add(2, 3))
	assert.Equal(t, math.MaxInt, Add(math.MaxInt-1, 2))
	assert.Equal(t, math.MaxInt, Add(math.MaxInt, math.MaxInt))
	assert.Equal(t, math.MaxInt, Sum([]int{math.MaxInt, 1, -5}))
	assert.Equal(t, 3, Sum([]int{1, -5, 2}), "a negative size counts as 0")
}

func TestShare(t *testing.T) {
	assert.Equal(t, 33, Share(100, 1.0/3))
	assert.Zero(t, Share(100, 0))
	assert.Equal(t, math.MaxInt, Share(math.MaxInt, 1))
}

func TestFair(t *testing.T) {
	for _, tc := range []struct {
		name   string
		sizes  []int
		budget int
		want   int
	}{
		{"nothing to share", nil, 10, 10},
		{"all fit: what is left is added to the last", []int{1, 2}, 10, 7},
		{"the large ones share what the small one leaves", []int{100, 1, 100}, 21, 10},
		{"no room", []int{3, 4}, 0, 0},
	} {
		assert.Equal(t, tc.want, Fair(tc.sizes, tc.budget), tc.name)
	}
	sizes := []int{3, 1, 2}
	Fair(sizes, 4)
	assert.Equal(t, []int{3, 1, 2}, sizes, "its argument is not written to")
}

// TestFairFits: cut to the share the sizes fit, and with one more they would not.
func TestFairFits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		sizes := make([]int, 1+r.IntN(8))
		for i := range sizes {
			sizes[i] = r.IntN(50)
		}
		budget := r.IntN(200)
		share := Fair(sizes, budget)
		cut := func(at int) (sum int) {
			for _, n := range sizes {
				sum += min(n, at)
			}
			return sum
		}
		require.LessOrEqual(t, cut(share), budget, "%v in %d", sizes, budget)
		if Sum(sizes) > budget {
			require.Greater(t, cut(share+1), budget, "%v in %d", sizes, budget)
		}
	}
}

// TestRunsAndChunks: no item is lost, and nothing but a single large item is above a limit.
func TestRunsAndChunks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2_000 {
		sizes := make([]int, r.IntN(12))
		for i := range sizes {
			sizes[i] = r.IntN(50)
		}
		parts, limit := r.IntN(6), r.IntN(80)
		runs, chunks := Runs(sizes, parts), Chunks(sizes, limit)
		require.Equal(t, len(sizes), Sum(runs))
		require.Equal(t, len(sizes), Sum(chunks))
		require.LessOrEqual(t, len(runs), max(1, parts))
		at := 0
		for _, n := range chunks {
			require.Positive(t, n)
			if n > 1 {
				require.LessOrEqual(t, Sum(sizes[at:at+n-1]), max(1, limit))
			}
			if n > 1 && sizes[at+n-1] <= limit {
				require.LessOrEqual(t, Sum(sizes[at:at+n]), max(1, limit))
			}
			at += n
		}
	}
}
