package winnow

import (
	"context"
	"fmt"
	"time"

	"github.com/winnowgo/winnow/internal/breaker"
	"github.com/winnowgo/winnow/internal/count"
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
	return d.canCompact() || d.isLastResort()
}

// isLastResort reports whether only a summary can make the request fit, although it would stand for little: for little
// more than the last one, for no more but in fewer words, or for a short history before a request that nearly fills the
// window.
func (d *draft) isLastResort() bool {
	if d.fits() || d.checkpoint == nil && d.ledger.accounting.IsGuessed() { // it is made without the guess instead
		return false
	}
	s := d.span()
	if !d.restFits(&s, summarysize.LeastWords) || !d.hasNews(&s, 0) && !d.canShorten(&s) {
		return false
	}
	// A draft of its own, because shrinkToFit changes it.
	least := newDraft(d.settings, d.ledger, d.history, d.base, d.ledger.records, map[key]*edit{}).passes()
	return !least.shrinkToFit() && least.tokens() > least.budget
}

// draftByHand is draft for Compact.
func (m *Manager) draftByHand(history []Message) *draft {
	d := m.draft(history, m.ledger.checkpoint)
	if !d.isWorthCompacting() {
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

// compactAndCommit is what Prepare does with a draft that needs a compaction. The lock is held, but not
// while a summarizer is called.
func (m *Manager) compactAndCommit(ctx context.Context, d *draft) (*Request, error) {
	total := d.historyTokens()
	if m.ledger.breaker.IsOpen(total, d.budget) && !d.isDigestDue(d.checkpoint, total) {
		m.opts.Logger.Debug("winnow: the summarizer is not asked: the breaker is open",
			"failures", m.ledger.breaker.Failures)
		return m.withoutSummary(ctx, d)
	}
	if unread := d.unsummarizedTokens(); unread < count.Share(d.budget, leastWorth) || !d.isWorthCall() {
		m.opts.Logger.Debug("winnow: the summarizer is not asked: there is too little to summarize", "tokens", unread)
		return m.withoutSummary(ctx, d)
	}
	return m.summarizeAndCommit(ctx, d)
}

// replaceDigest asks the summarizer once for the summary that a digest stands in for. If it fails, the digest stays.
func (m *Manager) replaceDigest(ctx context.Context, d *draft) (*Request, error) {
	m.ledger.tries.oneCall = true // the request fits without the summary, so it must not wait long
	return m.summarizeAndCommit(ctx, d)
}

// summarizeAndCommit asks the summarizer for a summary in d. Where there is none, or where even that leaves too little
// room, a digest can be shorter.
func (m *Manager) summarizeAndCommit(ctx context.Context, d *draft) (*Request, error) {
	compacted, report, err := m.compact(ctx, d, compactCall{by: m.opts.Summarizer})
	switch {
	case err == nil && compacted.shrinkToFit():
		return m.commitCompaction(compacted, report, closeBreaker)
	case ctx.Err() != nil:
		return nil, errWaiting(ctx)
	case err != nil:
		m.noteFailure(err, d)
	}
	m.ledger.digestAt = d.historyTokens() // in the place of a digest, it is tried again when the history has grown
	return m.withoutSummary(ctx, d)
}

// withoutSummary decides what becomes of d when no summary can be had. The request is sent without one if it fits the
// budget, even if only without the margin of the estimates, because a digest would lose more. Else a digest stands in.
func (m *Manager) withoutSummary(ctx context.Context, d *draft) (*Request, error) {
	// A new draft, because the host may have used the manager while the summarizer was asked.
	if next := m.draft(d.history, m.ledger.checkpoint); next.tokens() <= next.budget && next.shrinkToFit() {
		return m.commit(next)
	}
	return m.digestAndCommit(ctx, d)
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

// digestAndCommit lets a digest stand in for a summary that cannot be had. By then everything that may be cleared is
// cleared. Only the newest results are left to cut, and the model works with those, so they are cut only if the digest
// is not enough. A summary is made shorter only if nothing else helps.
func (m *Manager) digestAndCommit(ctx context.Context, failed *draft) (*Request, error) {
	before := failed.historyTokens()
	call := compactCall{by: Digest(), because: m.whyDigest()}
	d, report, err := m.compact(ctx, m.draft(failed.history, failed.base), call)
	if err == nil && d.shrinkToFit() {
		return m.commitCompaction(d, report, func(l *ledger) { l.breaker.Digested(before - d.historyTokens()) })
	}
	if err != nil {
		d = m.draft(failed.history, m.ledger.checkpoint)
	}
	if d.shrinkToFit() {
		return m.commit(d)
	}
	call.shortens = true
	next, report, err := m.compact(ctx, m.draft(failed.history, failed.base), call)
	if err == nil && next.shrinkToFit() {
		return m.commitCompaction(next, report)
	}
	return nil, d.overflow()
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
	began := time.Now()
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

// commit makes d what was sent last, and returns its request. The functions of `also` change the ledger in the same
// step. The error comes from Options.Journal; nothing has changed then.
func (m *Manager) commit(d *draft, also ...func(l *ledger)) (*Request, error) {
	// kept for the comparison below, because the ledger has a new list by then
	r, sent := d.request(), m.ledger.sent
	tokens, cold, reason, wasBound := m.ledger.tokens, d.isCold(), d.reason(), m.ledger.bindsThinking
	err := m.journaled(func() {
		m.ledger.record(d)
		m.ledger.bytes = r.Bytes
		for _, change := range also {
			change(&m.ledger)
		}
	})
	if err != nil {
		return nil, err
	}
	switch {
	case r.FirstChanged < len(sent):
		m.opts.Logger.Info(event.Rewritten, "first_changed", r.FirstChanged,
			"messages_before", len(sent), "messages", len(r.Messages), "tokens_before", tokens, "tokens", r.Tokens,
			"edits", len(d.newEdits), "records", d.newRecords, "cold", cold, "reason", reason)
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
	d.logRejected()
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

// commitCompaction is commit for a draft that has a new checkpoint.
func (m *Manager) commitCompaction(d *draft, report *Compaction, also ...func(l *ledger)) (*Request, error) {
	r, err := m.commit(d, append(also, func(l *ledger) {
		l.flushed = false // the next compaction has a flush of its own
		l.names = withNames(l.names, d.names, d.checkpoint.summaryKeys)
		if d.checkpoint.degraded != "" {
			l.digestAt = d.historyTokens()
		}
	})...)
	if err != nil {
		return nil, err
	}
	// Only now: had the commit failed, the next call would have used the background work.
	m.endBackground() // its summary is in use now, or is about messages that are replaced now
	report.TokensAfter = r.Tokens
	r.Compaction = report
	m.opts.Logger.Info("winnow: compacted", "tokens_before", report.TokensBefore, "tokens_after", report.TokensAfter,
		"first_kept", report.FirstKept, "calls", report.Calls, "degraded", r.Degraded)
	return r, nil
}

// closeBreaker resets the breaker of l, because the summarizer works.
func closeBreaker(l *ledger) { l.breaker = breaker.Breaker{} }
