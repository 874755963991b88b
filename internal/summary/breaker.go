package summary

import (
	"github.com/winnowgo/winnow/internal/count"
)

const (
	// MostFailures is how many failures open the breaker: one may be chance, and each costs the price of a summary.
	MostFailures = 2

	// The share of the budget by which the history has to grow before the breaker is half open: there is new content
	// then. The summarizer is asked once, without the attempts that would hold up a request for nothing.
	leastGrowth = 0.1
	// Each refused answer beyond MostFailures doubles that share, because such an answer is billed: up to 1.6 budgets.
	mostDoublings = 4
)

// Breaker counts compactions that came to nothing, so that a summarizer that does not work is not paid for at every
// request. The zero value is closed.
type Breaker struct {
	Failures int `json:"failures"`
	// Total is how many tokens the history had at the last failure, or once a digest stood in.
	Total   int `json:"total" least:"-2147483648"`
	Refused int `json:"refused,omitempty"` // failures with an answer that was billed, but is no summary

	Reason string `json:"reason,omitempty"` // of the last failure

	// RestartAt is how many tokens the history had at the first request after a restart. The restart may have brought a
	// summarizer that works, so it is asked once more when the history has grown from there. 0: it was asked, or
	// nothing was restored. RestartAt is not saved, so that a host with a process for each request does not pay for an
	// answer in each of them.
	RestartAt int `json:"-"`
}

// IsOpen reports whether a compaction is not worth trying: summarizers failed, and the history, now of the given
// tokens, has hardly grown since.
func (b Breaker) IsOpen(tokens, budget int) bool {
	return b.Failures >= MostFailures && !b.HasGrown(tokens, b.Total, budget)
}

// HasGrown reports whether a history of the given tokens has grown enough to ask the summarizer again. When it was
// asked last, the history had `from` tokens.
func (b Breaker) HasGrown(tokens, from, budget int) bool {
	if b.RestartAt > 0 && tokens-b.RestartAt >= count.Share(budget, leastGrowth) {
		return true
	}
	doublings := min(max(0, b.Refused-MostFailures), mostDoublings)
	return tokens-from >= count.Share(budget, leastGrowth*float64(int(1)<<doublings))
}

// RefusesAnswers reports whether a summarizer answers, but with no summary. A cold cache alone is then no reason to ask
// it.
func (b Breaker) RefusesAnswers() bool { return b.Refused >= MostFailures }

// Saved returns what is worth keeping: if no failure is counted, only why a summary came to nothing within a recovery,
// which counts none.
func (b Breaker) Saved() Breaker {
	if b.Failures == 0 {
		return Breaker{Reason: b.Reason}
	}
	return b
}

// Restarted notes how many tokens the history has at the first request after a restart.
func (b *Breaker) Restarted(tokens int) {
	if b.RefusesAnswers() {
		b.RestartAt = max(1, tokens)
	}
}

// Digested subtracts what a digest has removed from the history, so that growth before it still counts.
func (b *Breaker) Digested(tokens int) {
	b.Total -= tokens
	if b.RestartAt > 0 {
		b.RestartAt = max(1, b.RestartAt-tokens)
	}
}
