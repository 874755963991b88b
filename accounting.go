package winnow

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/guess"
	"github.com/winnowgo/winnow/internal/meter"
)

// minUsageShare is the least share of the estimate that a provider's count may have. A lower count leaves out what was
// cached, or belongs to another request.
const minUsageShare = 0.5

// budget returns how many tokens a request may have if the window has n for it. It is at most the limit that the
// provider told, and at most the guessed one.
func (a *accounting) budget(n int) int {
	return count.Least(a.told(n), a.guess.Most)
}

// told is budget without the limit that is only guessed.
func (a *accounting) told(n int) int {
	if a.limit > 0 {
		n = min(n, a.limit)
	}
	return n
}

// accounting is what the manager has learned from the provider's counts and about its limits.
type accounting struct {
	meter.Meter
	limit  int         // tokens that a request may have, as the provider told; 0: not told
	window int         // the same, with the room for the answer; 0: not told
	guess  guess.Limit // like limit, but inferred from refusals that named no number
	body   guess.Limit // like guess, in bytes of a request's body
}
