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

	// RestartAt is what the history had at the first request after a restart, which may have brought a summarizer that
	// works: it is asked once more from there. 0: it was asked, or nothing was restored. It is not saved, so that a
	// host with a process for each request does not pay for an answer in each of them.
	RestartAt int `json:"-"`
}

// IsOpen reports whether a compaction is not worth trying: summarizers failed, and the history, now of the given
// tokens, has hardly grown since.
func (b Breaker) IsOpen(tokens, budget int) bool {
	return b.Failures >= Limit && !b.HasGrown(tokens, b.Total, budget)
}

// HasGrown reports whether a history of the given tokens has enough that is new to ask the summarizer again, which was
// asked when it had `from`.
func (b Breaker) HasGrown(tokens, from, budget int) bool {
	if b.RestartAt > 0 && tokens-b.RestartAt >= count.Share(budget, leastGrowth) {
		return true
	}
	doublings := min(max(0, b.Refused-Limit), mostDoublings)
	return tokens-from >= count.Share(budget, leastGrowth*float64(int(1)<<doublings))
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
	return Breaker{Failures: max(0, b.Failures), Total: max(math.MinInt32, b.Total), Refused: max(0, b.Refused)}
}

// Restarted notes what the history has at the first request after a restart.
func (b *Breaker) Restarted(tokens int) {
	if b.RefusesAnswers() {
		b.RestartAt = max(1, tokens)
	}
}

// Digested takes off what a digest has made the history smaller by, so that what it has grown still counts.
func (b *Breaker) Digested(tokens int) {
	b.Total -= tokens
	if b.RestartAt > 0 {
		b.RestartAt = max(1, b.RestartAt-tokens)
	}
}
