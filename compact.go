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
	if d.fits() || d.checkpoint == nil && d.ledger.accounting.IsGuessed() { // it is made without the guess instead
		return false
	}
	// A draft of its own, because shrinkToFit changes it.
	least := newDraft(d.settings, d.ledger, d.history, d.base, d.ledger.records, map[key]*edit{}).passes()
	return !least.shrinkToFit() && least.tokens() > least.budget
}

// draftByHand is draft for Compact.
func (m *Manager) draftByHand(history []Message) *draft {
	d := m.draft(history, m.ledger.checkpoint)
	if !d.verdict().hasNews {
		d.keepRecent = 0 // the newest step stays whatever its size
	}
	return d
}

// checkRest returns an error if a request for history cannot fit, not even with a short summary in it. Nobody should
// pay for such a summary.
func (m *Manager) checkRest(history []Message) error {
	d := m.draftByHand(history)
	if s := d.span(); d.tokens() <= d.budget && d.fitsBody() || d.restFits(&s, summarysize.Least) || d.shrinkToFit() {
		return nil
	}
	return d.overflow()
}

// whyDigest says why a digest stands in for a summary.
func (m *Manager) whyDigest() string {
	switch {
	case !m.opts.asksSummarizer():
		return noSummarizer
	case m.ledger.breaker.Reason != "":
		return m.ledger.breaker.Reason
	}
	return "too little for a call of the summarizer"
}

// compact summarizes the older messages of d and returns the draft that has the summary in their place, with its
// report. It commits nothing. The lock is held, but not while code of the host runs.
func (m *Manager) compact(ctx context.Context, d *draft, call compactCall) (*draft, *Compaction, error) {
	before := d.tokens()
	c, err := d.newCompaction(call)
	if err == nil {
		m.unlocked(func() { err = c.askRules() })
	}
	if err != nil {
		return nil, nil, err
	}
	m.opts.Logger.Debug("winnow: compacting", "tokens", before, "budget", d.budget, "asked", call.isAsked)
	cp, report, err := m.writeSummary(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	m.makeUnique(cp, d)
	next := m.redraft(d, cp, m.ledger.records, map[key]*edit{})
	if next.checkpoint != nil && !next.shrinkToFit() {
		// The first try left out the new edits and records of d. They shorten results that may be among the newest once
		// older messages are summarized, and the model wants the newest results whole. That did not fit, so the second
		// try has them.
		next = m.redraft(d, cp, m.ledger.recordsBehind(d), d.newEdits)
	}
	if next.checkpoint == nil || !call.isAsked && !next.shrinkToFit() && next.tokens() >= before {
		return nil, nil, fmt.Errorf("%w: %w", ErrCompaction, errNoGain)
	}
	return next, report, nil
}

// writeSummary runs c, and counts that for the limits of the tries.
func (m *Manager) writeSummary(ctx context.Context, c *compaction) (cp *checkpoint, report *Compaction, err error) {
	tries := &m.ledger.tries
	if tries.oneCall || tries.Refusals > 0 && maxSummaryCalls-tries.Calls < 2 {
		c.once = true
	}
	isCounted := !isDigest(c.by) // a digest costs no call, so a request may take any number of them
	if isCounted {
		tries.Compactions++
		c.limit = max(0, c.limit-m.waited)
	}
	began := time.Now() // not Options.Now: it is how long somebody waits
	m.unlocked(func() { cp, report, err = c.run(ctx) })
	if isCounted {
		m.waited += time.Since(began)
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

// commit makes the draft of p what was sent last, and returns its request. The error comes from Options.Journal;
// nothing has changed then.
func (m *Manager) commit(p *proposal) (*Request, error) {
	// kept for the comparison below, because the ledger has a new list by then
	d := p.draft
	r, sent, l := d.request(), m.ledger.sent, &m.ledger
	before := sentBefore{messages: len(sent), tokens: l.tokens, at: l.sentAt, isCold: d.isCold()}
	reason, wasBound := d.reason(), l.bindsThinking
	var miss *missed
	err := m.journaled(func() {
		miss = m.ledger.compare(d.lastUsage, d.prices.least)
		m.ledger.record(d)
		m.ledger.promise(d, r, before)
		m.ledger.bytes = r.Bytes
		if p.also != nil {
			p.also(&m.ledger)
		}
		if p.report != nil {
			m.ledger.recordSummary(d)
		}
	})
	if err != nil {
		return nil, err
	}
	switch {
	case r.FirstChanged < len(sent):
		m.opts.Logger.Info(event.Rewritten, "first_changed", r.FirstChanged,
			"messages_before", len(sent), "messages", len(r.Messages), "tokens_before", before.tokens, "tokens", r.Tokens,
			"edits", len(d.newEdits), "records", d.newRecords, "cold", before.isCold, "reason", reason)
	case d.firstReason != "" || d.newRecords > 0:
		// Nothing that was sent is rewritten. Without a log entry nobody would know why a part of the history is gone.
		m.opts.Logger.Info("winnow: the history is sent shortened", "reason", reason, "edits", len(d.newEdits),
			"records", d.newRecords,
			"tokens_whole", d.estimateHistory(len(d.history)), "tokens", r.Tokens,
			"options", "FoldAbove, Prune, Truncate")
	}
	if m.ledger.bindsThinking && !wasBound {
		m.logBinding()
	}
	m.logMissed(miss)
	d.logRejected()
	if p.report != nil {
		m.reportSummary(r, p.report)
	}
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

// reportSummary says in r, and in the log, what was compacted. The work in the background ends only now: had the commit
// failed, the next call would have used it.
func (m *Manager) reportSummary(r *Request, report *Compaction) {
	m.endBackground() // its summary is in use now, or is about messages that are replaced now
	report.TokensAfter = r.Tokens
	r.Compaction = report
	m.opts.Logger.Info("winnow: compacted", "tokens_before", report.TokensBefore, "tokens_after", report.TokensAfter,
		"first_kept", report.FirstKept, "calls", report.Calls, "degraded", r.Degraded)
}

// closeBreaker resets the breaker of l, because the summarizer works.
func closeBreaker(l *ledger) { l.breaker = breaker.Breaker{} }
