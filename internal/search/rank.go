package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Passages are ranked by BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009), with the length of
// a passage in bytes.
const (
	saturation   = 1.2  // k1: how soon another mention of a word counts less
	lengthWeight = 0.75 // b: how much a long passage is held against it

	// A passage is this many bytes and goes on to the end of its line: about what a person reads at a glance.
	passageBytes = 500
)

// A Place is a passage of a text that was added to a [Ranking].
type Place struct {
	Text     int // in the order in which the texts were added, from 0
	From, To int // bytes
	At       int // … of the first word of the query in it
	Words    int // different words of the query that stand there
	Score    float64
}

// Ranking finds the passages of texts that have most of a query's words.
type Ranking struct {
	query    *Query
	found    []candidate
	texts    int
	passages int
	bytes    int
	with     [maxTerms]int // passages that have a word
}

type candidate struct {
	place  Place
	counts counts
}

// NewRanking returns a ranking without texts.
func NewRanking(q *Query) *Ranking { return &Ranking{query: q} }

// counts is how often each word of a query stands in a passage.
type counts [maxTerms]uint16

// Add searches a text.
func (r *Ranking) Add(text string) {
	from, to := 0, 0 // of the passage
	open := false
	var c candidate
	close := func() {
		if open {
			r.found = append(r.found, c)
		}
		open = false
	}
	next := func() {
		from, to = to, passageEnd(text, to)
		r.passages++
	}
	r.query.each(text, func(at, word int) {
		for at >= to {
			close()
			next()
		}
		if !open {
			open, c = true, candidate{place: Place{Text: r.texts, From: from, To: to, At: at}}
		}
		if c.counts[word] == 0 {
			c.place.Words++
			r.with[word]++
		}
		c.counts[word] = min(c.counts[word], 1<<16-2) + 1
	})
	close()
	for to < len(text) {
		next()
	}
	r.bytes += len(text)
	r.texts++
}

// passageEnd returns where the passage that begins at from ends: behind a line end, or where a line is wrapped.
func passageEnd(s string, from int) int {
	if len(s)-from <= passageBytes {
		return len(s)
	}
	at := from + passageBytes
	if k := strings.IndexByte(s[at:min(len(s), from+MaxLine)], '\n'); k >= 0 {
		return at + k + 1
	}
	if len(s)-from <= MaxLine {
		return len(s)
	}
	return from + wrapped(s[from:])
}

// Found returns how many passages have a word of the query.
func (r *Ranking) Found() int { return len(r.found) }

// Best returns the best n places, the best one first. Of equal places, those in newer texts come first; within a text
// they keep their order.
func (r *Ranking) Best(n int) []Place {
	if len(r.found) == 0 {
		return nil
	}
	var weight [maxTerms]float64 // of a word: how rare it is
	for k, with := range r.with {
		weight[k] = math.Log1p((float64(r.passages-with) + 0.5) / (float64(with) + 0.5))
	}
	average := float64(r.bytes) / float64(r.passages)
	best := make([]Place, 0, n+1)
	for i := range r.found {
		c := &r.found[i]
		p := c.place
		length := saturation * (1 - lengthWeight + lengthWeight*float64(p.To-p.From)/average)
		for k := range r.query.hashes {
			if often := float64(c.counts[k]); often > 0 {
				p.Score += weight[k] * often * (saturation + 1) / (often + length)
			}
		}
		at, _ := slices.BinarySearchFunc(best, p, comparePlaces)
		if at == n {
			continue
		}
		if best = slices.Insert(best, at, p); len(best) > n {
			best = best[:n]
		}
	}
	return best
}

// comparePlaces puts the better place first.
func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Text, a.Text), cmp.Compare(a.From, b.From))
}
