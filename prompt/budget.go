package prompt

import (
	"cmp"
	"math"
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/count"
)

// size is the size of a text.
type size struct{ chars, tokens int }

func (s size) plus(t size) size {
	return size{count.Add(s.chars, t.chars), count.Add(s.tokens, t.tokens)}
}
func (s size) minus(t size) size { return size{max(0, s.chars-t.chars), max(0, s.tokens-t.tokens)} }
func (s size) fits(limit size) bool {
	return s.chars <= limit.chars && s.tokens <= limit.tokens
}
func (s size) least(t size) size { return size{min(s.chars, t.chars), min(s.tokens, t.tokens)} }

// part returns n/d of s.
func (s size) part(n, d int) size { return size{scale(s.chars, n, d), scale(s.tokens, n, d)} }

// scale returns about a × n / d without overflow.
func scale(a, n, d int) int {
	if a > math.MaxInt/n {
		return a / d * n
	}
	return a * n / d
}

// counter measures texts.
type counter struct {
	estimator winnow.Estimator
	parts     []winnow.Part // parts of the estimated message, reused
	base      int           // tokens of a message without text
}

func newCounter(e winnow.Estimator) *counter {
	c := &counter{estimator: e, parts: make([]winnow.Part, 1)}
	c.base = c.estimate("")
	return c
}

func (c *counter) estimate(s string) int {
	c.parts[0].Text = s
	return c.estimator.Estimate(winnow.Message{Role: winnow.RoleSystem, Parts: c.parts})
}

// tokens counts s without the message around it.
func (c *counter) tokens(s string) int {
	if s == "" {
		return 0
	}
	return max(0, c.estimate(s)-c.base)
}

func (c *counter) size(s string) size { return size{chars(s), c.tokens(s)} }

// shares divides room by weights, max-min: a part that needs less than its share gets what it needs, and the others
// divide the rest. More room never gives any part less. Of two parts with equal weights, the one that needs more gets
// at least as much.
func shares(needs, weights []int, room int) []int {
	order := make([]int, len(needs))
	weight := 0
	for i := range needs {
		order[i] = i
		weight += weights[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { // by need per weight
		return cmp.Compare(float64(needs[a])/float64(weights[a]), float64(needs[b])/float64(weights[b]))
	})
	out := make([]int, len(needs))
	for k, i := range order {
		if scale(room, weights[i], weight) < needs[i] {
			for _, j := range order[k:] {
				out[j] = min(needs[j], scale(room, weights[j], weight))
			}
			return out
		}
		out[i] = needs[i]
		room -= needs[i]
		weight -= weights[i]
	}
	return out
}
