package winnow

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/summarysize"
)

// leastWorth is the share of the budget that a summary must stand for. A summary that stands for less costs more than
// it gains. A model is asked when there is more, and the digest stands in until then.
const leastWorth = 0.05

// canCompact reports whether a summary would be smaller than what it replaces, and whether the rest can fit beside it.
// A request that cannot fit in any way is not worth a call. The margin of the estimates does not count here. Where
// fewer tokens are planned only to make the body smaller, the rest must fit the limit of the body, and not the planned
// tokens.
func (d *draft) canCompact() bool {
	return d.canGain(summarysize.LeastGain+d.summaryFrame(), summarysize.Least)
}

// isWorthCall reports whether a summary by a model can help d. Else only a digest is short enough. A summary that
// continues the last one need not stand for much more.
func (d *draft) isWorthCall() bool {
	return d.canCompact() || d.checkpoint != nil && d.canGain(0, summarysize.Least)
}

// canGain is canCompact where a summary has to stand for more than `gain` tokens and to have room for `least`.
func (d *draft) canGain(gain, least int) bool {
	s := d.span()
	return d.hasNews(&s, gain) && d.restFits(&s, least)
}

// isWorthCompacting reports whether a compaction has anything to summarize.
func (d *draft) isWorthCompacting() bool {
	s := d.span()
	return d.hasNews(&s, 0)
}

// unreadTokens estimates the tokens in a compaction of d that no model has summarized yet.
func (d *draft) unreadTokens() int {
	s := d.span()
	n := s.replaced.News()
	for i := range d.digested {
		n = count.Add(n, estimateWith(d.opts.Estimator, d.digested[i]))
	}
	return n
}

// isDigestDue reports whether a digest wrote checkpoint c and it is time to replace it: the provider's cache went cold,
// or the history has grown by a share of the budget. After answers that were refused only growth counts.
// historyTokens are those of the request without edits.
func (d *draft) isDigestDue(c *checkpoint, historyTokens int) bool {
	o := &d.opts
	if !o.replacesDigest(c) {
		return false
	}
	b := &d.ledger.breaker
	wasIdle := !o.Cache.None && !d.ledger.sentAt.IsZero() && d.isCold()
	return wasIdle && !b.RefusesAnswers() || b.HasGrown(historyTokens, d.ledger.digestAt, d.budget)
}

// asksSummarizer reports whether a compaction calls a model.
func (o *Options) asksSummarizer() bool { return !isDigest(o.Summarizer) && !o.Compact.Off }

// replacesDigest reports whether a digest wrote c and a summarizer may replace it.
func (o *Options) replacesDigest(c *checkpoint) bool {
	return c != nil && c.degraded && o.asksSummarizer()
}
