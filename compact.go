package winnow

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnowgo/winnow/internal/count"
)

// Step 7, behind the six of Manager.draft, and the only one that waits: the compaction.

// The limits of one run, which lasts from one call of Prepare to the next: compactions, and calls of the summarizer for
// those of Recover. A history that is larger than the summarizer's window still takes a call for each of its parts.
const maxCompactionsPerRun, maxSummaryCalls = 2, 2

// needsCompaction reports whether the request does not fit, or soon will not, and a summary can help.
func (d *draft) needsCompaction() bool {
	return (d.isCramped || !d.fits()) && !d.opts.Compact.Off && d.canCompact()
}

// compactAndCommit is what Prepare does with a draft that needs a compaction. The lock is held, but not
// while a summarizer is called.
func (m *Manager) compactAndCommit(ctx context.Context, d *draft) (*Request, error) {
	if m.ledger.breaker.IsOpen(d.uneditedTokens(), d.budget) {
		m.opts.Logger.Debug("winnow: the summarizer is not asked: the breaker is open",
			"failures", m.ledger.breaker.Failures)
		return m.withoutSummary(ctx, d)
	}
	if unread := d.unreadTokens(); unread < count.Share(d.budget, leastWorth) {
		m.opts.Logger.Debug("winnow: the summarizer is not asked: there is too little to summarize", "tokens", unread)
		return m.withoutSummary(ctx, d)
	}
	compacted, report, err := m.compact(ctx, d, m.opts.Summarizer, "", false)
	switch {
	case err == nil && compacted.shrinkToFit():
		return m.commitCompaction(compacted, report, closeBreaker)
	case err == nil: // a digest would keep the same messages
		return nil, compacted.overflow()
	case ctx.Err() != nil:
		return nil, errWaiting(ctx)
	}
	m.noteFailure(err, d)
	return m.withoutSummary(ctx, d)
}

// withoutSummary decides what becomes of d when no summary can be had. The request is sent without one if it fits the
// budget, even if only without the margin of the estimates, because a digest would lose more. Else a digest stands in.
func (m *Manager) withoutSummary(ctx context.Context, d *draft) (*Request, error) {
	if next := m.draft(d.history, m.ledger.checkpoint); next.tokens() <= next.budget && next.shrinkToFit() {
		return m.commit(next)
	}
	return m.digestAndCommit(ctx, d)
}

// digestAndCommit lets a digest stand in for a summary that cannot be had. By then everything that may be cleared is
// cleared. Only the newest results are left to cut, and the model works with those, so they are cut only if the digest
// is not enough.
func (m *Manager) digestAndCommit(ctx context.Context, failed *draft) (*Request, error) {
	// The breaker measures how far the history has grown since the last failure. A digest makes the history smaller, so
	// Total moves with it: the growth so far still counts.
	grown := failed.uneditedTokens() - m.ledger.breaker.Total
	d, report, err := m.compact(ctx, m.draft(failed.history, failed.base), Digest(), "", false)
	if err == nil && d.shrinkToFit() {
		return m.commitCompaction(d, report, func(l *ledger) { l.breaker.Total = d.uneditedTokens() - grown })
	}
	if err != nil {
		d = m.draft(failed.history, m.ledger.checkpoint)
	}
	return m.shrinkAndCommit(d)
}

// shrinkAndCommit shrinks d to fit and commits it. If d cannot fit, the error says what fills the window.
func (m *Manager) shrinkAndCommit(d *draft) (*Request, error) {
	if !d.shrinkToFit() {
		return nil, d.overflow()
	}
	return m.commit(d)
}

// replaceDigest asks the summarizer once for the summary that a digest stands in for. If it fails, the digest stays.
func (m *Manager) replaceDigest(ctx context.Context, d *draft) (*Request, error) {
	m.ledger.run.asksOnce = true // the request fits without the summary, so it must not wait long
	compacted, report, err := m.compact(ctx, d, m.opts.Summarizer, "", false)
	if err == nil && compacted.shrinkToFit() {
		return m.commitCompaction(compacted, report, closeBreaker)
	}
	if ctx.Err() != nil {
		return nil, errWaiting(ctx)
	}
	if err != nil && !errors.Is(err, ErrNothingToCompact) {
		m.noteFailure(err, d)
	}
	m.ledger.digestAt = d.uneditedTokens() // it is tried again when the history has grown from here
	return m.shrinkAndCommit(m.draft(d.history, m.ledger.checkpoint))
}

// compact has s summarize the older messages of d and returns the draft that has the summary in their place, with its
// report. It commits nothing. The lock is held, but not while code of the host runs. instructions are for this summary
// only. asked says that the host called Compact: then a short history is summarized too, and its summary may be longer.
func (m *Manager) compact(ctx context.Context, d *draft, s Summarizer, instructions string, asked bool) (
	*draft, *Compaction, error,
) {
	before := d.tokens()
	c, err := d.newCompaction(instructions)
	if err == nil {
		c.isDown = c.isDown && !asked
		m.unlocked(func() { err = c.takeRules(m.opts.Compact.Rules, asked) })
	}
	if err != nil {
		return nil, nil, err
	}
	m.opts.Logger.Debug("winnow: compacting", "tokens", before, "budget", d.budget, "asked", asked)
	cp, report, err := m.writeSummary(ctx, c, s)
	if err != nil {
		return nil, nil, err
	}
	m.makeUnique(cp, d.view)
	next := m.redraft(d, cp, m.ledger.records, map[key]*projection{})
	if next.checkpoint != nil && !next.shrinkToFit() {
		// The first try left out the new edits and records of d. They shorten results that may be among the newest once
		// older messages are summarized, and the model wants the newest results whole. That did not fit, so the second
		// try has them.
		next = m.redraft(d, cp, m.ledger.recordsBehind(d), d.newEdits)
	}
	if next.checkpoint == nil || !asked && !next.shrinkToFit() && next.tokens() >= before {
		return nil, nil, fmt.Errorf("%w: %w", ErrCompaction, errNoGain)
	}
	return next, report, nil
}

// writeSummary has s write the summary of c, and counts the try and its calls for the limits of the run.
func (m *Manager) writeSummary(ctx context.Context, c *compaction, s Summarizer) (
	cp *checkpoint, report *Compaction, err error,
) {
	run := &m.ledger.run
	switch run.Compactions++; {
	case run.asksOnce:
		c.limitCalls(1)
	case run.Refusals > 0:
		c.limitCalls(maxSummaryCalls - run.Calls)
	}
	m.unlocked(func() { cp, report, err = c.run(ctx, s) })
	if m.ledger.cache.IsEmpty() { // a try that got no answer does not bind the room of the next one
		m.ledger.cache = nil
	}
	switch {
	case isDigest(s): // a digest costs no call, so a run may have any number of them
		run.Compactions--
	case err != nil: // this run does not ask a failed summarizer again
		run.Calls = maxSummaryCalls
	case run.Refusals == 0: // for Prepare: it counts as one, however many calls it took
		run.Calls++
	default:
		run.Calls += report.Calls
	}
	return cp, report, err
}
