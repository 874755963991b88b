package winnow

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnowgo/winnow/internal/count"
)

// Step 7 of Manager.draft's list, and the only one that waits: the manager's way through a compaction.

// What one run may do: compactions between two calls of Prepare, and calls of the summarizer for those of Recover. A
// history that is larger than the summarizer's window takes a call for each part of it nevertheless.
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
	case err == nil: // a digest would keep no less
		return nil, compacted.overflow()
	case ctx.Err() != nil:
		return nil, errWaiting(ctx)
	}
	m.noteFailure(err, d)
	return m.withoutSummary(ctx, d)
}

// withoutSummary is what becomes of a draft whose summary is not to be had: it is sent as it is, if it fits. That the
// estimates may be too low is no reason to lose what a digest does not hold.
func (m *Manager) withoutSummary(ctx context.Context, d *draft) (*Request, error) {
	if next := m.draft(d.history, m.ledger.checkpoint); next.tokens() <= next.budget && next.shrinkToFit() {
		return m.commit(next)
	}
	return m.digestAndCommit(ctx, d)
}

// digestAndCommit lets the digest stand in for a summary that is not to be had. All that may be cleared is
// cleared by then; what is left to cut are the newest results, and those are what the model works with. They
// are cut when the digest is not enough.
func (m *Manager) digestAndCommit(ctx context.Context, failed *draft) (*Request, error) {
	// The breaker measures how far the history has grown since the last failure. A digest makes it smaller, which must
	// not look as if nothing had come since: what has grown so far is kept.
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

// shrinkAndCommit commits d, or says what fills the window.
func (m *Manager) shrinkAndCommit(d *draft) (*Request, error) {
	if !d.shrinkToFit() {
		return nil, d.overflow()
	}
	return m.commit(d)
}

// replaceDigest asks the summarizer once. Where it fails the digest goes on to stand in.
func (m *Manager) replaceDigest(ctx context.Context, d *draft) (*Request, error) {
	m.ledger.run.asksOnce = true // the request fits without it, so it may not be held up for long
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

// compact makes a summary of d's older messages and returns the draft that has it in their place. The
// lock is held before and after, and not while the summarizer is called. Nothing is committed. A host that
// asked for it gets a summary of a short history too, which may be longer than that.
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
	run := &m.ledger.run
	switch run.Compactions++; {
	case run.asksOnce:
		c.limitCalls(1)
	case run.Refusals > 0:
		c.limitCalls(maxSummaryCalls - run.Calls)
	}
	var cp *checkpoint
	var report *Compaction
	m.unlocked(func() { cp, report, err = c.run(ctx, s) })
	if m.ledger.cache.IsEmpty() { // how much room a try had that brought nothing says nothing of the next one
		m.ledger.cache = nil
	}
	switch {
	case isDigest(s): // a digest costs no call, so a run may have any number of them
		run.Compactions--
	case err != nil: // one that fails is not asked again by this run
		run.Calls = maxSummaryCalls
	case run.Refusals == 0: // by Prepare, whatever it took
		run.Calls++
	default:
		run.Calls += report.Calls
	}
	if err != nil {
		return nil, nil, err
	}
	m.makeUnique(cp, d.view)
	next := m.redraft(d, cp, m.ledger.records, map[key]*projection{})
	if next.checkpoint != nil && !next.shrinkToFit() {
		// Results that were old are among the newest once what stood between is gone. They are wanted whole, if that
		// fits.
		next = m.redraft(d, cp, m.ledger.recordsBehind(d), d.newEdits)
	}
	if next.checkpoint == nil || !asked && !next.shrinkToFit() && next.tokens() >= before {
		return nil, nil, fmt.Errorf("%w: %w", ErrCompaction, errNoGain)
	}
	return next, report, nil
}
