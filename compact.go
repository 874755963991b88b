package winnow

import (
	"context"
	"fmt"
	"time"

	"github.com/winnowgo/winnow/internal/breaker"
	"github.com/winnowgo/winnow/internal/event"
	"github.com/winnowgo/winnow/internal/summarysize"
)

// Pass 9, and the only one that waits: the compaction.

// How many compactions there may be from one call of Prepare to the next, and how many calls of the summarizer
// Recover's compactions may take. A history that is larger than the summarizer's window still takes a call for each of
// its parts.
const maxCompactions, maxSummaryCalls = 2, 2

// needsCompaction reports whether the request does not fit, or soon will not, and a summary can help.
func (d *draft) needsCompaction() bool {
	if d.opts.Compact.Off || d.fits() && !d.isCramped {
		return false
	}
	v := d.verdict()
	helps := v.canHelp && (d.gainsBy(d.opts.Summarizer) || !d.fits() && d.gainsBy(Digest()))
	return helps || v.isLastWay && d.isLastResort()
}

// gainsBy reports whether a summary by x can be smaller than what it stands for, with the sections that code owns, such
// as what people said. The host's rules are not asked for, so they do not count.
func (d *draft) gainsBy(x Summarizer) bool {
	c, err := d.newCompaction(compactCall{by: x})
	return err == nil && c.setLimits()
}

// isLastResort reports whether only a summary can make the request fit, although it would stand for little: for little
// more than the last one, for no more but in fewer words, or for a short history before a request that nearly fills the
// window.
func (d *draft) isLastResort() bool {
	if d.fits() || d.checkpoint == nil && d.known.IsGuessed() { // it is made without the guess instead
		return false
	}
	// A draft of its own, because shrinkToFit changes it.
	least := d.replay(d.base)
	return !least.shrinkToFit() && least.tokens() > least.budget
}

// draftByHand is newDraft for Compact.
func (c *call) draftByHand() *draft {
	d := c.newDraft()
	if !d.verdict().hasNews {
		d.keepRecent = 0 // the newest step stays whatever its size
	}
	return d
}

// checkRest returns an error if a request cannot fit, not even with a short summary in it. Nobody should pay for such a
// summary.
func (c *call) checkRest() error {
	d := c.draftByHand()
	if s := d.span(); d.tokens() <= d.budget && d.fitsBody() || d.restFits(&s, summarysize.Least) || d.shrinkToFit() {
		return nil
	}
	return d.overflow()
}

// whyDigest says why a digest stands in for a summary.
func (c *call) whyDigest() string {
	switch {
	case !c.opts.asksSummarizer():
		return noSummarizer
	case c.ledger.breaker.Reason != "":
		return c.ledger.breaker.Reason
	}
	return "too little for a call of the summarizer"
}

// compact summarizes the older messages of d and returns the draft that has the summary in their place, with its
// report. It commits nothing. The lock is held, but not while code of the host runs.
func (c *call) compact(ctx context.Context, d *draft, how compactCall) (*draft, *Compaction, error) {
	before := d.tokens()
	plan, err := d.newCompaction(how)
	if err == nil {
		c.unlocked(func() { err = plan.askRules() })
	}
	if err != nil {
		return nil, nil, err
	}
	c.opts.Logger.Debug("winnow: compacting", "tokens", before, "budget", d.budget, "asked", how.isAsked)
	cp, report, err := c.writeSummary(ctx, plan)
	if err != nil {
		return nil, nil, err
	}
	d.makeUnique(cp)
	next := d.again(cp, c.ledger.records, map[key]*edit{})
	if next.checkpoint != nil && !next.shrinkToFit() {
		// The first try left out the new edits and records of d. They shorten results that may be among the newest once
		// older messages are summarized, and the model wants the newest results whole. That did not fit, so the second
		// try has them.
		next = d.again(cp, d.recordsBehind(), d.newEdits)
	}
	if next.checkpoint == nil || !how.isAsked && !next.shrinkToFit() && next.tokens() >= before {
		return nil, nil, fmt.Errorf("%w: %w", ErrCompaction, errNoGain)
	}
	return next, report, nil
}

// writeSummary runs plan, and counts that for the limits of the tries.
func (c *call) writeSummary(ctx context.Context, plan *compaction) (cp *checkpoint, report *Compaction, err error) {
	tries := &c.ledger.tries
	if tries.oneCall || tries.Refusals > 0 && maxSummaryCalls-tries.Calls < 2 {
		plan.once = true
	}
	isCounted := !isDigest(plan.by) // a digest costs no call, so a request may take any number of them
	if isCounted {
		tries.Compactions++
		plan.limit = max(0, plan.limit-c.waited)
	}
	began := time.Now() // not Options.Now: it is how long somebody waits
	c.unlocked(func() { cp, report, err = plan.run(ctx) })
	if isCounted {
		c.waited += time.Since(began)
		tries.countCalls(report, err)
	}
	return cp, report, err
}

// countCalls counts the calls of the summarizer for a compaction that ended with report or err.
func (t *tries) countCalls(report *Compaction, err error) {
	switch {
	case err != nil:
		t.Calls = maxSummaryCalls // no call is left: a summarizer that failed is not asked again for this request
	case t.Refusals == 0:
		t.Calls++ // for Prepare: it counts as one, however many calls it took
	default:
		t.Calls += report.Calls
	}
}

// commit makes the draft of p what was sent last, and returns its request. The error comes from Options.Journal.
func (c *call) commit(p *proposal) (*Request, error) {
	d, l, before := p.draft, c.ledger, *c.ledger
	r, cold, reason := d.request(), d.isCold(), d.reason()
	miss := l.compare(d.lastUsage, d.prices.least)
	l.record(d)
	l.promise(d, r, &before, cold)
	l.bytes = r.Bytes
	if p.also != nil {
		p.also(l)
	}
	if p.report != nil {
		l.recordSummary(d)
		p.report.TokensAfter, r.Compaction = r.Tokens, p.report
	}
	if err := c.writeDelta(); err != nil {
		return nil, err
	}
	switch log := c.opts.Logger; {
	case r.FirstChanged < len(before.sent):
		log.Info(event.Rewritten, "first_changed", r.FirstChanged,
			"messages_before", len(before.sent), "messages", len(r.Messages), "tokens_before", before.tokens,
			"tokens", r.Tokens, "edits", len(d.newEdits), "records", d.newRecords, "cold", cold, "reason", reason)
	case d.firstReason != "" || d.newRecords > 0:
		// Nothing that was sent is rewritten. Without a log entry nobody would know why a part of the history is gone.
		log.Info("winnow: the history is sent shortened", "reason", reason, "edits", len(d.newEdits),
			"records", d.newRecords,
			"tokens_whole", d.estimateHistory(len(d.history)), "tokens", r.Tokens,
			"options", "FoldAbove, Prune, Truncate")
	}
	if l.bindsThinking && !before.bindsThinking {
		c.logBinding()
	}
	c.logMissed(miss)
	d.logRejected()
	if x := p.report; x != nil {
		c.opts.Logger.Info("winnow: compacted", "tokens_before", x.TokensBefore, "tokens_after", x.TokensAfter,
			"first_kept", x.FirstKept, "calls", x.Calls, "degraded", r.Degraded)
		c.manager.endBackground() // its summary is in use now, or is about messages that are replaced now
	}
	c.keep()
	return r, nil
}

// reason says for the log why d is not the history as it came, or not what was sent.
func (d *draft) reason() string {
	switch {
	case d.firstReason != "":
		return d.firstReason
	case d.checkpoint != d.ledger.checkpoint:
		return "a summary stands for older history"
	case d.newRecords > 0:
		return "old work becomes records"
	}
	return "the history is not the last one and what follows it"
}

// recordSummary remembers that d has a new summary.
func (l *ledger) recordSummary(d *draft) {
	l.flushed = false // the next compaction has a flush of its own
	l.names = withNames(l.names, d.names, d.checkpoint.summaryKeys)
	if d.checkpoint.degraded != "" {
		l.digestAt = d.historyTokens()
	}
}

// closeBreaker resets the breaker of l, because the summarizer works.
func closeBreaker(l *ledger) { l.breaker = breaker.Breaker{} }
