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
	"github.com/winnowgo/winnow/internal/summarysize"
)

// What a refusal teaches, and what is tried after one.

// leastShrink bounds the size of a request with a digest. Such a request is sent in place of one with a model's summary
// only if it is smaller than this share of that one.
const leastShrink = 0.95

// Recover takes the error of a request that Prepare (or Recover) made and returns a smaller one: see [Request].Rung.
// For one request of Prepare it makes at most 3, none twice, and calls the summarizer at most twice.
//
// What the provider says of its limit and its count is used for the rest of the conversation; without numbers a limit
// is guessed. An answer at the end of the next history shows that a request of Recover was accepted; if none was, all
// is again as before the first refusal.
//
// The error wraps cause: an [*OverflowError] when nothing is left to try, and another one if cause is no overflow. A
// history that [Validate] refuses is an [*InvalidMessageError]. If ctx has ended, its error is returned; what cause
// says is remembered.
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
	if said = said.OfRequest(m.ledger.tokens); !said.IsRecoverable() {
		return nil, fmt.Errorf("winnow: not a context overflow: %w", cause)
	}
	undo, isDone := m.begin(), false
	defer func() {
		if !isDone { // code of the host has panicked
			undo()
		}
	}()
	l := m.noteRefusal(history, said)
	l.cause, l.undo = cause, undo
	r, err := l.recover(ctx)
	isDone = true
	return r, err
}

// recover climbs the rungs of Recover. Each call begins with the first rung again: what was refused is not sent again.
func (l *ladder) recover(ctx context.Context) (*Request, error) {
	if ctx.Err() != nil { // what was learned stays
		return nil, l.ended(ctx)
	}
	if l.ledger.refusals > maxRefusals || l.ledger.tries.Refusals > maxRetries {
		return nil, l.giveUp()
	}
	r, err := l.climb(ctx, ofRecover)
	if r == nil && err == nil {
		err = l.giveUp()
	}
	return r, err
}

// ended returns the error of Recover whose ctx has ended.
func (l *ladder) ended(ctx context.Context) error {
	return fmt.Errorf("winnow: %w: %w", context.Cause(ctx), l.cause)
}

// sendSmaller commits p, the proposal of the rung called name.
func (l *ladder) sendSmaller(name string, p *proposal) (*Request, error) {
	l.manager.opts.Logger.Info(event.Recovering, "rung", name, "refused_tokens", l.refused, "tokens", p.draft.tokens())
	r, err := l.manager.commit(p)
	if err != nil { // nothing is sent, so the host asks again with the same cause
		l.undo()
		return nil, err
	}
	r.Rung = name
	return r, nil
}

// noteRefusal records that the provider refused the last request, learns from what it said, and returns the ladder on
// which a smaller request is looked for.
func (m *Manager) noteRefusal(history []Message, said overflow.Diagnosis) *ladder {
	m.openRecovery(history)
	l := &ladder{
		manager: m, ledger: &m.ledger, history: history,
		refusal: refusal{answer: said.Output, refused: m.ledger.tokens, estimate: m.ledger.estimate},
	}
	bytes := l.ledger.bytes
	if l.ledger.hasRequest() {
		l.ledger.tries.remember(place.Of(l.ledger.sent))
	} else {
		d := l.unprepared()
		l.refused, l.estimate, bytes = d.tokens(), d.total, d.bytes()
	}
	l.ledger.tries.Refusals++
	l.ledger.refusals++
	l.learn(said, bytes)
	a := &m.ledger.accounting
	m.opts.Logger.Warn(event.Refused, "class", string(said.Class), "tokens", l.refused,
		"answer_reserve", said.Output, "limit", a.Limit, "guessed_limit", a.Guess.Most,
		"body_limit", count.Least(m.ledger.toldBody(&m.settings), a.Body.Most), "refusals", m.ledger.refusals)
	return l
}

// unprepared returns what the host sent without asking this manager: the history, or what was sent to another model.
// Nothing in it is shortened for this model: a shortened draft would be smaller than what was refused, and the limit
// that is guessed from it would be too low.
func (l *ladder) unprepared() *draft {
	s := l.manager.settings
	if !l.ledger.otherModel {
		s.opts.HistoryTurns = 0
	}
	d := newDraft(&s, l.ledger, l.history, l.ledger.checkpoint, l.ledger.records, map[key]*edit{})
	d.indexAndRepair()
	d.limitAndReplay()
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
	if isDigested(d.checkpoint) && s.checkpoint != nil && !isDigested(s.checkpoint) {
		most = count.Share(most, leastShrink)
	}
	return l.size(d) < most
}

func isDigested(c *checkpoint) bool { return c != nil && c.degraded != "" }

// size returns the size of d in the unit in which a request was refused: bytes of its body, or tokens.
func (l *ladder) size(d *draft) int {
	if l.bytes > 0 {
		return d.bytes()
	}
	return d.tokens()
}

// clear makes the request anew under the limits that were just learned: the steps of Manager.draft make records of old
// work, cut oversized results and clear old ones if the request does not fit.
func (l *ladder) clear(context.Context) *proposal {
	d := l.newDraft()
	if l.bytes > 0 || l.images > 0 {
		return l.take(&proposal{draft: d}, d.shrinkToFit())
	}
	d.leaveOutThinking() // not shrinkToFit: it cuts the newest results, and a summary is tried before that
	return l.take(&proposal{draft: d}, d.fits() && d.fitsBody())
}

// summaryInRecovery asks for a summary, or takes the one that was made in the background, unless that was done often
// enough for this request.
func (l *ladder) summaryInRecovery(ctx context.Context) *proposal {
	m, tries := l.manager, &l.ledger.tries
	if m.opts.Compact.Off {
		return nil
	}
	if tries.Compactions >= maxCompactions || tries.Calls >= maxSummaryCalls {
		m.opts.Logger.Debug("winnow: compaction skipped", "reason", "often enough in this run",
			"compactions", tries.Compactions)
		return nil
	}
	m.flush(ctx, l.history)
	d := l.newDraft()
	waited, err := m.awaitBackground(ctx, d)
	if err != nil {
		return nil // climb says so
	}
	if waited {
		d = l.newDraft() // the host may have used the manager meanwhile
	}
	summarized, report, notReady := m.withReadySummary(d)
	m.endUseless(d, report, notReady)
	if hasFailed(notReady) {
		return nil // the summarizer was asked just now
	}
	if report != nil { // made in the background: it costs no call
		if p := l.take(&proposal{draft: summarized, report: report}, summarized.shrinkToFit()); p != nil {
			return p
		}
	}
	if !l.canFit(d) { // nobody should pay for a summary that changes nothing
		return nil
	}
	return l.compactWith(ctx, d, m.opts.Summarizer)
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
	return d.restFits(&s, summarysize.Least)
}

// compactWith summarizes the history of d with s. A failure is only logged: the next rung is tried.
func (l *ladder) compactWith(ctx context.Context, d *draft, s Summarizer) *proposal {
	next, report, err := l.manager.compact(ctx, d, compactCall{by: s, because: l.manager.whyDigest()})
	if err != nil {
		if !isDigest(s) {
			l.ledger.breaker.Reason = failureReason(err)
		}
		l.manager.opts.Logger.Warn(event.Failed, "reason", failureReason(err),
			"error_class", string(ClassifyError(err).Class), "after", "overflow")
		return nil
	}
	l.ledger.body = count.Least(l.ledger.body, l.body) // the summarizer may have restored a state
	return l.take(&proposal{draft: next, report: report}, next.shrinkToFit())
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
		d.shrinkToFit()
		d.budget = budget
	}
	return l.take(&proposal{draft: d}, d.shrinkToFit())
}

// digestInRecovery replaces old history with a digest. It needs no call, so it can be tried however often summarizers
// failed.
func (l *ladder) digestInRecovery(ctx context.Context) *proposal {
	if l.manager.opts.Compact.Off {
		return nil
	}
	return l.compactWith(ctx, l.newDraft(), Digest())
}

// takeSmallest proposes the smallest draft that was tried, although it is above the budget. For it, the
// manager gives up a limit that was only guessed, or the room for the answer within a limit that the provider named.
func (l *ladder) takeSmallest(context.Context) *proposal {
	if l.smallest == nil {
		return nil
	}
	d := l.smallest.draft
	n, learned := l.size(d), &l.ledger.accounting
	told := l.ledger.toldBody(&l.manager.settings)
	switch {
	case !l.guessed && l.bytes == 0 && n < l.allowed && d.fitsBody():
		// It is within the limit if it leaves less than the reserve for the answer: a short answer is better than none.
		learned.Limit, d.accounting.Limit, d.budget = l.allowed, l.allowed, l.allowed
	case !l.guessed:
		return nil // the provider named a limit, and this is above it
	case l.bytes > 0 && d.tokens() <= d.budget && (told == 0 || n <= told):
		learned.Body.Most, d.accounting.Body.Most = n, n
	case l.bytes == 0 && d.fitsBody():
		learned.Guess.Most, d.accounting.Guess.Most, d.budget = n, n, n
	default:
		return nil
	}
	return l.smallest
}

// giveUp undoes what the recovery has changed, and returns the error that says what fills the window.
func (l *ladder) giveUp() error {
	var d *draft
	if l.smallest != nil {
		d = l.smallest.draft
	} else {
		d = l.newDraft()
		d.shrinkToFit()
	}
	if l.guessed && l.bytes == 0 { // a guess is not a window: report against the limit that is known
		d.budget = d.accounting.Told(l.manager.window - l.manager.opts.Reserve)
	}
	e := d.overflow()
	e.Answer, e.Err = l.answer, l.cause
	l.ledger.undoRecovery()
	l.manager.opts.Logger.Warn("winnow: nothing is left to try against an overflow", "tokens", e.Tokens,
		"budget", e.Budget, "overhead", e.Overhead,
		"pinned", e.Pinned, "summary", e.Summary, "protected", e.Protected, "answer_reserve", e.Answer, "refusals",
		l.ledger.refusals)
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
	m.generation++
	m.requestAccepted()
}

// canRecover reports whether a smaller request may help against err.
func (m *Manager) canRecover(err error) bool {
	said := diagnose(err, m.opts.ErrorMatcher)
	m.mu.Lock()
	defer m.mu.Unlock()
	return said.OfRequest(m.ledger.tokens).IsRecoverable()
}

// refusal is what a provider refused, and what it said of that.
type refusal struct {
	cause    error     // the error of the provider; nil: it is not Recover that climbs
	undo     func()    // called where a request cannot be committed
	refused  int       // tokens of the refused request, as far as they are known
	estimate int       // tokens of its messages, by the estimator
	bytes    int       // of its body; 0: it was not refused for its size in bytes
	images   int       // in it; 0: it was not refused for their number
	body     int       // limit of the body that the provider named then; 0: none
	guessed  bool      // the limit is a guess
	allowed  int       // tokens that the provider allows, with none kept free for the answer; 0: it did not say
	answer   int       // tokens of the refused request that were kept for the answer, if the provider said so
	smallest *proposal // the smallest request of those that were tried
}

const (
	// How many smaller requests are tried in the place of one that was refused. Three always reached the provider's
	// limit, where there was one.
	maxRetries  = 3
	maxRefusals = 200 // of one conversation without an answer: then the host gets an error instead of a request
)

// What a refusal teaches: what the provider allows, what it counted, and which requests it refuses.

// learn lowers the limits to those in said, or to guesses, and corrects the estimates by the count in said. bytes is
// the size of the refused request's body.
func (l *ladder) learn(said overflow.Diagnosis, bytes int) {
	refusal := accounting.Refusal{
		Said: said, Tokens: l.refused, Messages: len(l.ledger.sent), Estimate: l.ledger.estimate, Bytes: max(1, bytes),
		IsSent: l.ledger.hasRequest(), IsLast: l.ledger.tries.Refusals >= maxRetries,
	}
	if said.Class == overflow.ClassImages {
		// The provider may count documents too, or name the limit for large images only: half of them are tried then.
		l.images = l.newDraft().images()
		limit := said.Limit
		if limit <= 0 || limit >= l.images {
			limit = max(1, l.images/2)
		}
		l.ledger.images = count.Least(l.ledger.images, limit)
		return
	}
	if said.Class == overflow.ClassBytes || said.Unit == overflow.UnitBytes {
		l.bytes = refusal.Bytes
		if l.guessed = l.ledger.accounting.LearnBody(&refusal, &l.ledger.body); l.guessed {
			l.ledger.recovery.bytes.Add(l.bytes)
		}
		l.body = l.ledger.body
		return
	}
	lesson := l.ledger.accounting.Learn(&refusal, l.manager.limits())
	l.refused, l.allowed, l.guessed = lesson.Tokens, lesson.Allowed, lesson.IsGuessed
	if l.guessed {
		l.ledger.recovery.tokens.Add(l.refused)
	}
}
