package winnow

import "github.com/winnowgo/winnow/internal/count"

// breaker counts compactions that came to nothing, so that a summarizer that does not work is not paid
// for at every request. A manual Compact that works closes it, and so does a manager for another model or
// with another window.
type breaker struct {
	failures int
	total    int // tokens of the history at the last failure, or as it was once a digest stood in
	window   int // of the manager whose compactions failed
}

// isOpen reports whether a compaction is not worth trying: summarizers failed, and the history, now of the given
// tokens, has hardly grown since.
func (b breaker) isOpen(tokens, budget int) bool {
	return b.failures >= breakerLimit && tokens-b.total < count.Share(budget, breakerGrowth)
}

const (
	breakerLimit = 2 // failures that open the breaker

	// New content half-opens the breaker: the history has grown by this share of the budget. The summarizer is
	// then asked once, without the attempts that would hold up a request for nothing.
	breakerGrowth = 0.1
)
