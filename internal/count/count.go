// Package count has the arithmetic of token counts: sums that stay in range, and shares.
package count

import (
	"math"
	"slices"
)

// Add adds two counts, neither of which is negative. It stays at the largest int instead of wrapping, because a host's
// own counts may be absurd.
func Add(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// Least returns the smaller of two limits. A limit of 0 means that there is none.
func Least(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// Share returns floor(n × share) for a share from 0 to 1, without leaving the range of int.
func Share(n int, share float64) int {
	f := math.Floor(float64(n) * share)
	if f >= math.MaxInt {
		return n
	}
	return int(f)
}

// Sum adds up sizes as [Add] does. A negative one counts as 0.
func Sum(sizes []int) int {
	total := 0
	for _, n := range sizes {
		total = Add(total, max(0, n))
	}
	return total
}

// Fair returns the largest share such that sizes, each cut to it, are no more than budget together. Small sizes keep
// all that they have, and what they leave goes to the large ones.
func Fair(sizes []int, budget int) int {
	sizes = slices.Sorted(slices.Values(sizes))
	for k, size := range sizes {
		share := budget / (len(sizes) - k)
		if size > share {
			return share
		}
		budget -= size
	}
	return budget
}
