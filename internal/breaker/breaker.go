// Package breaker says when a summarizer that failed is worth asking again.
package breaker

import (
	"math"

	"github.com/winnowgo/winnow/internal/count"
)

const (
	// Limit is how many failures open the breaker: one may be chance, and each costs the price of a summary.
	Limit = 2

	// Growth is the share of the budget by which the history has to grow before the breaker is half open: there is new
	// content then. The summarizer is asked once, without the attempts that would hold up a request for nothing.
	Growth = 0.1
)

// Breaker counts compactions that came to nothing, so that a summarizer that does not work is not paid for at every
// request. The zero value is closed.
type Breaker struct {
	Failures int `json:"failures"`
	Total    int `json:"total"`  // tokens of the history at the last failure, or as it was once a digest stood in
	Window   int `json:"window"` // of the manager whose compactions failed
}

// IsOpen reports whether a compaction is not worth trying: summarizers failed, and the history, now of the given
// tokens, has hardly grown since.
func (b Breaker) IsOpen(tokens, budget int) bool {
	return b.Failures >= Limit && tokens-b.Total < count.Share(budget, Growth)
}

// Saved returns what is worth keeping: without a failure, what the history had then says nothing.
func (b Breaker) Saved() Breaker {
	if b.Failures == 0 {
		return Breaker{}
	}
	return b
}

// Within returns b as it can be: what is read from a disk may hold any number, and no sum may run over.
func (b Breaker) Within() Breaker {
	return Breaker{max(0, b.Failures), max(math.MinInt32, b.Total), b.Window}
}
