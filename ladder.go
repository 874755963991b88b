package winnow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/summary"
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
	notDue         due = iota
	summaryDue         // the request does not fit, or soon will not
	replacementDue     // it fits, and it is time to replace its digest
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

// ladderOfPrepare returns the ladder of Prepare with its first draft: if no summary is due for that, it is made to fit.
// The tries begin anew.
func ladderOfPrepare(c *call, failedJustNow bool) *ladder {
	c.ledger.tries.begin()
	l := &ladder{call: c, failedJustNow: failedJustNow}
	l.draft, l.ready, l.notReady = c.withReadySummary(l.newDraft())
	l.failedJustNow = l.failedJustNow || hasFailed(l.notReady)
	l.last, l.fits = l.draft, l.draft.fits()
	if l.due = l.whatIsDue(); l.due == notDue {
		l.mayBeSent = l.draft.makeFit()
	}
	return l
}

// whatIsDue says whether a summary is due for the first draft. Where one only takes the place of a digest, it is not
// asked for beside another one.
func (l *ladder) whatIsDue() due {
	isBusy := l.ready != nil || l.manager.background != nil || l.failedJustNow
	switch {
	case l.draft.needsCompaction():
		return summaryDue
	case !isBusy && l.draft.mayReplaceDigest():
		return replacementDue
	}
	return notDue
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
	return l.due == replacementDue && l.flush(ctx), nil
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
	if l.due == replacementDue {
		l.ledger.tries.oneCall = true // the request fits without the summary, so it must not wait long
	} else if l.failedJustNow || !l.isWorthAsking() {
		return nil
	}
	compacted, report, err := l.compact(ctx, d, compactCall{by: l.opts.Summarizer})
	switch {
	case err == nil && compacted.makeFit():
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
	if total := d.historyTokens(); b.IsOpen(total, d.budget) && !d.hasOldDigest() {
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
	if d := l.newDraft(); d.fitsBudget() && d.makeFit() {
		return &proposal{draft: d}
	}
	return nil
}

// digest lets a digest stand in for a summary that cannot be had. By then everything that may be cleared is cleared.
// Only the newest results are left to cut, and the model works with those, so they are cut only if the digest is not
// enough, or if there is none.
func (l *ladder) digest(ctx context.Context) *proposal {
	p := l.withNextDigest(ctx)
	if p.draft == nil {
		p.draft = l.newDraft()
	}
	if l.last = p.draft; !l.last.makeFit() {
		return nil
	}
	if p.report != nil {
		saved := l.draft.historyTokens() - l.last.historyTokens()
		p.also = func(l *ledger) { l.Breaker.Digested(saved) }
	}
	return p
}

// shorterDigest makes the summary in the request shorter, the second time also by what people said last. Each is done
// only if nothing else helps.
func (l *ladder) shorterDigest(ctx context.Context) *proposal {
	p := l.withNextDigest(ctx)
	if p.draft != nil && p.draft.makeFit() {
		return p
	}
	return nil
}

// nextDigest orders a digest, each time a shorter one.
func (l *ladder) nextDigest() compactCall {
	l.digests++
	return compactCall{by: Digest(), because: l.whyDigest(), brevity: min(brevity(l.digests-1), wordsCut)}
}

// withNextDigest returns the history with the next digest. It has no draft if there is none.
func (l *ladder) withNextDigest(ctx context.Context) *proposal {
	d, report, _ := l.compact(ctx, l.replay(l.draft.begunWith), l.nextDigest())
	return &proposal{draft: d, report: report}
}

// summaryByHand is the summary that the host asks for.
func (l *ladder) summaryByHand(ctx context.Context) *proposal {
	call := compactCall{by: l.opts.Summarizer, isAsked: true, instructions: l.instructions}
	d, report, err := l.compact(ctx, l.draft, call)
	for call.brevity < wordsCut && errors.Is(err, ErrNothingToCompact) && !l.draft.fitsBudget() {
		call.brevity++
		d, report, err = l.compact(ctx, l.draft, call)
	}
	if err == nil && !d.makeFit() {
		err = d.overflow()
	}
	l.err = err
	return &proposal{d, report, func(l *ledger) {
		closeBreaker(l)
		// The next answer is to this request, and proves nothing about the one that Recover made.
		l.closeRecovery()
	}}
}

// A summary or a digest of older messages, for the rungs that try one.

// How many compactions there may be from one call of Prepare to the next, and how many calls of the summarizer
// Recover's compactions may take. A history that is larger than the summarizer's window still takes a call for each of
// its parts.
const maxCompactions, maxSummaryCalls = 2, 2

// whyDigest says why a digest stands in for a summary.
func (b *basis) whyDigest() string {
	switch {
	case !b.opts.asksSummarizer():
		return noSummarizer
	case b.ledger.Breaker.Reason != "":
		return b.ledger.Breaker.Reason
	}
	return "too little for a call of the summarizer"
}

// compact summarizes the older messages of d and returns the draft that has the summary in their place, with its
// report. It commits nothing. The lock is held, but not while code of the host runs.
func (l *ladder) compact(ctx context.Context, d *draft, how compactCall) (*draft, *Compaction, error) {
	before := d.tokens()
	plan, err := newCompaction(d, how)
	if err == nil {
		l.unlocked(func() { err = plan.askRules() })
	}
	if err != nil {
		return nil, nil, err
	}
	l.opts.Logger.Debug("winnow: compacting", "tokens", before, "budget", d.budget, "asked", how.isAsked)
	cp, report, err := l.writeSummary(ctx, plan)
	if err != nil {
		return nil, nil, err
	}
	cp.makeUnique(d)
	next := d.redraft(cp, l.ledger.records, map[key]*edit{})
	if next.checkpoint != nil && !next.makeFit() {
		// The first try left out the new edits and records of d. They shorten results that may be among the newest once
		// older messages are summarized, and the model wants the newest results whole. That did not fit, so the second
		// try has them.
		next = d.redraft(cp, d.recordsBehind(d.items), d.newEdits)
	}
	if next.checkpoint == nil || !how.isAsked && !next.makeFit() && next.tokens() >= before {
		return nil, nil, fmt.Errorf("%w: %w", ErrCompaction, errNoGain)
	}
	return next, report, nil
}

// writeSummary runs plan, and counts that for the limits of the tries.
func (l *ladder) writeSummary(ctx context.Context, plan *compaction) (cp *checkpoint, report *Compaction, err error) {
	tries := &l.ledger.tries
	if tries.oneCall || tries.Refusals > 0 && maxSummaryCalls-tries.Calls < 2 {
		plan.once = true
	}
	isCounted := !isDigest(plan.by) // a digest costs no call, so a request may take any number of them
	if isCounted {
		tries.Compactions++
		plan.limit = max(0, plan.limit-l.waited)
	}
	began := time.Now() // not Options.Now: it is how long somebody waits
	l.unlocked(func() { cp, report, err = plan.run(ctx) })
	if isCounted {
		l.waited += time.Since(began)
		tries.countCalls(plan.calls, err)
	}
	return cp, report, err
}

// countCalls counts the calls of the summarizer for a compaction that ended with err.
func (t *tries) countCalls(calls int, err error) {
	switch {
	case err != nil:
		t.Calls = maxSummaryCalls // no call is left: a summarizer that failed is not asked again for this request
	case t.Refusals == 0:
		t.Calls++ // for Prepare: it counts as one, however many calls it took
	default:
		t.Calls += calls
	}
}

// closeBreaker resets the breaker of l, because the summarizer works.
func closeBreaker(l *ledger) { l.Breaker = summary.Breaker{} }
