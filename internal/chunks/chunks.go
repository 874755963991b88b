// Package chunks divides a list that is too large for one summary, by the sizes of its items in tokens.
package chunks

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
)

// Span is a run of neighbouring items of a list, and how many tokens they have together.
type Span struct{ From, To, Tokens int }

// Join returns s and the spans that follow it as one.
func (s Span) Join(rest ...Span) Span {
	for _, next := range rest {
		s.To, s.Tokens = next.To, count.Add(s.Tokens, next.Tokens)
	}
	return s
}

// Within joins neighbours into chunks of at most limit tokens each. A span above the limit ends its chunk, which is
// then above the limit too.
func Within(spans []Span, limit int) []Span {
	var out []Span
	for _, n := range Group(Sizes(spans), limit) {
		out = append(out, spans[0].Join(spans[1:n]...))
		spans = spans[n:]
	}
	return out
}

// Sizes returns the tokens of each span.
func Sizes(spans []Span) []int {
	sizes := make([]int, len(spans))
	for i, s := range spans {
		sizes[i] = s.Tokens
	}
	return sizes
}

// Plan says how a list is divided.
type Plan struct {
	Limit int   // tokens of a chunk
	Runs  []int // lengths of the parts that are summarized on their own
}

// leastChunk is a size, in tokens, that a chunk may always have if it fits. A chunk of a mere share of a small window
// would leave each call almost empty.
const leastChunk = 8_000

// OfSmall returns how many tokens of small messages one chunk may have.
func OfSmall(window int) int { return limit(nil, window) }

// limit is [Limit], but not less than a chunk may always have.
func limit(sizes []int, window int) int { return max(Limit(sizes, window), leastChunk) }

// NewPlan divides items of these sizes into at most `parts` parts, for a summarizer with the given window. No chunk has
// more than most tokens.
func NewPlan(sizes []int, parts, window, most int) Plan {
	p := Plan{Limit: min(limit(sizes, window), most), Runs: []int{len(sizes)}}
	// Parts smaller than a chunk would only add calls.
	if total := count.Sum(sizes); total > p.Limit {
		p.Runs = Runs(sizes, min(parts, total/p.Limit+1))
	}
	return p
}

// Extended returns p for a list that has grown to n items: the new ones go to the last part. It returns false if the
// list has become so short that nothing is left for the last part.
func (p Plan) Extended(n, most int) (Plan, bool) {
	runs := slices.Clone(p.Runs)
	last := len(runs) - 1
	runs[last] = n - count.Sum(runs[:last])
	return Plan{Limit: min(p.Limit, most), Runs: runs}, runs[last] > 0
}

// Runs splits items of the given sizes, in order, into at most parts runs of about the same size. It returns the
// lengths of the runs.
func Runs(sizes []int, parts int) []int {
	if len(sizes) == 0 {
		return nil
	}
	parts = min(max(1, parts), len(sizes))
	target := float64(count.Sum(sizes)) / float64(parts)
	runs := []int{0}
	size := 0
	for _, n := range sizes {
		last := len(runs) - 1
		if len(runs) < parts && runs[last] > 0 && float64(count.Add(size, n)) > target {
			runs = append(runs, 0)
			last, size = last+1, 0
		}
		runs[last]++
		size = count.Add(size, n)
	}
	return runs
}

// Group groups items of the given sizes, in order, into chunks of at most limit each. An item above the limit ends its
// chunk, which is then above the limit too. It returns the lengths of the chunks.
func Group(sizes []int, limit int) []int {
	limit = max(1, limit)
	var chunks []int
	size, open := 0, false
	for _, n := range sizes {
		if !open || count.Add(size, n) > limit {
			chunks = append(chunks, 0)
			size = 0
		}
		chunks[len(chunks)-1]++
		size = count.Add(size, n)
		open = n <= limit
	}
	return chunks
}
