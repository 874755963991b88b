package prompt

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Shares are max-min: nobody gets more than it needs, all of the room is used where it is needed, more room gives nobody
// less, and of two with one weight the one that needs more gets at least as much.
func TestShares(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 5))
	for range 20_000 {
		n := 1 + r.IntN(6)
		needs, weights := make([]int, n), make([]int, n)
		for i := range n {
			needs[i], weights[i] = r.IntN(1+r.IntN(50)), 1+r.IntN(3)
		}
		room := r.IntN(120)
		got, more := shares(needs, weights, room), shares(needs, weights, room+1+r.IntN(20))
		sum, need := 0, 0
		for i := range n {
			sum, need = sum+got[i], need+needs[i]
			require.LessOrEqual(t, got[i], needs[i])
			require.GreaterOrEqual(t, more[i], got[i], "%v %v %d", needs, weights, room)
			for k := range n {
				if weights[i] == weights[k] && needs[i] >= needs[k] {
					require.GreaterOrEqual(t, got[i], got[k])
				}
			}
		}
		require.LessOrEqual(t, sum, room)
		require.GreaterOrEqual(t, sum, min(need, room-n*3), "what is lost is a part of a unit")
	}
}

func TestSharesTable(t *testing.T) {
	for _, c := range []struct {
		needs, weights, want []int
		room                 int
		why                  string
	}{
		{[]int{10, 20}, []int{1, 1}, []int{10, 20}, 30, "all fit"},
		{[]int{10, 90}, []int{1, 1}, []int{10, 40}, 50, "who needs less gives the rest away"},
		{[]int{90, 90}, []int{1, 1}, []int{25, 25}, 50, "equal needs, equal shares"},
		{[]int{90, 90}, []int{3, 1}, []int{30, 10}, 40, "by priority"},
		{[]int{10, 90, 90}, []int{1, 1, 2}, []int{10, 30, 60}, 100, "the rest by priority"},
		{[]int{0, 5}, []int{1, 1}, []int{0, 0}, 0, "no room"},
	} {
		require.Equal(t, c.want, shares(c.needs, c.weights, c.room), c.why)
	}
}
