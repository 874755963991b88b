package winnow

import (
	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/count"
)

// How much room a request has.

// sized is a request with its limits: it says what fits, and how much room is left.
type sized struct {
	basis
	itemList
	accounting accounting.Account // the ledger's by the assumption, and what this history adds to it
	known      accounting.Account // accounting as it was when the draft was begun

	budget          int // tokens that the request may have, Overhead included
	cliff           int // tokens above which the whole request costs more, if it pays to stay below; 0: none
	unchangedPrefix int // leading messages up to which the provider's count of the last request still holds
}

func (s *sized) setBudget() {
	s.budget = count.Least(s.accounting.Budget(s.window-s.opts.Reserve), s.mostTokens)
}

// tokens returns how many tokens the provider is expected to count for the request.
func (s *sized) tokens() int {
	return s.accounting.Tokens(s.total, s.unchangedPrefix, s.opts.Overhead)
}

// fits reports whether the request fits as it is planned: below the limit by its estimate and, with the margin by which
// that may be too low, below the ceiling. One that is refused costs more than one that is a little smaller.
func (s *sized) fits() bool {
	n := s.tokens()
	return n <= s.limit() && count.Add(n, s.margin()) <= s.ceiling()
}

// fitsBudget is fits without margin and cliff: what must hold of every request.
func (s *sized) fitsBudget() bool { return s.tokens() <= s.budget }

// margin returns by how many tokens the estimate may be too low.
func (s *sized) margin() int { return s.accounting.Margin(s.total, s.unchangedPrefix) }

// limit returns the budget, or the cliff that the request is to stay below.
func (s *sized) limit() int { return count.Least(s.budget, s.cliff) }

// ceiling returns what the request may have with its margin, which may take half of the reserve; or the cliff.
func (s *sized) ceiling() int { return count.Least(count.Add(s.budget, s.opts.Reserve/2), s.cliff) }

// room returns how many estimated tokens the messages may have once something that was sent is changed: then the
// provider's count of the last request no longer helps.
func (s *sized) room() int {
	return s.accounting.Room(s.limit(), s.ceiling(), s.opts.Overhead)
}

// roomWithoutMargin is room without the margin of the estimates.
func (s *sized) roomWithoutMargin() int {
	return s.accounting.RoomWithoutMargin(s.limit(), s.opts.Overhead)
}

// windowEstimate returns the model's window in estimated tokens, without what no message shows.
func (s *sized) windowEstimate() int { return s.accounting.EstimatedWindow(s.limits()) }

// fitsBody reports whether the body, and how many images it has, are within their limits, as far as these are known.
func (s *sized) fitsBody() bool {
	limit := s.bodyLimit()
	return (limit == 0 || s.bytes() <= limit) && s.fitsImages()
}

func (s *sized) fitsImages() bool { return s.ledger.Images == 0 || s.images() <= s.ledger.Images }

// bodyLimit returns the lowest known limit of a body in bytes: the host's, the provider's or a guessed one. 0: no limit
// is known.
func (s *sized) bodyLimit() int {
	return count.Least(s.ledger.toldBody(s.settings), s.accounting.Body.Most)
}

// isWithinReach reports whether a compaction is near: at most softThreshold more tokens fit.
func (s *sized) isWithinReach() bool {
	soft := min(softThreshold, count.Share(s.window, maxDefaultShare))
	threshold, n := s.budget-soft, s.tokens()
	if over := count.Add(n, s.margin()) - (s.ceiling() - soft); over > 0 { // the margin is what does not fit
		n = max(n, threshold)
	}
	return flushDue(n, threshold)
}

// flushDue reports whether a request with this number of tokens has reached threshold and calls for a flush. The rule
// is OpenClaw's: if threshold is 0 or less, only the compaction itself calls for one.
func flushDue(tokens, threshold int) bool {
	return threshold > 0 && tokens >= threshold
}

// softThreshold is OpenClaw's, in tokens. In a small window it would be the whole budget, so it is a share there.
const softThreshold = 4_000
