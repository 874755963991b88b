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

// makeRequest climbs the ladder of Prepare. The host may use the manager while Prepare waits, so the ladder is then
// made anew. The loop ends, because there are two reasons to go round and each occurs only once: background work has
// ended, or the host was asked to save what it wants to keep, which is done once before each compaction. The lock is
// held, but not while code of the host runs.
func (m *Manager) makeRequest(ctx context.Context, history []Message, failedJustNow bool) (*Request, error) {
	var l *ladder
	for unlocked := true; unlocked; {
		l = m.newLadder(history, failedJustNow)
		if l.draft.fault != nil {
			return nil, l.draft.fault
		}
		m.endUseless(l.draft, l.ready, l.notReady)
		var err error
		if unlocked, err = l.wait(ctx); err != nil {
			return nil, err
		}
	}
	rungs := ofPrepare
	if l.due == notDue {
		rungs = rungs[:1]
	}
	r, err := l.climb(ctx, rungs)
	if r == nil && err == nil {
		err = l.last.overflow()
	}
	return r, err
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
	var l *ladder
	_ = m.underLimits(history, func() error { // what does not fit is shown as well
		if l = m.newLadder(history, false); l.due == notDue && !l.mayBeSent {
			return l.draft.overflow()
		}
		return nil
	})
	r := l.draft.request()
	r.NeedsCompaction = l.due != notDue
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
	if !m.draftByHand(history).verdict().hasNews {
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
	l := &ladder{manager: m, ledger: &m.ledger, history: history, instructions: instructions}
	return l.climb(ctx, ofCompact)
}
