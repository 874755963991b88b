// Package count has the arithmetic of token counts: sums that stay in range, shares, and lists split by size.
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

// Least is the smaller of two limits of which 0 means none.
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

// Runs splits items of the given sizes, in order, into at most parts runs of about the same size. It returns the
// lengths of the runs.
func Runs(sizes []int, parts int) []int {
	if len(sizes) == 0 {
		return nil
	}
	parts = min(max(1, parts), len(sizes))
	target := float64(Sum(sizes)) / float64(parts)
	runs := []int{0}
	size := 0
	for _, n := range sizes {
		last := len(runs) - 1
		if len(runs) < parts && runs[last] > 0 && float64(Add(size, n)) > target {
			runs = append(runs, 0)
			last, size = last+1, 0
		}
		runs[last]++
		size = Add(size, n)
	}
	return runs
}

// Chunks groups items of the given sizes, in order, into chunks of at most limit each. An item above the limit ends its
// chunk, which is then above the limit too. It returns the lengths of the chunks.
func Chunks(sizes []int, limit int) []int {
	limit = max(1, limit)
	var chunks []int
	size, open := 0, false
	for _, n := range sizes {
		if !open || Add(size, n) > limit {
			chunks = append(chunks, 0)
			size = 0
		}
		chunks[len(chunks)-1]++
		size = Add(size, n)
		open = n <= limit
	}
	return chunks
}
