package winnow

import (
	"github.com/winnowgo/winnow/internal/breaker"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/summarysize"
)

// canCompact reports whether there is something whose summary would be smaller, and the rest can fit. What
// cannot fit in any way is not worth a call; a margin alone is no reason to think so.
func (d *draft) canCompact() bool {
	s, frame := d.span(), d.summaryFrame()
	needed := count.Add(s.restAtLeast, frame+summarysize.Least)
	return d.hasNews(&s, summarysize.LeastGain+frame) && needed <= d.wholeRoom()
}

// isWorthCompacting reports whether a compaction has anything to summarize.
func (d *draft) isWorthCompacting() bool {
	s := d.span()
	return d.hasNews(&s, 0)
}

// unreadTokens is about what a model would read in a compaction of d that no model has summarized.
func (d *draft) unreadTokens() int {
	s := d.span()
	n := s.replaced.News()
	for i := range d.digested {
		n = count.Add(n, estimateWith(d.opts.Estimator, d.digested[i]))
	}
	return n
}

// isDigestDue reports whether it is time to replace checkpoint c, if a digest wrote it. The request would have
// historyTokens without edits.
func (d *draft) isDigestDue(c *checkpoint, historyTokens int) bool {
	o := &d.opts
	if !o.replacesDigest(c) {
		return false
	}
	wasIdle := !o.Cache.None && !d.ledger.sentAt.IsZero() && d.isCold()
	return wasIdle || historyTokens-d.ledger.digestAt >= count.Share(d.budget, breaker.Growth)
}

// replacesDigest reports whether a summary in the place of c is wanted.
func (o *Options) replacesDigest(c *checkpoint) bool {
	return c != nil && c.degraded && !isDigest(o.Summarizer) && !o.Compact.Off
}
