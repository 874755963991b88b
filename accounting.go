package winnow

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/guess"
	"github.com/winnowgo/winnow/internal/meter"
)

// minUsageShare: a count below this share of the estimate leaves out what was cached, or is of another request.
const minUsageShare = 0.5

// budget is what a request may have, of n tokens that the window has for it.
func (a *accounting) budget(n int) int {
	return count.Least(a.told(n), a.guess.Most)
}

// told is budget without what is only guessed.
func (a *accounting) told(n int) int {
	if a.limit > 0 {
		n = min(n, a.limit)
	}
	return n
}

// accounting is what the provider has told: by its counts, and of its limits.
type accounting struct {
	meter.Meter
	limit  int         // tokens that a request may have, as the provider said; 0 if it did not
	window int         // the same with the room for the answer; 0 if it did not say
	guess  guess.Limit // the same where it only said that a request was too long
	body   guess.Limit // the same of the bytes of a body
}
