// Package stats says how sure a mean over questions is whose sessions were drawn by chance.
package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// Score is what one question gave: a share in 0..1, or the difference of two in -1..1.
type Score struct {
	Session string
	Value   float64
}

// Estimate is a mean with what is known about it.
type Estimate struct {
	N        int     `json:"n"`        // questions
	Sessions int     `json:"sessions"` // that they are of
	Mean     float64 `json:"mean"`
	Low      float64 `json:"low"` // the interval that has the true mean in 95 of 100 trials
	High     float64 `json:"high"`
	AtMost   float64 `json:"atMost"` // the true mean is at most this in 95 of 100 trials

	// there are too few sessions to draw from: questions were drawn, and the figures hold for these sessions alone
	TheseAlone bool `json:"theseAlone,omitempty"`

	variance float64 // of one question, as large as the sessions make it
}

const (
	// leastSessions are drawn from. With fewer, questions are.
	leastSessions = 8
	resamples     = 399
	normal95      = 1.96  // no interval is narrower than that of a normal distribution
	normalAtMost  = 1.645 // one-sided
	power80       = 0.842 // four trials in five
)

// Of estimates the mean of scores: a studentized bootstrap, symmetric, that draws whole sessions, because the questions
// of one are alike. To the spread of each sample two questions are added, one with 1 and one with -1: otherwise fifty
// equal scores would look like certainty. The same scores and seed give the same figures.
func Of(scores []Score, seed uint64) Estimate {
	groups, isAlone := grouped(scores)
	e := Estimate{N: len(scores), TheseAlone: isAlone}
	names := map[string]bool{}
	for _, s := range scores {
		names[s.Session] = true
	}
	e.Sessions = len(names)
	if len(scores) == 0 {
		e.Low, e.High, e.AtMost = -1, 1, 1
		return e
	}
	mean, spread := moments(groups)
	r := rand.New(rand.NewPCG(seed, uint64(len(scores))))
	drawn, ts := make([]group, len(groups)), make([]float64, resamples)
	for i := range ts {
		for k := range drawn {
			drawn[k] = groups[r.IntN(len(groups))]
		}
		m, s := moments(drawn)
		ts[i] = (mean - m) / s
	}
	slices.Sort(ts)
	one := max(normalAtMost, at(ts, 0.95)) * spread // skewed scores need more on one side
	for i := range ts {
		ts[i] = math.Abs(ts[i])
	}
	slices.Sort(ts)
	two := max(normal95, at(ts, 0.95)) * spread
	one = max(one, at(ts, 0.90)*spread)
	e.Mean, e.Low, e.High, e.AtMost = mean, max(-1, mean-two), min(1, mean+two), min(1, mean+one)
	n := float64(len(scores))
	e.variance = max(0, math.Pow(spread*(n+2), 2)-2) / n
	return e
}

// Share returns the estimate of a mean that is a share: nothing lies outside of 0..1.
func (e Estimate) Share() Estimate {
	e.Low, e.High, e.AtMost = max(0, e.Low), min(1, e.High), min(1, e.AtMost)
	return e
}

// Minus estimates the difference of two means whose questions are others: each interval is as wide as both together, at
// the sides where they add up.
func (e Estimate) Minus(less Estimate) Estimate {
	d := Estimate{N: e.N + less.N, Sessions: max(e.Sessions, less.Sessions), Mean: e.Mean - less.Mean,
		TheseAlone: e.TheseAlone || less.TheseAlone}
	if e.N == 0 || less.N == 0 {
		return Estimate{Low: -1, High: 1, AtMost: 1}
	}
	down, up := math.Hypot(e.Mean-e.Low, less.High-less.Mean), math.Hypot(e.High-e.Mean, less.Mean-less.Low)
	d.Low, d.High = max(-1, d.Mean-down), min(1, d.Mean+up)
	d.AtMost = min(1, d.Mean+math.Hypot(e.AtMost-e.Mean, (less.Mean-less.Low)*normalAtMost/normal95))
	d.variance = float64(d.N) * (e.variance/float64(e.N) + less.variance/float64(less.N))
	return d
}

// at returns the value below which a share of sorted ones lies.
func at(sorted []float64, share float64) float64 { return sorted[int(share*float64(len(sorted)))] }

// Needed returns how many questions would show, in four trials of five, that the mean is at most a margin, if it is 0
// in truth and the scores spread as these do. Without scores it is 0.
func (e Estimate) Needed(margin float64) int {
	if e.N == 0 {
		return 0
	}
	n := sort.Search(most, func(n int) bool {
		questions := float64(n + 1)
		return normalAtMost*spreadOf(e.variance*questions, questions)+power80*math.Sqrt(e.variance/questions) <= margin
	})
	return n + 1
}

// most is the largest number that is told.
const most = 1_000_000

// group is the questions that are drawn together.
type group struct{ n, sum float64 }

func grouped(scores []Score) (groups []group, isAlone bool) {
	at := map[string]int{}
	for _, s := range scores {
		i, known := at[s.Session]
		if !known {
			i = len(groups)
			at[s.Session] = i
			groups = append(groups, group{})
		}
		groups[i].n++
		groups[i].sum += s.Value
	}
	if len(groups) >= leastSessions {
		slices.SortFunc(groups, func(a, b group) int {
			return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.sum,
				b.sum))
		})
		return groups, false
	}
	groups = groups[:0]
	for _, s := range scores {
		groups = append(groups, group{1, s.Value})
	}
	return groups, true
}

// moments returns the mean over all questions, and the standard error of it with the two questions that are added.
func moments(groups []group) (mean, spread float64) {
	n, sum := 0.0, 0.0
	for _, g := range groups {
		n, sum = n+g.n, sum+g.sum
	}
	mean = sum / n
	squares := 0.0
	for _, g := range groups {
		squares += math.Pow(g.sum-mean*g.n, 2)
	}
	k := float64(len(groups))
	return mean, spreadOf(squares*k/max(1, k-1), n)
}

// spreadOf is the standard error of a mean of n questions, whose sums differ from it by these squares, with one more
// question of 1 and one of -1.
func spreadOf(squares, n float64) float64 { return math.Sqrt(squares+2) / (n + 2) }
