package digest

import (
	"container/heap"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/tokencount"
)

// rankedID is an identifier with what it costs and what it is worth for that.
type rankedID struct {
	index, units, chars int
	worth               float64
}

// ranking is a heap of identifiers, the most worth first. A summary has room for a small part of those of a long
// history, so they are put in order only as far as they are asked for.
type ranking []rankedID

func (r ranking) Len() int      { return len(r) }
func (r ranking) Swap(i, k int) { r[i], r[k] = r[k], r[i] }
func (r ranking) Less(i, k int) bool { // at the same worth, by the first mention
	return r[i].worth > r[k].worth || r[i].worth == r[k].worth && r[i].index < r[k].index
}
func (r *ranking) Push(x any) { *r = append(*r, x.(rankedID)) }
func (r *ranking) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}

// ranked returns a ranking of all identifiers. The table remembers it, because a summary asks for it several times.
func (t *Table) ranked() *ranking {
	if t.ranks == nil {
		t.ranks = make(ranking, len(t.notes))
		for i := range t.notes {
			n := &t.notes[i]
			r := rankedID{index: i, units: tokencount.CautiousUnits(n.id), chars: utf8.RuneCountInString(n.id) + 1}
			tokens := max(1, r.units/tokencount.UnitsPerToken, (r.chars+2)/tokencount.CharsPerToken)
			r.worth = t.score(n) / math.Pow(float64(tokens), costPower)
			t.ranks[i] = r
		}
		heap.Init(&t.ranks)
	}
	ranks := slices.Clone(t.ranks)
	return &ranks
}
