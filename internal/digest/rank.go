package digest

import (
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

// isBefore reports whether a is worth more than b or, at the same worth, was mentioned first.
func (a *rankedID) isBefore(b *rankedID) bool {
	if a.worth != b.worth {
		return a.worth > b.worth
	}
	return a.index < b.index
}

// compareRanks is isBefore for sorting.
func compareRanks(a, b rankedID) int {
	if a.isBefore(&b) {
		return -1
	}
	return 1 // no two are equal
}

// ranking has identifiers by what they are worth, the best first. A summary has room for a small part of those of a
// long history, so they are put in order only as far as they are asked for.
type ranking struct {
	best []rankedID // in order
	rest []rankedID // a heap: none is before the one at half its index, both counted from 1
	most int        // how many are taken from the heap one by one; then sorting the rest takes less time
}

// leastHeap is how many identifiers are worth a heap. Of fewer, a summary asks for most.
const leastHeap = 4_096

// rankingOf returns the ranking of list, whose memory it uses.
func rankingOf(list []rankedID) *ranking {
	if len(list) < leastHeap {
		slices.SortFunc(list, compareRanks)
		return &ranking{best: list}
	}
	r := &ranking{rest: list, most: len(list) / 8}
	for i := len(list)/2 - 1; i >= 0; i-- {
		r.sink(i)
	}
	return r
}

// at returns the identifier with i others before it, or false if there is none.
func (r *ranking) at(i int) (rankedID, bool) {
	for i >= len(r.best) {
		last := len(r.rest) - 1
		switch {
		case last < 0:
			return rankedID{}, false
		case len(r.best) == r.most:
			slices.SortFunc(r.rest, compareRanks)
			r.best, r.rest = append(r.best, r.rest...), nil
			continue
		}
		r.best = append(r.best, r.rest[0])
		r.rest[0] = r.rest[last]
		r.rest = r.rest[:last]
		r.sink(0)
	}
	return r.best[i], true
}

// sink moves the item at index i of the heap behind those that are before it.
func (r *ranking) sink(i int) {
	for {
		k := 2*i + 1
		if k >= len(r.rest) {
			return
		}
		if k+1 < len(r.rest) && r.rest[k+1].isBefore(&r.rest[k]) {
			k++
		}
		if !r.rest[k].isBefore(&r.rest[i]) {
			return
		}
		r.rest[i], r.rest[k] = r.rest[k], r.rest[i]
		i = k
	}
}

// ranked returns the ranking of all identifiers. It is the table's, because a summary asks for it several times.
func (t *Table) ranked() *ranking {
	if t.ranks != nil {
		return t.ranks
	}
	repeats, costs := powers{exponent: repeatPower}, powers{exponent: costPower}
	list := make([]rankedID, len(t.notes))
	for i := range t.notes {
		n := &t.notes[i]
		r := rankedID{index: i, units: tokencount.CautiousUnits(n.id), chars: utf8.RuneCountInString(n.id) + 1}
		tokens := max(1, r.units/tokencount.UnitsPerToken, (r.chars+2)/tokencount.CharsPerToken)
		r.worth = t.score(n, &repeats) / costs.of(float64(tokens))
		list[i] = r
	}
	t.ranks = rankingOf(list)
	return t.ranks
}

// powers has the powers of numbers for one exponent. It remembers those of small whole numbers and the last one of the
// others: identifiers that one result alone mentions stand next to each other in a table and have the same focus.
type powers struct {
	exponent     float64
	whole        [64]float64 // 0: not known yet
	last, lastIs float64
}

func (p *powers) of(x float64) float64 {
	if i := int(x); i >= 0 && i < len(p.whole) && float64(i) == x {
		if p.whole[i] == 0 {
			p.whole[i] = math.Pow(x, p.exponent)
		}
		return p.whole[i]
	}
	if x != p.last {
		p.last, p.lastIs = x, math.Pow(x, p.exponent)
	}
	return p.lastIs
}
