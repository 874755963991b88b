package winnow

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/guess"
	"github.com/winnowgo/winnow/internal/meter"
	"github.com/winnowgo/winnow/internal/overflow"
)

// What a refusal teaches: what the provider allows, what it counted, and which requests it refuses.

const (
	// What no message shows, such as tools, is taken to be at most this share of the window, if nobody said more.
	mostHiddenShare = 0.25
	// A limit below this share of the window is taken for a misread number.
	leastLimitShare = 0.02
)

// weigh compares what was said with the last request. A rate limit that this request alone exceeds is a limit of its
// size: waiting never helps, so weigh returns an overflow in its place. The provider need not say how large the request
// was, because the manager knows. The lock is held.
func (m *Manager) weigh(said overflow.Diagnosis) overflow.Diagnosis {
	if said.Class == overflow.ClassRateLimit && said.Rate > 0 && m.ledger.tokens > said.Rate {
		return overflow.Diagnosis{Class: overflow.ClassOverflow, Limit: said.Rate}
	}
	return said
}

// isRecoverable reports whether the provider may accept a smaller request. A final error comes from a manager that has
// already given up.
func isRecoverable(d overflow.Diagnosis) bool {
	return (d.Class == overflow.ClassOverflow || d.Class == overflow.ClassBytes) && !d.Final
}

// learnBody lowers the limit of bodies to the one in said, or to a guess.
func (l *ladder) learnBody(said overflow.Diagnosis) {
	limit := said.Limit
	if said.Unit != overflow.UnitBytes {
		limit = 0
	}
	if limit > 0 && said.Size > limit { // the provider counts in its own way: take the same share of our count
		limit = count.Share(l.bytes, float64(limit)/float64(said.Size))
	}
	g := &l.manager.ledger
	// A limit above the refused size is a misread number, or one of something else: the limit is guessed then.
	if limit > 0 && limit < l.bytes {
		g.body = count.Least(g.body, limit)
		return
	}
	l.guessed = true
	g.attempt.bytes.Add(l.bytes)
	g.accounting.body.Most = max(1, count.Least(g.accounting.body.Most, l.shrunk(l.bytes)))
}

// shrunk returns the size to try after a request of n tokens or bytes was refused without numbers.
func (l *ladder) shrunk(n int) int {
	if l.manager.ledger.run.Refusals >= maxRetries {
		return count.Share(n, lastGuessShare)
	}
	return count.Share(n, guessShare)
}

// learnLimit corrects the estimates by the count in said, and lowers the limit to the one in said, or to a guess.
func (l *ladder) learnLimit(said overflow.Diagnosis) {
	g := &l.manager.ledger
	a := &g.accounting
	counted, allowed := said.Size-said.Output, said.Limit-said.Output
	if said.Unit != overflow.UnitTokens {
		counted, allowed = 0, 0                       // no count of tokens can be learned from it
		if said.Limit > 0 && said.Size > said.Limit { // characters: the same share of the tokens
			allowed = count.Share(l.refused, float64(said.Limit)/float64(said.Size))
		}
	}
	hidden := max(count.Share(l.manager.window, mostHiddenShare), a.Hidden(l.manager.opts.Overhead))
	least, most := count.Share(g.estimate, meter.MinRatio), count.Add(count.Share(g.estimate, meter.MaxRatio), hidden)
	// A count outside of least and most is of something else: of another request, of the answer, of one message.
	if counted >= least && counted <= most && g.hasRequest() {
		a.Observe(len(g.sent), g.estimate, counted, l.manager.opts.Overhead)
		l.refused = counted
	}
	limit := allowed
	if said.Unit == overflow.UnitTokens && said.Output == 0 { // the limit includes the answer
		limit = allowed - min(l.manager.opts.Reserve, count.Share(max(0, allowed), maxDefaultShare))
	}
	isTold := allowed >= count.Share(l.manager.window, leastLimitShare)
	if isTold {
		a.limit, a.window = max(1, count.Least(a.limit, limit)), count.Least(a.window, allowed)
	}
	// If the refused request is within the limit, the limit does not explain the refusal: it is guessed too.
	if isTold && limit < l.refused {
		l.allowed = allowed
	} else {
		l.guessed = true
		g.attempt.tokens.Add(l.refused)
		a.guess.Most = max(1, count.Least(a.guess.Most, l.shrunk(l.refused)))
	}
	if l.refused == counted {
		a.doubtHidden(g.estimate, counted, l.manager)
	}
}

// doubtHidden keeps what no message shows to half of the budget, or to Options.Overhead if that is more. It takes the
// rest for the sign of a wrong estimator, and corrects that: messages can be made smaller, and what no message shows
// cannot.
func (a *accounting) doubtHidden(estimate, counted int, m *Manager) {
	most := max(m.opts.Overhead, m.budget()/2)
	if estimate > 0 && counted > most && a.Hidden(m.opts.Overhead) > most {
		a.Billed, a.Estimated = float64(counted-most), float64(estimate)
	}
}

// isGuessed reports whether a limit was only inferred from a refusal without numbers.
func (a *accounting) isGuessed() bool { return a.guess.Most > 0 || a.body.Most > 0 }

// forgetGuesses drops the guessed limits, and keeps those that the provider named.
func (a *accounting) forgetGuesses() { a.guess, a.body = guess.Limit{}, guess.Limit{} }
