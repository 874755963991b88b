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
// The error is an [*InvalidMessageError], [ErrSentAsHistory], an [*OverflowError], that of ctx if ctx ended while
// Prepare waited for a summary, or that of [Options].Journal. The manager then only remembers a failed summarizer. A
// compaction that fails is no error if the request fits without it, or with a digest: see [Request].Degraded.
func (m *Manager) Prepare(ctx context.Context, history []Message) (r *Request, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range history {
		if m.state.isSent(&history[i]) {
			return nil, fmt.Errorf("%w (message %d)", ErrSentAsHistory, i)
		}
	}
	c := m.begin(history, (*call).settle)
	failures := c.ledger.breaker.Failures
	err = c.underLimits(func() (err error) {
		r, err = c.makeRequest(ctx, c.ledger.breaker.Failures > failures)
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

// underLimits calls try, which makes a request, each time once more with fewer tokens if only the body was too large.
// As long as the error is an overflow, it goes on
//
//  1. without limits that were only guessed
//  2. without what another process learned from counts
//
// because a guess alone must not make a call fail. Guesses come first, so that a restart changes no request that the
// old process would have made. A request that was refused already is not tried again.
func (c *call) underLimits(try func() error) error {
	err := c.withinBody(try)
	for _, counts := range []bool{false, true} {
		l := c.ledger
		isGuessed := !c.withoutGuess && l.accounting.Guess.Most > 0
		switch {
		case !errors.Is(err, ErrOverflow), counts && !l.isRestored, !counts && !l.accounting.IsGuessed():
			continue
		case counts:
			c.withoutCounts = true
		default:
			c.withoutGuess = true
		}
		d := c.replay(l.checkpoint)
		switch {
		case !d.shrinkToFit() || !slices.Contains(l.tries.refused, d.key()):
			err = c.withinBody(try)
		case isGuessed:
			err = d.overflow() // against the limit that was told, not against the guess
		}
	}
	return err
}

// withinBody calls try, and once more if its request would have too many bytes.
func (c *call) withinBody(try func() error) error {
	err := try()
	if c.mostTokens = tokensForBody(err); c.mostTokens > 0 {
		err = try()
		c.mostTokens = 0
	}
	return err
}

// makeRequest climbs the ladder of Prepare. The host may use the manager while Prepare waits, so the ladder is then
// made anew. The loop ends, because there are two reasons to go round and each occurs only once: background work has
// ended, or the host was asked to save what it wants to keep, which is done once before each compaction. The lock is
// held, but not while code of the host runs.
func (c *call) makeRequest(ctx context.Context, failedJustNow bool) (*Request, error) {
	var l *ladder
	for unlocked := true; unlocked; {
		l = c.newLadder(failedJustNow)
		if l.draft.fault != nil {
			return nil, l.draft.fault
		}
		c.endUseless(l.draft, l.ready, l.notReady)
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
	c := m.begin(history, (*call).settle)
	var l *ladder
	_ = c.underLimits(func() error { // what does not fit is shown as well
		if l = c.newLadder(false); l.due == notDue && !l.mayBeSent {
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
// [Options].Journal. After one a summary in the background is lost.
func (m *Manager) Compact(ctx context.Context, history []Message, instructions string) (*Request, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := Validate(history); err != nil {
		return nil, err
	}
	// Checked first: if there is nothing to compact, work in the background goes on.
	if !m.begin(history, nil).draftByHand().verdict().hasNews {
		return nil, ErrNothingToCompact
	}
	m.endBackground()
	c := m.begin(history, (*call).settle)
	c.ledger.tries.begin()
	if err := c.checkRest(); err != nil {
		return nil, err
	}
	c.flush(ctx)
	return (&ladder{call: c, instructions: instructions}).climb(ctx, ofCompact)
}
