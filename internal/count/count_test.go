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
