package digest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// However far a ranking is asked for, and however many identifiers there are, it is in order.
func TestRankingIsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, leastHeap - 1, leastHeap, 3 * leastHeap} {
		list := make([]rankedID, n)
		for i := range list {
			list[i] = rankedID{index: i, worth: float64(r.IntN(100))} // many are worth the same
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, func(a, b rankedID) int { return int(b.worth - a.worth) })
		ranks := rankingOf(list)
		for _, asked := range []int{n / 20, 0, n / 2, n - 1} {
			for i := range max(0, asked) {
				got, ok := ranks.at(i)
				require.True(t, ok)
				require.Equal(t, want[i], got, "%d of %d", i, n)
			}
		}
		_, ok := ranks.at(n)
		assert.False(t, ok, "%d of %d", n, n)
	}
}

func TestPowers(t *testing.T) {
	p := powers{exponent: repeatPower}
	for range 2 {
		for _, x := range []float64{0, 0.25, 0.25, 1, 2, 63, 64, 2.5, 1e9} {
			assert.Equal(t, math.Pow(x, repeatPower), p.of(x), "of %v", x)
		}
	}
}
