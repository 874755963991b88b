package winnow

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// The ladder: what is tried after a provider refused a request, until nothing is left to try.

const (
	// What a request is shrunk to, as a share of the one that was refused, when the provider did not say what it
	// allows. Two refusals reach half: a model behind a proxy often has half of the window it is sold with.
	guessShare = 0.7
	// A guess that cannot be reached is given up for the smallest request, if that is so much smaller.
	leastShrink = 0.95
	// What no message shows is not taken to be more than this share of the window.
	mostHiddenShare = 0.25
	// A limit below this share of the window is taken for a misread number.
	leastLimitShare = 0.02

	maxCompactionsPerRun = 3 // the reference's
	maxRefusalsPerRun    = 8
	maxRefusals          = 200 // of one conversation: a host that asks for ever is told so
)

// recovery is what was tried since the last Prepare.
type recovery struct {
	refused     []key // the payloads
	compactions int
	truncated   bool
}

// Recover takes the error of a request that Prepare (or Recover) made and returns the next, smaller one:
// old results are cleared and large ones cut, then history is compacted (at most 3 times in a row), then
// all results are cut hard, then a digest stands in for a summary. No request is returned twice, each is
// estimated smaller than the one that was refused, and what the provider said of its limit and of the
// tokens it counted is used for the rest of the conversation. A body that is too large in bytes loses its
// oldest images first, then results. CompactOptions.Off does not keep Recover from compacting.
//
// cause is returned, wrapped, when it is no overflow; when nothing is left to try the error is an
// [*OverflowError] that wraps cause. A nil cause is an error. Nothing is tried after ctx has ended.
func (m *Manager) Recover(ctx context.Context, history []Message, cause error) (*Request, error) {
	said := diagnoseWith(cause, m.opts.ErrorMatcher)
	switch {
	case cause == nil:
		return nil, errors.New("winnow: Recover: no cause")
	case said.class != ErrorOverflow && said.class != ErrorBytes:
		return nil, fmt.Errorf("winnow: not a context overflow: %w", cause)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("winnow: %w: %w", context.Cause(ctx), cause)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.startLadder(history, said)
	m.opts.Logger.Warn("winnow: the provider refused a request", "class", string(said.class), "tokens", l.refused,
		"limit", m.ledger.accounting.limit, "guessed_limit", m.ledger.accounting.guess, "body_limit", m.ledger.body, "refusals", m.ledger.refusals)
	if m.ledger.refusals > maxRefusals || len(m.ledger.run.refused) > maxRefusalsPerRun {
		return nil, l.giveUp(cause)
	}
	for _, rung := range []struct {
		name  string
		climb func(context.Context) *draft
	}{
		{"clear", l.clear}, {"compact", l.compact}, {"truncate", l.truncate}, {"digest", l.digest}, {"smallest", l.smallestThatIsLess},
	} {
		next := rung.climb(ctx)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("winnow: %w: %w", context.Cause(ctx), cause)
		}
		if next != nil {
			m.opts.Logger.Info("winnow: recovering from an overflow", "rung", rung.name, "refused_tokens", l.refused, "tokens", next.tokens())
			return l.commit(next), nil
		}
	}
	return nil, l.giveUp(cause)
}

// ladder is one call of Recover. The manager's lock is held, except while a summarizer is called.
type ladder struct {
	manager  *Manager
	history  []Message
	refused  int  // tokens of the request that was refused, as far as is known
	estimate int  // of its messages
	bytes    int  // of its body; 0: its size in bytes was not the matter
	guessed  bool // the limit is a guess
	report   *Compaction
	smallest *draft // of what was tried
}

// startLadder learns what the provider said.
func (m *Manager) startLadder(history []Message, said diagnosis) *ladder {
	g := &m.ledger
	l := &ladder{manager: m, history: history, refused: g.tokens, estimate: g.estimate}
	d := m.draft(history, g.checkpoint)
	if len(g.sent) == 0 { // nothing was prepared: the history as it is was refused
		l.refused, l.estimate = d.tokens(), addTokens(d.view.total, 1)
	} else {
		g.run.refused = append(g.run.refused, payloadOf(g.sent))
	}
	g.refusals++
	if said.class == ErrorBytes || said.unit == unitBytes {
		l.bytes = max(1, d.bytes())
		if g.body == 0 || said.unit == unitBytes && said.limit > 0 && said.limit < l.bytes {
			g.body = said.limit
		}
		if g.body <= 0 || g.body >= l.bytes {
			g.body = shareOf(l.bytes, guessShare)
		}
		return l
	}
	l.learnLimit(said)
	return l
}

// learnLimit takes what was counted for a new anchor, and what is allowed for the budget from now on.
func (l *ladder) learnLimit(said diagnosis) {
	g := &l.manager.ledger
	a := &g.accounting
	counted, allowed := said.size-said.output, said.limit-said.output
	if said.unit != unitTokens {
		counted, allowed = 0, 0
		if said.limit > 0 && said.size > said.limit { // characters: the same share of the tokens
			allowed = shareOf(l.refused, float64(said.limit)/float64(said.size))
		}
	}
	if counted >= shareOf(g.estimate, minRatio) && counted <= addTokens(shareOf(g.estimate, maxRatio), shareOf(l.manager.window, mostHiddenShare)) && len(g.sent) > 0 {
		a.observe(len(g.sent), g.estimate, counted, l.manager.opts.Overhead)
		l.refused = counted
	}
	limit := allowed
	if said.unit == unitTokens && said.output == 0 { // the answer has to have room in it
		limit = allowed - min(l.manager.opts.Reserve, shareOf(max(0, allowed), maxDefaultShare))
	}
	if allowed < shareOf(l.manager.window, leastLimitShare) || limit >= l.refused {
		limit, l.guessed = shareOf(l.refused, guessShare), true
	}
	known := &a.limit
	if l.guessed {
		known = &a.guess
	}
	if *known == 0 || limit < *known {
		*known = max(1, limit)
	}
	if l.refused == counted {
		a.doubtHidden(g.estimate, counted, l.manager)
	}
}

// doubtHidden takes more than half of the budget for what no message shows as the sign of a wrong estimator:
// nothing could be done about the one, and something can be about the other.
func (a *accounting) doubtHidden(estimate, counted int, m *Manager) {
	most := max(m.opts.Overhead, m.budget()/2)
	if estimate > 0 && a.hidden(m.opts.Overhead) > most {
		a.billed, a.estimated = float64(counted-most), float64(estimate)
	}
}

// payloadOf is the identity of a request by its messages.
func payloadOf(sent []key) key {
	h := sha256.New()
	for _, k := range sent {
		h.Write(k[:])
	}
	return key(h.Sum(nil)[:len(key{})])
}

// isNew says that d was not refused before and is less than what was.
func (l *ladder) isNew(d *draft) bool {
	keys := make([]key, len(d.view.messages))
	for i := range keys {
		keys[i] = d.view.sentKey(i)
	}
	less := d.tokens() < l.refused && d.view.total < l.estimate
	if l.bytes > 0 {
		less = d.bytes() < l.bytes
	}
	return less && !slices.Contains(l.manager.ledger.run.refused, payloadOf(keys))
}

// take returns d if it is to be sent.
func (l *ladder) take(d *draft, fits bool) *draft {
	if !l.isNew(d) {
		return nil
	}
	if fits {
		return d
	}
	if l.smallest == nil || d.tokens() < l.smallest.tokens() {
		l.smallest = d
	}
	return nil
}

func (l *ladder) draft() *draft { return l.manager.draft(l.history, l.manager.ledger.checkpoint) }

// clear is what Prepare does to what does not fit: cut what is oversized, clear old results.
func (l *ladder) clear(context.Context) *draft {
	d := l.draft()
	if l.bytes > 0 {
		return l.take(d, d.fit())
	}
	return l.take(d, d.fits() && d.fitsBody())
}

func (l *ladder) compact(ctx context.Context) *draft {
	run := &l.manager.ledger.run
	if run.compactions >= maxCompactionsPerRun {
		return nil
	}
	run.compactions++
	m := l.manager
	m.flush(ctx, l.history)
	if _, err := m.await(ctx, l.draft()); err != nil {
		return nil
	}
	if d, report, failed := m.collect(l.draft()); report != nil {
		if next := l.take(d, d.fit()); next != nil {
			l.report = report
			return next
		}
	} else if failed {
		return nil
	}
	return l.compactWith(ctx, m.opts.Summarizer)
}

func (l *ladder) compactWith(ctx context.Context, s Summarizer) *draft {
	d, report, err := l.manager.compact(ctx, l.draft(), s, "", false)
	if err != nil {
		l.manager.opts.Logger.Warn("winnow: compaction failed", "error_class", string(ClassifyError(err).Class), "after", "overflow")
		return nil
	}
	l.report = report
	return l.take(d, d.fit())
}

// truncate cuts all results to what the other messages leave, once in a run.
func (l *ladder) truncate(context.Context) *draft {
	run := &l.manager.ledger.run
	if run.truncated {
		return nil
	}
	run.truncated = true
	d := l.draft()
	return l.take(d, d.fit())
}

func (l *ladder) digest(ctx context.Context) *draft {
	d := l.compactWith(ctx, Digest())
	if d != nil {
		d.checkpoint.degraded, l.report.Degraded = true, true
	}
	return d
}

// smallestThatIsLess gives up a limit that was only guessed.
func (l *ladder) smallestThatIsLess(context.Context) *draft {
	d := l.smallest
	if !l.guessed || d == nil || d.tokens() > shareOf(l.refused, leastShrink) {
		return nil
	}
	n := d.tokens()
	l.manager.ledger.accounting.guess, d.accounting.guess, d.budget = n, n, n
	return d
}

func (l *ladder) commit(d *draft) *Request {
	if d.checkpoint != l.manager.ledger.checkpoint && l.report != nil {
		return l.manager.commitCompaction(d, l.report)
	}
	return l.manager.commit(d)
}

func (l *ladder) giveUp(cause error) error {
	d := l.smallest
	if d == nil {
		d = l.draft()
		d.fit()
	}
	e := d.overflow()
	e.Err = cause
	return e
}

// Do is Prepare, call and Recover in a loop: it calls the model with what Prepare returns, and with
// smaller requests as long as the model's error is an overflow. Any other error of call is returned as it
// is. The request returned is the last one that was sent, nil if none was.
func Do[T any](ctx context.Context, m *Manager, history []Message, call func(context.Context, []Message) (T, error)) (T, *Request, error) {
	var zero T
	r, err := m.Prepare(ctx, history)
	if err != nil {
		return zero, nil, err
	}
	for {
		answer, err := call(ctx, r.Messages)
		if err == nil {
			return answer, r, nil
		}
		if said := diagnoseWith(err, m.opts.ErrorMatcher); said.class != ErrorOverflow && said.class != ErrorBytes {
			return zero, r, err
		}
		next, failed := m.Recover(ctx, history, err)
		if failed != nil {
			return zero, r, failed
		}
		r = next
	}
}
