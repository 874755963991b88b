package winnow

import (
	"context"
	"errors"
	"slices"
)

// Prepare returns what to send for history now. It may call the Summarizer.
//
// A history that is empty, or has nothing but blank messages, is not an error: the request has no messages then, and
// must not be sent. If none of the newest calls has a result yet, they stay open, and the request must not be sent
// either. If only some have one, each of the others gets a result that says that the real one is missing; the real one
// replaces it when it comes. A call may get another result later, as one of a tool that takes long: the model is shown
// it where it stands, as an inserted message that names the call, or in the place of the first one if that was never
// sent. [RepairToolPairing] alone drops it.
//
// If the provider itself has compacted the conversation ([MediaCompaction]), the request is that for the history from
// there on. System messages stay in front of it, and pins directly behind it. What stands before can be recalled. It is
// sent to a model of another provider that cannot read the compaction: Options.Model must name that model.
//
// The error is an [*OverflowError] if the request cannot be made to fit, that of ctx if ctx ended while Prepare waited
// for a summary, or that of [Options].Journal. A ctx that has ended is not an error if nothing has to be waited for.
// After an error the manager is as it was before, except that it remembers a failed summarizer, and that BeforeCompact
// may have been called. A compaction that fails is not an error as long as the request can be made to fit without it. A
// digest may then take the place of the summary ([Request].Degraded). The summarizer is asked again when the prompt
// cache is cold, and each time the history has grown by a tenth of the budget. It is asked less often if its answers,
// which are billed, were refused as summaries.
func (m *Manager) Prepare(ctx context.Context, history []Message) (r *Request, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	undo, failures := m.settleWithUndo(history), m.ledger.breaker.Failures
	defer func() {
		if r == nil { // an error, or code of the host has panicked
			undo()
		}
	}()
	if r, err = m.prepareWithinBody(ctx, history, failures); err != nil {
		r, err = m.withoutGuesses(ctx, history, failures, err)
	}
	return r, err
}

// withoutGuesses tries prepareWithinBody once more, without what is only guessed, if err is an overflow: a guess alone
// must not make a call fail. A request that was refused already is not tried again. The lock is held.
func (m *Manager) withoutGuesses(
	ctx context.Context, history []Message, failures int, err error,
) (r *Request, _ error) {
	l := &m.ledger
	undo := l.keepGuesses()
	defer func() {
		if r == nil { // an error, or code of the host has panicked: the manager is as it was
			undo()
		}
		l.ignoresCounts = false
	}()
	for _, drop := range l.doubtful() {
		if !errors.Is(err, ErrOverflow) {
			return r, err
		}
		isGuessed := l.accounting.Guess.Most > 0
		drop()
		d := m.draft(history, l.checkpoint)
		switch {
		case !d.shrinkToFit() || !slices.Contains(l.tries.refused, d.key()):
			r, err = m.prepareWithinBody(ctx, history, failures)
		case isGuessed:
			err = d.overflow() // against the limit that was told, not against the guess
		}
	}
	return r, err
}

// prepareWithinBody is makeRequest. If the body of its request would have too many bytes, it tries once more with fewer
// tokens, because the body may be small enough then: ledger.mostTokens bounds the budget of all drafts meanwhile. A
// summarizer that has failed more often than `failures` has failed in this call, and is not asked again. The lock is
// held, but not while code of the host runs.
func (m *Manager) prepareWithinBody(ctx context.Context, history []Message, failures int) (*Request, error) {
	r, err := m.makeRequest(ctx, history, m.ledger.breaker.Failures > failures)
	tokens := tokensForBody(err)
	if tokens == 0 {
		return r, err
	}
	m.ledger.mostTokens = tokens
	defer func() { m.ledger.mostTokens = 0 }()
	return m.makeRequest(ctx, history, m.ledger.breaker.Failures > failures)
}

// makeRequest makes a draft and decides what becomes of it: it is sent as it is or smaller, it is compacted, or the
// error says that it cannot fit. failedJustNow says that the summarizer failed, for this same request. The host may use
// the manager during a flush, or while a summary is waited for, so each `continue` makes a new draft. The loop ends,
// because there are two reasons to go round and each occurs only once: background work has ended, or the host was asked
// to save what it wants to keep. The latter is done once before each compaction, whichever case below asks for it.
func (m *Manager) makeRequest(ctx context.Context, history []Message, failedJustNow bool) (*Request, error) {
	for {
		m.ledger.tries.begin()
		// With a report, d has a summary that was made in the background; failed says that it could not be made.
		d, report, failed := m.takeReadySummary(m.draft(history, m.ledger.checkpoint))
		switch {
		case d.needsCompaction():
			waited, err := m.awaitBackground(ctx, d)
			if err != nil {
				return nil, err
			}
			if waited {
				continue // the summary that was made in the background is collected now
			}
			if m.flush(ctx, history) {
				continue // the host has saved what it wants to keep, and is not asked again before this compaction
			}
			if failed || failedJustNow { // asking the summarizer again at once would fail again
				return m.withoutSummary(ctx, d)
			}
			return m.compactAndCommit(ctx, d)
		case report == nil && d.fits() && m.prepareCompaction(ctx, d):
			continue // the host was asked to save what it wants to keep, ahead of a compaction that is near
		case report == nil && !failed && !failedJustNow && m.mayReplaceDigest(d):
			if m.flush(ctx, history) {
				continue // now the digest can be replaced, if it still is there
			}
			return m.replaceDigest(ctx, d)
		}
		if !d.shrinkToFit() {
			return nil, d.overflow()
		}
		if report != nil {
			return m.commitCompaction(d, report, closeBreaker)
		}
		return m.commit(d)
	}
}

// prepareCompaction does what has to happen ahead of a compaction that is near: it starts the summary in the
// background, or asks the host to save what it wants to keep. It reports whether the host was asked: it may have used
// the manager meanwhile.
func (m *Manager) prepareCompaction(ctx context.Context, d *draft) bool {
	o := m.opts.Compact
	// After Close there is no background any more: summaries are made in the foreground.
	inBackground := o.Background && !m.closed
	isDone := o.BeforeCompact == nil || m.ledger.flushed
	if inBackground { // the flush runs there too, ahead of the summary
		isDone = m.background != nil
	}
	if isDone || !m.isNearCompaction(d) {
		return false
	}
	if !inBackground {
		return m.flush(ctx, d.history)
	}
	m.startBackground(ctx, d)
	return false
}

// mayReplaceDigest reports whether it is time to ask for the summary that a digest stands in for, though the request
// fits: the cache is cold, or the history has grown by a share of the budget.
func (m *Manager) mayReplaceDigest(d *draft) bool {
	return len(d.digested) > 0 && m.background == nil && d.fits() && d.isDigestDue(d.checkpoint, d.uneditedTokens())
}

// Plan is Prepare without effects: it calls no LLM and changes no state. Request.NeedsCompaction says that Prepare
// would compact. If Prepare would return an error, Plan returns the smallest request that it could make, with Tokens
// above Budget or Bytes above the limit of the body.
func (m *Manager) Plan(history []Message) *Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	// What the drafts below learn and decide is undone: Plan has no effects.
	defer m.savepoint()()
	m.settle(history)
	m.ledger.tries.begin()
	d, needs, fits := m.plan(history)
	defer m.ledger.keepGuesses()()
	for _, drop := range m.ledger.doubtful() { // see withoutGuesses
		if needs || fits {
			break
		}
		drop()
		if next, needsToo, fitsToo := m.plan(history); !slices.Contains(m.ledger.tries.refused, next.key()) {
			d, needs, fits = next, needsToo, fitsToo
		}
	}
	r := d.request()
	r.NeedsCompaction = needs
	return r
}

// plan returns the draft that Plan reports, whether Prepare would compact it, and whether it fits as it is.
func (m *Manager) plan(history []Message) (d *draft, needs, fits bool) {
	if d, needs, fits = m.planRequest(history); needs || fits {
		return d, needs, fits
	}
	tokens := tokensForBody(d.overflow())
	if tokens == 0 {
		return d, false, false
	}
	m.ledger.mostTokens = tokens // as prepareWithinBody does
	defer func() { m.ledger.mostTokens = 0 }()
	if next, needs, fits := m.planRequest(history); !needs && fits {
		return next, false, true
	}
	return d, !m.opts.Compact.Off, false // not even that fits without a summary
}

// planRequest is plan under the limits as they are. A summary that the background has ready counts, because Prepare
// would use it.
func (m *Manager) planRequest(history []Message) (d *draft, needs, fits bool) {
	d, _, _ = m.withReadySummary(m.draft(history, m.ledger.checkpoint))
	if d.needsCompaction() || m.mayReplaceDigest(d) {
		return d, true, false
	}
	return d, false, d.shrinkToFit()
}

// Compact summarizes now, whatever the size, even if CompactOptions.Off is set or compactions failed before.
// instructions are for this summary only. If nothing is older than KeepRecent, only the newest step and the newest
// request stay. The error is [ErrNothingToCompact] if there is nothing else. It wraps [ErrCompaction] if no summary
// could be made, is an [*OverflowError] if the request does not fit even with the summary, or is that of
// [Options].Journal. No summary is asked for if not even a short one makes the request fit. After any error the manager
// is as it was before, except that BeforeCompact may have been called, and that a summary that was being made in the
// background is lost. The summary of a short history may be longer than what it replaces.
func (m *Manager) Compact(ctx context.Context, history []Message, instructions string) (r *Request, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// Checked first: if there is nothing to compact, work in the background goes on.
	if !m.draftByHand(history).isWorthCompacting() {
		return nil, ErrNothingToCompact
	}
	m.endBackground()
	undo := m.settleWithUndo(history)
	defer func() {
		if r == nil { // an error, or code of the host has panicked
			undo()
		}
	}()
	m.ledger.tries.begin()
	if err := m.checkRest(history); err != nil {
		return nil, err
	}
	m.flush(ctx, history)
	d := m.draftByHand(history) // anew: the host may have used the manager during the flush
	d, report, err := m.compact(ctx, d, compactCall{by: m.opts.Summarizer, isAsked: true, instructions: instructions})
	if err != nil {
		return nil, err
	}
	if !d.shrinkToFit() {
		return nil, d.overflow()
	}
	// An open recovery, whose request no answer has followed yet, is closed here: the next answer is to this request,
	// and proves nothing about the one that Recover made.
	return m.commitCompaction(d, report, closeBreaker, (*ledger).closeRecovery)
}
