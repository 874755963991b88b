package winnow

import (
	"context"
	"errors"

	"github.com/winnowgo/winnow/internal/count"
)

// The order in which requests are tried until one can be sent.

// rung is one thing that is tried. It returns nil if it leads to no request.
type rung struct {
	name string
	try  func(*ladder, context.Context) *proposal
}

// proposal is a draft that may be sent.
type proposal struct {
	draft  *draft
	report *Compaction     // of the new summary in draft; nil: it has none
	also   func(l *ledger) // what changes with it in the ledger, if it is sent; nil: nothing
}

// The rungs of each call; what is tried first stands first. Prepare ends at the first one if no summary is due, and
// Plan shows the draft of the first one, which costs no call.
var (
	ofPrepare = []rung{
		{"as it is", (*ladder).asItIs},
		{"summary", (*ladder).summary},
		{"without margin", (*ladder).withoutMargin},
		{"digest", (*ladder).digest},
		{"cut", (*ladder).cut},
		{"shorter digest", (*ladder).shorterDigest},
		{"shorter digest", (*ladder).shorterDigest},
	}
	ofCompact = []rung{{"summary", (*ladder).summaryByHand}}
	ofRecover = []rung{ // see [Request].Rung
		{"clear", (*ladder).clear},
		{"compact", (*ladder).summaryInRecovery},
		{"truncate", (*ladder).truncate},
		{"digest", (*ladder).digestInRecovery},
		// If the provider refused the request that truncate made, the estimates were still too low. They have been
		// corrected since by that refusal, so the results are cut further.
		{"truncate", (*ladder).cutToFit},
		{"smallest", (*ladder).takeSmallest},
		{"digest", (*ladder).digestInRecovery},
		{"digest", (*ladder).digestInRecovery},
		{"smallest", (*ladder).takeSmallest},
	}
)

// ladder is what one call climbs, rung by rung, to find a request.
type ladder struct {
	*call
	draft         *draft      // of Prepare and Compact: the first one
	last          *draft      // the draft that the error is about if no rung helps
	ready         *Compaction // of the summary in draft that was made in the background; nil: none was
	notReady      error       // why the summary made in the background cannot be used; nil: it can, or there is none
	due           due         // why a summary is asked for
	fits          bool        // draft did so before it was shrunk
	mayBeSent     bool        // draft fits, shrunk if need be; not looked at while a summary is due
	failedJustNow bool        // the summarizer has failed for this very request
	instructions  string      // of Compact
	err           error       // after which nothing else is tried
	digests       int         // that were ordered
	refusal                   // only of Recover: with a cause, a refused request is replaced
}

// due says whether a summary is due, and why.
type due uint8

const (
	notDue     due = iota
	summaryDue     // the request does not fit, or soon will not
	digestDue      // it fits, and it is time to replace its digest
)

// climb tries one rung after the other, and sends the first proposal. The request is nil if there is none.
func (l *ladder) climb(ctx context.Context, rungs []rung) (*Request, error) {
	for _, x := range rungs {
		p := x.try(l, ctx)
		switch {
		case l.err != nil:
			return nil, l.err
		case l.cause != nil && ctx.Err() != nil:
			return nil, l.ended(ctx)
		case p != nil && l.cause != nil:
			return l.sendSmaller(x.name, p)
		case p != nil:
			return l.commit(p)
		}
	}
	return nil, nil
}

// newLadder returns the ladder of Prepare, with its first draft. The tries begin anew.
func (c *call) newLadder(failedJustNow bool) *ladder {
	c.ledger.tries.begin()
	l := &ladder{call: c, failedJustNow: failedJustNow}
	l.draft, l.ready, l.notReady = c.withReadySummary(l.newDraft())
	l.failedJustNow = l.failedJustNow || hasFailed(l.notReady)
	l.fits = l.draft.fits()
	switch {
	case c.needsCompaction(l.draft):
		l.due = summaryDue
	case l.ready == nil && !l.failedJustNow && c.mayReplaceDigest(l.draft):
		l.due = digestDue
	default:
		l.mayBeSent = l.draft.shrinkToFit()
	}
	l.last = l.draft
	return l
}

// newDraft returns what can be sent of the history now without a call of a summarizer.
func (c *call) newDraft() *draft { return c.replay(c.ledger.checkpoint) }

// mayReplaceDigest reports whether it is time to ask for the summary that a digest stands in for, though the request
// fits: the cache is cold, or the history has grown by a share of the budget.
func (c *call) mayReplaceDigest(d *draft) bool {
	isFree := c.manager.background == nil && d.fits()
	return len(d.digested) > 0 && isFree && d.isDigestDue(d.historyTokens())
}

// wait waits or saves before anything is sent: it waits for the summary that is being made in the background, begins
// one, or has the host save what it wants to keep. It reports whether it let go of the lock.
func (l *ladder) wait(ctx context.Context) (unlocked bool, err error) {
	if l.due == summaryDue {
		if unlocked, err = l.awaitBackground(ctx, l.draft); unlocked || err != nil {
			return unlocked, err
		}
		return l.flush(ctx), nil
	}
	if l.ready == nil && l.fits && l.prepareCompaction(ctx, l.draft) {
		return true, nil // ahead of a compaction that is near
	}
	return l.due == digestDue && l.flush(ctx), nil
}

// asItIs proposes the first draft, shrunk if it has to be, and with the summary that was made in the background.
func (l *ladder) asItIs(context.Context) *proposal {
	switch {
	case !l.mayBeSent:
		return nil
	case l.ready == nil:
		return &proposal{draft: l.draft}
	}
	return &proposal{l.draft, l.ready, closeBreaker}
}

// summary asks the summarizer, if that can help. Where there is no summary, or where even that leaves too little room,
// a digest can be shorter.
func (l *ladder) summary(ctx context.Context) *proposal {
	d := l.draft
	if l.due == digestDue {
		l.ledger.tries.oneCall = true // the request fits without the summary, so it must not wait long
	} else if l.failedJustNow || !l.isWorthAsking() {
		return nil
	}
	compacted, report, err := l.compact(ctx, d, compactCall{by: l.opts.Summarizer})
	switch {
	case err == nil && compacted.shrinkToFit():
		return &proposal{compacted, report, closeBreaker}
	case ctx.Err() != nil:
		l.err = waitError(ctx)
		return nil
	case err != nil && !errors.Is(err, ErrNothingToCompact): // else it was not asked
		l.noteFailure(err, d)
	}
	total := d.historyTokens() // instead of a digest, a summary is tried again only when this has grown
	l.note(func(x *ledger) { x.DigestAt = total })
	return nil
}

// isWorthAsking reports whether the summarizer is asked: it has not failed too often, and there is enough to summarize.
func (l *ladder) isWorthAsking() bool {
	d, b, log := l.draft, &l.ledger.Breaker, l.opts.Logger
	if total := d.historyTokens(); b.IsOpen(total, d.budget) && !d.isDigestDue(total) {
		log.Debug("winnow: the summarizer is not asked: the breaker is open", "failures", b.Failures)
		return false
	}
	v := d.span().verdict()
	if unread := v.unread(); unread < count.Share(d.limit(), leastWorth) || !v.isWorth {
		log.Debug("winnow: the summarizer is not asked: there is too little to summarize", "tokens", unread)
		return false
	}
	return true
}

// withoutMargin proposes a request without a new summary if it fits the budget, even if only by ignoring the margin of
// the estimates: a digest would lose more. The draft is a new one, because the host may have used the manager while the
// summarizer was asked.
func (l *ladder) withoutMargin(context.Context) *proposal {
	if d := l.newDraft(); d.fitsBudget() && d.shrinkToFit() {
		return &proposal{draft: d}
	}
	return nil
}

// digest lets a digest stand in for a summary that cannot be had. By then everything that may be cleared is cleared.
// Only the newest results are left to cut, and the model works with those, so they are cut only if the digest is not
// enough.
func (l *ladder) digest(ctx context.Context) *proposal {
	p := l.digested(ctx)
	if l.last = p.draft; l.last == nil {
		l.last = l.newDraft()
	} else if l.last.shrinkToFit() {
		saved := l.draft.historyTokens() - l.last.historyTokens()
		p.also = func(l *ledger) { l.Breaker.Digested(saved) }
		return p
	}
	return nil
}

// cut proposes the draft without a digest, with its newest results cut. Where a digest was made, that draft was cut
// already, so that as a rule this finds nothing.
func (l *ladder) cut(context.Context) *proposal {
	if l.last.shrinkToFit() {
		return &proposal{draft: l.last}
	}
	return nil
}

// shorterDigest makes the summary in the request shorter, the second time also by what people said last. Each is done
// only if nothing else helps.
func (l *ladder) shorterDigest(ctx context.Context) *proposal {
	p := l.digested(ctx)
	if p.draft != nil && p.draft.shrinkToFit() {
		return p
	}
	return nil
}

// nextDigest orders a digest, each time a shorter one.
func (l *ladder) nextDigest() compactCall {
	l.digests++
	return compactCall{by: Digest(), because: l.whyDigest(), shortens: l.digests - 1}
}

// digested returns the history with the next digest. It has no draft if there is no digest.
func (l *ladder) digested(ctx context.Context) *proposal {
	d, report, _ := l.compact(ctx, l.replay(l.draft.base), l.nextDigest())
	return &proposal{draft: d, report: report}
}

// summaryByHand is the summary that the host asks for.
func (l *ladder) summaryByHand(ctx context.Context) *proposal {
	call := compactCall{by: l.opts.Summarizer, isAsked: true, instructions: l.instructions}
	d, report, err := l.compact(ctx, l.draft, call)
	for call.shortens < 2 && errors.Is(err, ErrNothingToCompact) && !l.draft.fitsBudget() {
		call.shortens++
		d, report, err = l.compact(ctx, l.draft, call)
	}
	if err == nil && !d.shrinkToFit() {
		err = d.overflow()
	}
	l.err = err
	return &proposal{d, report, func(l *ledger) {
		closeBreaker(l)
		// The next answer is to this request, and proves nothing about the one that Recover made.
		l.closeRecovery()
	}}
}
