package winnow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/event"
	"github.com/winnowgo/winnow/internal/overflow"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/summary"
)

// What a refusal teaches, and what is tried after one.

// leastShrink bounds the size of a request with a digest. Such a request is sent in place of one with a model's summary
// only if it is smaller than this share of that one.
const leastShrink = 0.95

// Recover takes the error of a request that Prepare (or Recover) made and returns a smaller one: see [Request].Rung.
// For one request of Prepare it makes at most 3, none twice, and calls the summarizer at most twice.
//
// What the provider says of its limit and its count is used for the rest of the conversation; without numbers a limit
// is guessed. If no answer follows in the next history, all is again as before the first refusal.
//
// The error wraps cause: an [*OverflowError] when nothing is left to try, [ErrNothingToSend] for no message, another
// one if cause is no overflow or an [*OverflowError] already. It is an [*InvalidMessageError] as from [Validate], or
// that of ctx if it has ended; what cause says is then remembered.
func (m *Manager) Recover(ctx context.Context, history []Message, cause error) (*Request, error) {
	if cause == nil {
		return nil, errors.New("winnow: Recover: no cause")
	}
	if err := Validate(history); err != nil {
		return nil, err
	}
	said := diagnose(cause, m.opts.ErrorMatcher)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch said = said.OfRequest(m.state.Tokens); {
	case said.Final:
		return nil, fmt.Errorf("winnow: a manager has tried all that it can: %w", cause)
	case !said.IsRecoverable():
		return nil, fmt.Errorf("winnow: not a context overflow: %w", cause)
	}
	return ladderOfRecover(m.begin(history, nil), said, cause).recover(ctx)
}

// recover climbs the rungs of Recover. Each call begins with the first rung again: what was refused is not sent again.
func (l *ladder) recover(ctx context.Context) (*Request, error) {
	if ctx.Err() != nil {
		return nil, l.ended(ctx)
	}
	if l.ledger.Refusals > maxRefusals || l.ledger.tries.Refusals > maxRetries {
		return nil, l.giveUp()
	}
	r, err := l.climb(ctx, ofRecover)
	if r == nil && err == nil {
		err = l.giveUp()
	}
	return r, err
}

// ended returns the error of Recover whose ctx has ended. What was learned stays.
func (l *ladder) ended(ctx context.Context) error {
	l.keep()
	return fmt.Errorf("winnow: %w: %w", context.Cause(ctx), l.cause)
}

// sendSmaller commits p, the proposal of the rung called name. After an error nothing is sent, and nothing was learned:
// the host asks again with the same cause.
func (l *ladder) sendSmaller(name string, p *proposal) (*Request, error) {
	l.opts.Logger.Info(event.Recovering, "rung", name, "refused_tokens", l.refused, "tokens", p.draft.tokens())
	r, err := l.commit(p)
	if err == nil {
		r.Rung = name
	}
	return r, err
}

// ladderOfRecover records that the provider refused the last request, learns from what it said, and returns the ladder
// on which a smaller request is looked for.
func ladderOfRecover(c *call, said overflow.Diagnosis, cause error) *ladder {
	l := &ladder{call: c, refusal: refusal{cause: cause, answer: said.Output, estimate: c.ledger.Estimate}}
	l.evidence = accounting.Refusal{
		Said: said, Tokens: c.ledger.Tokens, Messages: len(c.ledger.Sent), Estimate: c.ledger.Estimate,
		Bytes: c.ledger.Bytes, IsSent: c.ledger.hasRequest(), IsLast: c.ledger.tries.Refusals+1 >= maxRetries,
	}
	if l.evidence.IsSent {
		l.key = place.Of(c.ledger.Sent)
	} else {
		d := l.unprepared()
		l.evidence.Tokens, l.estimate, l.evidence.Bytes = d.tokens(), d.total, d.bytes()
	}
	l.evidence.Bytes = max(1, l.evidence.Bytes)
	c.learns = func(*basis) { l.learn() }
	l.learn()
	a := &c.ledger.Accounting
	c.opts.Logger.Warn(event.Refused, "class", string(said.Class), "tokens", l.refused,
		"answer_reserve", said.Output, "limit", a.Limit, "guessed_limit", a.Guess.Most,
		"body_limit", count.Least(c.ledger.toldBody(c.settings), a.Body.Most), "refusals", c.ledger.Refusals)
	return l
}

// unprepared returns what the host sent without asking this manager: the history, or what was sent to another model.
// Nothing in it is shortened for this model: a shortened draft would be smaller than what was refused, and the limit
// that is guessed from it would be too low.
func (l *ladder) unprepared() *draft {
	b := l.basis
	if !l.ledger.OtherModel {
		s := *l.settings
		s.opts.HistoryTurns, b.settings = 0, &s
	}
	d := beginDraft(&b, l.ledger.checkpoint, l.ledger.records, map[key]*edit{})
	newReading(d).read()
	d.replayHistory()
	return d
}

// isNew reports whether d was not refused before and is smaller than the request that was refused.
func (l *ladder) isNew(d *draft) bool {
	// Both the corrected count and the estimate must be smaller: a correction that was learned from the refusal makes
	// the very same request look smaller.
	less := d.tokens() < l.refused && d.total < l.estimate
	switch {
	case l.images > 0:
		less = d.images() < l.images
	case l.bytes > 0:
		less = d.bytes() < l.bytes
	}
	return less && !slices.Contains(l.ledger.tries.refused, d.key())
}

// take returns p if it is new and fits. If it is new but does not fit, take remembers it where it is the smallest so
// far, and returns nil.
func (l *ladder) take(p *proposal, fits bool) *proposal {
	switch s := l.smallest; {
	case !l.isNew(p.draft):
	case fits:
		return p
	case s == nil || l.isSmaller(p.draft, s.draft):
		l.smallest = p
	}
	return nil
}

// isSmaller reports whether d is to be sent rather than s. A model's summary says more than a digest, and was paid for:
// saving a few tokens is no reason to leave it out.
func (l *ladder) isSmaller(d, s *draft) bool {
	most := l.size(s)
	if d.checkpoint.isByDigest() && s.checkpoint != nil && !s.checkpoint.isByDigest() {
		most = count.Share(most, leastShrink)
	}
	return l.size(d) < most
}

// size returns the size of d in the unit in which a request was refused: bytes of its body, or tokens.
func (l *ladder) size(d *draft) int {
	if l.bytes > 0 {
		return d.bytes()
	}
	return d.tokens()
}

// clear makes the request anew under the limits that were just learned: the passes of a draft make records of old
// work, cut oversized results and clear old ones if the request does not fit.
func (l *ladder) clear(context.Context) *proposal {
	d := l.newDraft()
	if l.bytes > 0 || l.images > 0 {
		return l.take(&proposal{draft: d}, d.makeFit())
	}
	// Not makeFit: it cuts the newest results, and a summary is tried before that.
	newShrinking(d).leaveOutThinking()
	return l.take(&proposal{draft: d}, d.fits() && d.fitsBody())
}

// summaryInRecovery asks for a summary, or takes the one that was made in the background, unless that was done often
// enough for this request.
func (l *ladder) summaryInRecovery(ctx context.Context) *proposal {
	tries := &l.ledger.tries
	if l.opts.Compact.Off {
		return nil
	}
	if tries.Compactions >= maxCompactions || tries.Calls >= maxSummaryCalls {
		l.opts.Logger.Debug("winnow: compaction skipped", "reason", "often enough in this run",
			"compactions", tries.Compactions)
		return nil
	}
	l.flush(ctx)
	d := l.newDraft()
	waited, err := l.awaitBackground(ctx, d)
	if err != nil {
		return nil // climb says so
	}
	if waited {
		d = l.newDraft() // the host may have used the manager meanwhile
	}
	summarized, report, notReady := l.withReadySummary(d)
	l.endUseless(d, report, notReady)
	if hasFailed(notReady) {
		return nil // the summarizer was asked just now
	}
	if report != nil { // made in the background: it costs no call
		if p := l.take(&proposal{draft: summarized, report: report}, summarized.makeFit()); p != nil {
			return p
		}
	}
	if !l.canFit(d) { // nobody should pay for a summary that changes nothing
		return nil
	}
	return l.compactWith(ctx, d, compactCall{by: l.opts.Summarizer})
}

// canFit reports whether a summary may bring d below the limits that the provider named, even if that leaves less room
// for the answer. Within a guessed limit anything is tried.
func (l *ladder) canFit(d *draft) bool {
	if l.guessed {
		return true
	}
	s, budget := d.span(), d.budget
	d.budget = max(budget, l.allowed)
	defer func() { d.budget = budget }()
	return s.restFits(summary.Least)
}

// compactWith summarizes the history of d as call says. A failure is only logged: the next rung is tried.
func (l *ladder) compactWith(ctx context.Context, d *draft, call compactCall) *proposal {
	if l.bytes == 0 {
		call.overrun = max(0, l.mostAllowed(d)-d.budget)
	}
	next, report, err := l.compact(ctx, d, call)
	if err != nil {
		if !isDigest(call.by) && !errors.Is(err, ErrNothingToCompact) { // else it was not asked
			l.note(func(x *ledger) { x.Breaker.Reason = failureReason(err) })
		}
		l.opts.Logger.Warn(event.Failed, "reason", failureReason(err),
			"error_class", string(ClassifyError(err).Class), "after", "overflow")
		return nil
	}
	return l.take(&proposal{draft: next, report: report}, next.makeFit())
}

// truncate cuts all results to the room that the other messages leave, once for a request of Prepare.
func (l *ladder) truncate(ctx context.Context) *proposal {
	tries := &l.ledger.tries
	if tries.Truncated {
		return nil
	}
	tries.Truncated = true // a digest is tried before results are cut once more
	return l.cutToFit(ctx)
}

// cutToFit returns a draft in which results are cut until the request fits. Within a limit that the provider named, the
// margin of the estimates is kept free as well, if that is possible: the estimate of the refused request was too low,
// and the estimate of the next one may be too low again.
func (l *ladder) cutToFit(context.Context) *proposal {
	d := l.newDraft()
	if budget := d.budget; !l.guessed && l.bytes == 0 {
		d.budget = max(1, budget-d.accounting.Margin(d.total, 0)) // 0: the cut changes what the provider counted
		d.makeFit()
		d.budget = budget
	}
	return l.take(&proposal{draft: d}, d.makeFit())
}

// digestInRecovery replaces old history with a digest. It needs no call, so it can be tried however often summarizers
// failed. The next ones in a call are shorter, see [ladder.shorterDigest].
func (l *ladder) digestInRecovery(ctx context.Context) *proposal {
	call := l.nextDigest()
	if l.opts.Compact.Off {
		return nil
	}
	return l.compactWith(ctx, l.newDraft(), call)
}

// mostAllowed returns what d may have beyond a guess, or within the limit that the provider named, with none of it kept
// free for the answer.
func (l *ladder) mostAllowed(d *draft) int {
	if l.guessed {
		return d.accounting.Told(l.window - l.opts.Reserve)
	}
	return l.allowed
}

// takeSmallest proposes the smallest draft that was tried, although it is above the budget. For it, the manager gives
// up a limit that was only guessed, or the room for the answer within a limit that the provider named. In the last try
// within a guess a shorter digest comes before.
func (l *ladder) takeSmallest(context.Context) *proposal {
	if l.smallest == nil || l.guessed && l.evidence.IsLast && l.digests < 3 {
		return nil
	}
	d := l.smallest.draft
	n, learned := l.size(d), &l.ledger.Accounting
	told := l.ledger.toldBody(l.settings)
	switch {
	case !l.guessed && l.bytes == 0 && n < l.allowed && d.fitsBody():
		// It is within the limit if it leaves less than the reserve for the answer: a short answer is better than none.
		learned.Limit, d.accounting.Limit, d.budget = l.allowed, l.allowed, l.allowed
	case !l.guessed:
		return nil // the provider named a limit, and this is above it
	case l.bytes > 0 && d.fitsBudget() && (told == 0 || n <= told):
		learned.Body.Most, d.accounting.Body.Most = n, n
	case l.bytes == 0 && d.fitsBody():
		learned.Guess.Most, d.accounting.Guess.Most, d.budget = n, n, n
	default:
		return nil
	}
	return l.smallest
}

// giveUp undoes what the recovery has changed, keeps what the provider said, and returns the error that says what fills
// the window.
func (l *ladder) giveUp() error {
	var d *draft
	if l.smallest != nil {
		d = l.smallest.draft
	} else {
		d = l.newDraft()
		d.makeFit()
	}
	if l.guessed && l.bytes == 0 { // a guess is not a window: report against the limit that is known
		d.budget = l.mostAllowed(d)
	}
	e := d.overflow()
	e.Answer, e.Err = l.answer, l.cause
	l.ledger.undoRecovery()
	l.opts.Logger.Warn("winnow: nothing is left to try against an overflow", "tokens", e.Tokens,
		"budget", e.Budget, "overhead", e.Overhead,
		"pinned", e.Pinned, "summary", e.Summary, "protected", e.Protected, "answer_reserve", e.Answer, "refusals",
		l.ledger.Refusals)
	l.keep()
	if len(d.items) == 0 {
		return fmt.Errorf("%w: %w", ErrNothingToSend, l.cause)
	}
	return e
}

// Do is Prepare, call and Recover in a loop: it calls the model with what Prepare returns, and with smaller requests as
// long as the model's error is an overflow. Any other error of call is returned unchanged. Where no message is left to
// send, the error is [ErrNothingToSend]. The returned request is the last one that was sent, nil if none was.
func Do[T any](
	ctx context.Context, m *Manager, history []Message, call func(context.Context, []Message) (T, error),
) (T, *Request, error) {
	var zero T
	r, err := m.Prepare(ctx, history)
	if err != nil {
		return zero, nil, err
	}
	if len(r.Messages) == 0 {
		return zero, nil, ErrNothingToSend
	}
	for {
		answer, err := call(ctx, r.Messages)
		if err == nil {
			m.answered()
			return answer, r, nil
		}
		if !m.canRecover(err) {
			return zero, r, err
		}
		next, failed := m.Recover(ctx, history, err)
		if failed != nil {
			return zero, r, failed
		}
		r = next
	}
}

// answered notes that the provider accepted the last request.
func (m *Manager) answered() {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.begin(nil, nil)
	c.ledger.requestAccepted(c.settings)
	c.keep()
}

// canRecover reports whether a smaller request may help against err.
func (m *Manager) canRecover(err error) bool {
	said := diagnose(err, m.opts.ErrorMatcher)
	m.mu.Lock()
	defer m.mu.Unlock()
	return said.OfRequest(m.state.Tokens).IsRecoverable()
}

// refusal is what a provider refused, and what it said of that.
type refusal struct {
	evidence accounting.Refusal // what was refused, and what the provider said of it
	cause    error              // the error of the provider; nil: it is not Recover that climbs
	key      key                // of the refused request; zero: this manager did not make it
	refused  int                // tokens of it, as far as they are known
	estimate int                // tokens of its messages, by the estimator
	bytes    int                // of its body; 0: it was not refused for its size in bytes
	images   int                // in it; 0: it was not refused for their number
	guessed  bool               // the limit is a guess
	allowed  int                // tokens that the provider allows, with none kept free for the answer; 0: not said
	answer   int                // tokens of it that were kept for the answer, if the provider said so
	smallest *proposal          // the smallest request of those that were tried
}

const (
	// How many smaller requests are tried in the place of one that was refused. Three always reached the provider's
	// limit, where there was one.
	maxRetries  = 3
	maxRefusals = 200 // of one conversation without an answer: then the host gets an error instead of a request
)

// What the provider said: what it allows, what it counted, and which requests it refuses.

// learn records the refusal in the state: it lowers the limits to those that the provider named, or to guesses, and
// corrects the estimates by its count.
func (l *ladder) learn() {
	l.openRecovery()
	if l.key != (key{}) {
		l.ledger.tries.remember(l.key)
	}
	l.ledger.tries.Refusals++
	l.ledger.Refusals++
	said := &l.evidence.Said
	l.refused = l.evidence.Tokens
	if said.Class == overflow.ClassImages {
		// The provider may count documents too, or name the limit for large images only: half of them are tried then.
		l.images = l.newDraft().images()
		limit := said.Limit
		if limit <= 0 || limit >= l.images {
			limit = max(1, l.images/2)
		}
		l.ledger.Images = count.Least(l.ledger.Images, limit)
		return
	}
	if said.Class == overflow.ClassBytes || said.Unit == overflow.UnitBytes {
		l.bytes = l.evidence.Bytes
		if l.guessed = l.ledger.Accounting.LearnBody(&l.evidence, &l.ledger.Body); l.guessed {
			l.ledger.recovery.bytes.Add(l.bytes)
		}
		return
	}
	lesson := l.ledger.Accounting.Learn(&l.evidence, l.limits())
	l.refused, l.allowed, l.guessed = lesson.Tokens, lesson.Allowed, lesson.IsGuessed
	if l.guessed {
		l.ledger.recovery.tokens.Add(l.refused)
	}
}

// What Recover did for a request is undone if that came to nothing.

// undoable returns what revert can put back. It shares the map of edits with l.
func (l *ledger) undoable() undoable {
	return undoable{
		rewrites: l.rewrites, guess: l.Accounting.Guess, body: l.Accounting.Body,
		refused: l.tries.refused,
	}
}

// revert puts l back to u. It keeps what was sent last, because the next request is compared with that.
func (l *ledger) revert(u undoable) {
	l.rewrites = u.rewrites
	l.Accounting.Guess, l.Accounting.Body, l.tries.refused = u.guess, u.body, u.refused
}

// openRecovery makes sure that a recovery is open, of a request for the history of b. If none is open yet, it saves the
// state for undoRecovery.
func (b *basis) openRecovery() {
	l := b.ledger
	open := recovery{before: l.undoable()}
	if l.recovery != nil {
		open = *l.recovery // a copy, as of all state
	}
	b.index.update(b.history, b.opts.Estimator)
	l.recovery = &open
	l.End, l.Ahead = b.ends()
}

// undoRecovery undoes the open recovery, if there is one, because it came to nothing.
func (l *ledger) undoRecovery() {
	if l.recovery != nil {
		l.revert(l.recovery.before)
		l.recovery = nil
	}
}

// closeRecovery closes the open recovery, if there is one, without knowing whether its request was accepted. It keeps
// what was sent and forgets what was guessed.
func (l *ledger) closeRecovery() {
	if l.recovery != nil {
		l.Accounting.Guess, l.Accounting.Body = l.recovery.before.guess, l.recovery.before.body
		l.recovery = nil
	}
}

// settle looks in the history for the outcome of the open recovery. If an answer follows, the request was accepted. If
// the history goes on without an answer, it was not. If nothing follows yet, the recovery stays open.
func (b *basis) settle() {
	l, history := b.ledger, b.history
	if l.recovery == nil {
		return
	}
	b.index.update(b.history, b.opts.Estimator)
	switch next := b.behindLast(); {
	case next > 0 && next == len(history):
	// A failed turn is not an answer: hosts record a provider's error as a message of the model.
	case next > 0 && next < len(history) && history[next].Role == RoleAssistant && !isFailed(&history[next]):
		l.requestAccepted(b.settings)
	default:
		l.undoRecovery()
	}
}

// requestAccepted closes the open recovery, if there is one, because its last request was accepted. A limit that it
// guessed stays only if the evidence is good enough: see accounting.Limit.
func (l *ledger) requestAccepted(s *settings) {
	x, a := l.recovery, &l.Accounting
	if x == nil {
		return
	}
	if x.tokens.First > 0 {
		believed := count.Least(a.Told(s.window-s.opts.Reserve), x.before.guess.Most)
		a.Guess = x.before.guess.Settle(x.tokens, a.Guess.Most, l.Tokens, believed)
	}
	if x.bytes.First > 0 {
		a.Body = x.before.body.Settle(x.bytes, a.Body.Most, l.Bytes, l.toldBody(s))
	}
	l.recovery, l.Refusals = nil, 0
}
