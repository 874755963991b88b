package stats

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

// noisy is a model that takes the right step with a chance that differs by session, and with Winnow's request misses it
// now and then.
type noisy struct {
	sessions, each int
	right, varies  float64
	misses         float64
}

// scores asks it each question three times: with the history, again, and with Winnow's request.
func (m *noisy) scores(r *rand.Rand) (scores []Score) {
	for s := range m.sessions {
		right := min(1, m.right+m.varies*(2*r.Float64()-1))
		misses := 2 * r.Float64() * m.misses
		for range m.each {
			step := func(misses float64) int {
				if r.Float64() < misses {
					return -1
				}
				if r.Float64() < right {
					return 0
				}
				return 1 + r.IntN(3)
			}
			a, again, b := step(0), step(0), step(misses)
			same := func(x, y int) float64 {
				if x == y {
					return 1
				}
				return 0
			}
			scores = append(scores, Score{strconv.Itoa(s), same(a, again) - (same(b, a)+same(b, again))/2})
		}
	}
	return scores
}

func (m *noisy) truth(r *rand.Rand) float64 {
	many := *m
	many.sessions = 200_000 / m.each
	sum := 0.0
	scores := many.scores(r)
	for _, s := range scores {
		sum += s.Value
	}
	return sum / float64(len(scores))
}

// TestCoverage: of 1 000 trials with a model whose noise is known, 95 ± 2 % have the truth in their interval, and as
// many below the bound.
func TestCoverage(t *testing.T) {
	t.Parallel()
	const trials = 1000
	for _, tt := range []struct {
		model noisy
		why   string
	}{
		{noisy{10, 5, 0.8, 0, 0}, "few sessions, no difference"},
		{noisy{25, 2, 0.8, 0.1, 0}, "sessions that differ"},
		{noisy{50, 1, 0.8, 0, 0}, "a question of each"},
		{noisy{50, 1, 0.9, 0.1, 0.3}, "a large difference"},
		{noisy{50, 4, 0.9, 0.05, 0.05}, "a small difference, 200 questions"},
		{noisy{20, 10, 0.8, 0.1, 0.05}, "many questions of few sessions"},
		{noisy{4, 20, 0.8, 0, 0.1}, "too few sessions: questions are drawn, and hold for these"},
	} {
		r := rand.New(rand.NewPCG(7, 11))
		truth := tt.model.truth(r)
		inside, below := 0, 0
		for range trials {
			if tt.model.sessions < leastSessions {
				tt.model.misses = 0 // what differs from session to session is not seen
				truth = 0
			}
			e := Of(tt.model.scores(r), 1)
			if e.Low <= truth && truth <= e.High {
				inside++
			}
			if truth <= e.AtMost {
				below++
			}
		}
		assert.InDelta(t, 0.95, float64(inside)/trials, 0.02, "%s: inside", tt.why)
		assert.InDelta(t, 0.95, float64(below)/trials, 0.025, "%s: below the bound", tt.why)
	}
}

// TestOf: reference values that can be checked by hand.
func TestOf(t *testing.T) {
	t.Parallel()
	same := make([]Score, 50)
	for i := range same {
		same[i] = Score{strconv.Itoa(i), 0}
	}
	e := Of(same, 1)
	assert.Zero(t, e.Mean)
	want := 1.96 * math.Sqrt(2) / 52 // of the two questions that are added: not certain, though all are equal
	assert.InDelta(t, want, e.High, 1e-9)
	assert.InDelta(t, -want, e.Low, 1e-9)
	assert.Equal(t, 50, e.Sessions)
	assert.False(t, e.TheseAlone)

	assert.Equal(t, 45, e.Needed(0.05), "1.645 of √2 / 47 is 5 points")

	assert.Equal(t, e, Of(same, 1), "the same scores and seed give the same figures")
	one := Of(same[:1], 1)
	assert.True(t, one.TheseAlone)
	assert.Greater(t, one.AtMost, 0.4, "one question says next to nothing")
	assert.Equal(t, 1.0, Of(nil, 1).AtMost, "and none says nothing")
}

// TestNeeded: with as many questions as it states, a trial that finds no difference says so in four of five.
func TestNeeded(t *testing.T) {
	t.Parallel()
	m := noisy{50, 1, 0.9, 0, 0}
	r := rand.New(rand.NewPCG(3, 5))
	n := Of(m.scores(r), 1).Needed(0.05)
	assert.InDelta(t, 500, n, 350)
	m.sessions = 400
	n = Of(m.scores(r), 1).Needed(0.05)
	m.sessions = n
	said := 0
	const trials = 200
	for range trials {
		if Of(m.scores(r), 1).AtMost < 0.05 {
			said++
		}
	}
	assert.InDelta(t, 0.8, float64(said)/trials, 0.1, "%d questions", n)
	assert.Zero(t, Of(nil, 1).Needed(0.05))
}

// TestMinus: two means of other questions have a difference whose interval holds the truth in at least 93 of 100.
func TestMinus(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	draw := func(n int, p float64) (scores []Score) {
		for i := range n {
			value := 0.0
			if r.Float64() < p {
				value = 1
			}
			scores = append(scores, Score{Session: strconv.Itoa(i), Value: value})
		}
		return scores
	}
	const trials = 200
	covers, below := 0, 0
	for range trials {
		d := Of(draw(60, 0.9), 1).Minus(Of(draw(60, 0.75), 1))
		if d.Low <= 0.15 && 0.15 <= d.High {
			covers++
		}
		if d.AtMost >= 0.15 {
			below++
		}
	}
	assert.GreaterOrEqual(t, covers, trials*93/100)
	assert.GreaterOrEqual(t, below, trials*93/100)
	assert.Positive(t, Of(draw(60, 0.9), 1).Minus(Of(draw(60, 0.75), 1)).Needed(0.05))
	none := Of(draw(60, 0.9), 1).Minus(Of(nil, 1))
	assert.Zero(t, none.N, "without one of the two nothing is known")
}
