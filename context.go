package winnow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/winnowgo/winnow/internal/record"
)

// Prepare returns what to send for history now. It may call the [Summarizer].
//
// Do not send a request without messages, or one whose newest calls all wait for their results. If only some have one,
// a text stands in for the others until they come. If the provider has compacted the conversation ([MediaCompaction]),
// the request begins there, unless Options.Model cannot read that.
//
// The error is an [*InvalidMessageError] if history has a message with a role or a kind that is none,
// [ErrSentAsHistory], an [*OverflowError] if the request cannot be made to fit, that of ctx if ctx ended while Prepare
// waited for a summary, or that of [Options].Journal. The manager is then as it was, except that it remembers a failed
// summarizer. A compaction that fails is no error if the request fits without it, or with a digest: see
// [Request].Degraded.
func (m *Manager) Prepare(ctx context.Context, history []Message) (r *Request, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range history {
		if m.ledger.isSent(&history[i]) {
			return nil, fmt.Errorf("%w (message %d)", ErrSentAsHistory, i)
		}
	}
	undo := m.begin()
	defer func() {
		if r == nil { // an error, or code of the host has panicked
			undo()
		}
	}()
	m.settle(history)
	failures := m.ledger.breaker.Failures
	err = m.underLimits(history, func() (err error) {
		r, err = m.makeRequest(ctx, history, m.ledger.breaker.Failures > failures)
		return err
	})
	return r, err
}

// isSent reports whether m has, as the text of a person, a record or the summary that was sent. A host that keeps
// [Request].History has the summary too, but marked as one.
func (l *ledger) isSent(m *Message) bool {
	return beginsTurn(m) && slices.ContainsFunc(m.Parts, func(p Part) bool {
		if c := l.checkpoint; c != nil && joinedText(&c.message) == p.Text {
			return true
		}
		isIt := func(r *runRecord) bool { return joinedText(&r.message) == p.Text }
		return record.Is(p.Text) && slices.ContainsFunc(l.records, isIt)
	})
}

// underLimits calls try, which makes a request for history, each time once more with fewer tokens if only the body was
// too large. As long as the error is an overflow, it goes on
//
//  1. without limits that were only guessed
//  2. without what another process learned from counts
//
// because a guess alone must not make a call fail. A request that was refused already is not tried again. If all of
// them fail, the caller brings back what was forgotten.
func (m *Manager) underLimits(history []Message, try func() error) error {
	l := &m.ledger
	err := l.withinBody(try)
	for _, forget := range []func(l *ledger) bool{(*ledger).forgetGuesses, (*ledger).ignoreCounts} {
		isGuessed := l.accounting.Guess.Most > 0
		if !errors.Is(err, ErrOverflow) || !forget(l) {
			continue
		}
		d := m.draft(history, l.checkpoint)
		switch {
		case !d.shrinkToFit() || !slices.Contains(l.tries.refused, d.key()):
			err = l.withinBody(try)
		case isGuessed:
			err = d.overflow() // against the limit that was told, not against the guess
		}
	}
	l.ignoresCounts = false
	return err
}

// withinBody calls try, and once more if its request would have too many bytes: ledger.mostTokens bounds the budget of
// all drafts meanwhile.
func (l *ledger) withinBody(try func() error) error {
	err := try()
	tokens := tokensForBody(err)
	if tokens == 0 {
		return err
	}
	l.mostTokens = tokens
	defer func() { l.mostTokens = 0 }()
	return try()
}

// outcome is what becomes of a draft.
type outcome uint8

const (
	tooLarge     outcome = iota // it cannot be made to fit
	mayBeSent                   // as it is, or shrunk
	summaryIsDue                // a summary is due
	digestIsDue                 // it fits, and it is time to replace its digest by a summary
)

// choice is what becomes of a history: Prepare carries it out, and Plan shows it.
type choice struct {
	draft    *draft
	report   *Compaction // of the summary in draft that was made in the background; nil: none was
	notReady error       // why the summary made in the background cannot be used; nil: it can, or there is none
	fits     bool        // the draft, before it was shrunk
	outcome  outcome
}

// choose decides what becomes of history. It sends and commits nothing; only the tries begin anew. failedJustNow says
// that the summarizer failed, for this same request.
func (m *Manager) choose(history []Message, failedJustNow bool) *choice {
	m.ledger.tries.begin()
	c := &choice{}
	c.draft, c.report, c.notReady = m.withReadySummary(m.draft(history, m.ledger.checkpoint))
	d, wasAskedJustNow := c.draft, c.report != nil || failedJustNow || hasFailed(c.notReady)
	c.fits = d.fits()
	switch {
	case d.needsCompaction():
		c.outcome = summaryIsDue
	case !wasAskedJustNow && m.mayReplaceDigest(d):
		c.outcome = digestIsDue
	case d.shrinkToFit():
		c.outcome = mayBeSent
	}
	return c
}

// makeRequest carries out what choose says. The host may use the manager while Prepare waits, so the choice is then
// made anew. The loop ends, because there are two reasons to go round and each occurs only once: background work has
// ended, or the host was asked to save what it wants to keep, which is done once before each compaction. The lock is
// held, but not while code of the host runs.
func (m *Manager) makeRequest(ctx context.Context, history []Message, failedJustNow bool) (*Request, error) {
	for {
		c := m.choose(history, failedJustNow)
		if c.draft.fault != nil {
			return nil, c.draft.fault
		}
		m.endUseless(c.draft, c.report, c.notReady)
		if unlocked, err := m.prepareOutcome(ctx, c); err != nil {
			return nil, err
		} else if unlocked {
			continue
		}
		switch {
		case c.outcome == summaryIsDue && (failedJustNow || hasFailed(c.notReady)):
			return m.withoutSummary(ctx, c.draft) // asking the summarizer again at once would fail again
		case c.outcome == summaryIsDue:
			return m.compactAndCommit(ctx, c.draft)
		case c.outcome == digestIsDue:
			return m.replaceDigest(ctx, c.draft)
		case c.outcome == tooLarge:
			return nil, c.draft.overflow()
		case c.report != nil:
			return m.commitCompaction(c.draft, c.report, closeBreaker)
		}
		return m.commit(c.draft)
	}
}

// prepareOutcome waits or saves before c is carried out: it waits for the summary that is being made in the background,
// begins one, or has the host save what it wants to keep. It reports whether it let go of the lock.
func (m *Manager) prepareOutcome(ctx context.Context, c *choice) (unlocked bool, err error) {
	d := c.draft
	if c.outcome == summaryIsDue {
		if unlocked, err = m.awaitBackground(ctx, d); unlocked || err != nil {
			return unlocked, err
		}
		return m.flush(ctx, d.history), nil
	}
	if c.report == nil && c.fits && m.prepareCompaction(ctx, d) {
		return true, nil // ahead of a compaction that is near
	}
	return c.outcome == digestIsDue && m.flush(ctx, d.history), nil
}

// mayReplaceDigest reports whether it is time to ask for the summary that a digest stands in for, though the request
// fits: the cache is cold, or the history has grown by a share of the budget.
func (m *Manager) mayReplaceDigest(d *draft) bool {
	return len(d.digested) > 0 && m.background == nil && d.fits() && d.isDigestDue(d.checkpoint, d.historyTokens())
}

// Plan is Prepare without effects: it calls no LLM and changes no state. Request.NeedsCompaction says that Prepare
// would compact: the request is then the one before that, and may be above Budget. If Prepare would return an error,
// Plan returns the smallest request that it could make, with Tokens above Budget or Bytes above the limit of the body.
// It does not look for messages that [Validate] refuses.
func (m *Manager) Plan(history []Message) *Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.savepoint()() // what is decided and forgotten here is undone: Plan has no effects
	m.settle(history)
	var c *choice
	_ = m.underLimits(history, func() error { // what does not fit is shown as well
		if c = m.choose(history, false); c.outcome == tooLarge {
			return c.draft.overflow()
		}
		return nil
	})
	r := c.draft.request()
	r.NeedsCompaction = c.outcome == summaryIsDue || c.outcome == digestIsDue
	return r
}

// Compact summarizes now, whatever the size, even if CompactOptions.Off is set or compactions failed before.
// instructions are for this summary only. If nothing is older than KeepRecent, only the newest step and the newest
// request stay. The summary may be longer than what it replaces.
//
// The error is an [*InvalidMessageError], [ErrNothingToCompact], wraps [ErrCompaction] if no summary could be made, is
// an [*OverflowError] if the request does not fit even with one (then none is asked for), or is that of
// [Options].Journal. After an error the manager is as it was, but a summary in the background is lost.
func (m *Manager) Compact(ctx context.Context, history []Message, instructions string) (r *Request, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := Validate(history); err != nil {
		return nil, err
	}
	// Checked first: if there is nothing to compact, work in the background goes on.
	if !m.draftByHand(history).isWorthCompacting() {
		return nil, ErrNothingToCompact
	}
	m.endBackground()
	undo := m.begin()
	defer func() {
		if r == nil { // an error, or code of the host has panicked
			undo()
		}
	}()
	m.settle(history)
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
