// Package breaker says when a summarizer that failed is worth asking again.
package breaker

import (
	"math"

	"github.com/winnowgo/winnow/internal/count"
)

const (
	// Limit is how many failures open the breaker: one may be chance, and each costs the price of a summary.
	Limit = 2

	// The share of the budget by which the history has to grow before the breaker is half open: there is new content
	// then. The summarizer is asked once, without the attempts that would hold up a request for nothing.
	leastGrowth = 0.1
	// Each refused answer beyond Limit doubles that share, because such an answer is billed. At most it is 1.6 budgets.
	mostDoublings = 4
)

// Breaker counts compactions that came to nothing, so that a summarizer that does not work is not paid for at every
// request. The zero value is closed.
type Breaker struct {
	Failures int `json:"failures"`
	// Total is how many tokens the history had at the last failure, or once a digest stood in.
	Total   int `json:"total"`
	Refused int `json:"refused,omitempty"` // failures with an answer that was billed, but is no summary
}

// IsOpen reports whether a compaction is not worth trying: summarizers failed, and the history, now of the given
// tokens, has hardly grown since.
func (b Breaker) IsOpen(tokens, budget int) bool {
	return b.Failures >= Limit && !b.HasGrown(tokens-b.Total, budget)
}

// HasGrown reports whether a history that grew by the given tokens has enough that is new to ask the summarizer again.
func (b Breaker) HasGrown(tokens, budget int) bool {
	doublings := min(max(0, b.Refused-Limit), mostDoublings)
	return tokens >= count.Share(budget, leastGrowth*float64(int(1)<<doublings))
}

// RefusesAnswers reports whether a summarizer answers, but with no summary. A cold cache alone is then no reason to ask
// it.
func (b Breaker) RefusesAnswers() bool { return b.Refused >= Limit }

// Saved returns what is worth keeping: without a failure, what the history had then says nothing.
func (b Breaker) Saved() Breaker {
	if b.Failures == 0 {
		return Breaker{}
	}
	return b
}

// Within returns b as it can be: what is read from a disk may hold any number, and no sum may run over.
func (b Breaker) Within() Breaker {
	return Breaker{max(0, b.Failures), max(math.MinInt32, b.Total), max(0, b.Refused)}
}
