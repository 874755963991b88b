package winnow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/event"
	"github.com/winnowgo/winnow/internal/saved"
	"github.com/winnowgo/winnow/internal/summary"
)

// background is a compaction that is made while the conversation goes on. Its fields are protected by the
// manager's lock; the summarizer is called without it.
type background struct {
	cancel     context.CancelFunc
	ended      chan struct{} // closed when its goroutine ends
	begunWith  *checkpoint   // of the draft that it is made for
	plan       *compaction
	isFlushing bool // BeforeCompact runs: nobody waits for it, and it is not cancelled when the summary is dropped
	dropped    bool // nobody can use its summary any more

	cp     *checkpoint // the result, once the goroutine has ended
	report *Compaction
	err    error
}

var errHistoryChanged = errors.New("the history changed meanwhile")

// waitError returns the error of a call whose ctx ended while it waited.
func waitError(ctx context.Context) error {
	return fmt.Errorf("winnow: waiting for a summary: %w", context.Cause(ctx))
}

// endBackground ends background work that cannot be used any more. The manager keeps it until it has ended, because
// only one may run at a time.
func (m *Manager) endBackground() {
	switch b := m.background; {
	case b == nil:
	case b.hasEnded():
		m.background = nil
	default:
		b.drop()
	}
}

// drop cancels b. While BeforeCompact runs, it leaves that to b's goroutine, which cancels b afterwards.
func (b *background) drop() {
	if b.dropped = true; !b.isFlushing {
		b.cancel()
	}
}

// hasEnded reports whether the goroutine of b has ended. It does not wait.
func (b *background) hasEnded() bool {
	select {
	case <-b.ended:
		return true
	default:
		return false
	}
}

// startBackground starts a goroutine that makes the summary for a compaction of d. It uses the values of ctx, but not
// its cancellation, because the work belongs to no single request.
func (c *call) startBackground(ctx context.Context, d *draft) {
	plan, err := newCompaction(d, compactCall{by: c.opts.Summarizer})
	if err != nil {
		return // the compaction itself will meet the same error and report it
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b := &background{cancel: cancel, ended: make(chan struct{}), begunWith: d.begunWith, plan: plan}
	// Set before the goroutine runs, so that no other call flushes for the same compaction.
	b.isFlushing = c.opts.Compact.BeforeCompact != nil && !c.ledger.Flushed
	if b.isFlushing {
		c.note(func(l *ledger) { l.Flushed = true })
	}
	m := c.manager
	m.background = b
	// The goroutine gets copies, because the host may write to its history meanwhile.
	plan.own()
	var history []Message
	if b.isFlushing {
		history = copyMessages(d.history)
	}
	go func() {
		defer close(b.ended)
		defer cancel()
		m.runBackground(ctx, b, history)
	}()
}

// own replaces the messages of c by copies, because the host may write to its own while c runs.
func (c *compaction) own() {
	c.older = copyMessages(c.older)
	if c.open != nil {
		c.open = &copyMessages([]Message{*c.open})[0]
	}
}

// runBackground is what the goroutine of startBackground does. It holds the lock only to read and write b and the
// ledger.
func (m *Manager) runBackground(ctx context.Context, b *background, history []Message) {
	if b.isFlushing { // no lock: only this goroutine changes it
		m.callBeforeCompact(ctx, history)
		m.mu.Lock()
		b.isFlushing = false
		useless := b.dropped || m.state.checkpoint != b.begunWith // the host may have used the manager in the flush
		m.mu.Unlock()
		if useless {
			b.cancel()
		}
	}
	cp, report, err := b.plan.runAlone(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	b.cp, b.report, b.err = cp, report, err
}

// runAlone asks the host for its rules and the summarizer for the summary of c. It turns a panic into an error, because
// nobody else could catch a panic in this goroutine.
func (c *compaction) runAlone(ctx context.Context) (cp *checkpoint, report *Compaction, err error) {
	err = safely("the compaction", func() (err error) {
		if err = ctx.Err(); err == nil {
			err = c.askRules()
		}
		if err == nil {
			cp, report, err = c.run(ctx)
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrCompaction, err)
	}
	return cp, report, nil
}

// covers reports whether the messages that b summarizes are still in the history of d, unchanged and behind the same
// earlier summary. Newer messages do not matter. The turn limit may have dropped the oldest of them.
func (b *background) covers(d *draft) bool {
	if d.begunWith != b.begunWith || b.dropped {
		return false
	}
	now := replacedBy(&b.plan.Boundary, unfolded(d.items))
	then := b.plan.replacedKeys
	return len(now) > 0 && len(now) <= len(then) && slices.Equal(now, then[len(then)-len(now):])
}

// replacedBy returns the keys of the messages in all, a whole history, that a summary up to b replaces.
func replacedBy(b *saved.Boundary, all []*item) []key {
	s := span{stays: outlives(asOwn(all), len(all))}
	keepFront(asOwn(all), s.stays[:min(b.Front, len(s.stays))])
	s.cut, s.request = b.FirstKept.Find(placesIn(all)), b.Request.Find(placesIn(all))
	var keys []key
	for i := range max(0, s.cut) {
		if s.replaces(i) {
			keys = append(keys, all[i].fact.key)
		}
	}
	return keys
}

// withReadySummary returns a draft with the summary that was made in the background, and its report. It returns d and
// no report if no summary is ready, if the history has changed, or if the request would not become smaller. It changes
// nothing of the manager but the text of that summary, which is made unique.
func (c *call) withReadySummary(d *draft) (*draft, *Compaction, error) {
	b := c.manager.background
	switch {
	case b == nil || !b.hasEnded():
		return d, nil, nil
	case b.dropped:
		return d, nil, errHistoryChanged
	case b.err != nil:
		return d, nil, b.err
	case !b.covers(d):
		return d, nil, errHistoryChanged
	}
	b.cp.makeUnique(d)
	next := d.redraft(b.cp, c.ledger.records, map[key]*edit{})
	if next.checkpoint == nil || next.tokens() >= d.tokens() {
		return d, nil, fmt.Errorf("%w: %w", ErrCompaction, errNoGain)
	}
	report := *b.report
	report.TokensBefore = d.tokens()
	all := unfolded(d.items)
	report.FirstKept = max(0, all[b.cp.FirstKept.Find(placesIn(all))].index)
	return next, &report, nil
}

// hasFailed reports whether err, of withReadySummary, says that the summarizer failed. Else the history has changed.
func hasFailed(err error) bool { return err != nil && !errors.Is(err, errHistoryChanged) }

// endUseless ends background work that is of no use for d. report and err are those of withReadySummary. If the summary
// is used, commit ends the work, because the request may still fail before that.
func (c *call) endUseless(d *draft, report *Compaction, err error) {
	b := c.manager.background
	switch {
	case b == nil || report != nil:
		return
	case !b.hasEnded():
		if !b.covers(d) {
			b.drop() // this history lacks what b summarizes, so the summary would not be used
		}
		return
	}
	c.manager.endBackground()
	if hasFailed(err) {
		c.noteFailure(err, d)
	}
}

// awaitBackground waits for the work in the background, if d can use its summary, and reports whether it waited. An
// error says that ctx ended first.
func (c *call) awaitBackground(ctx context.Context, d *draft) (waited bool, err error) {
	b := c.manager.background
	// A flush may call Prepare: if that waited for the work, which waits for the flush, neither would end.
	if b == nil || b.hasEnded() || b.isFlushing || !b.covers(d) {
		return false, nil
	}
	c.unlocked(func() {
		select {
		case <-b.ended:
		case <-ctx.Done():
			err = waitError(ctx)
		}
	})
	return true, err
}

// Close cancels the work of CompactOptions.Background and waits until it has ended. The manager stays usable. It must
// not be called from BeforeCompact.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true // a call that waits for the lock must not begin new work
	b := m.background
	if b != nil && !b.hasEnded() {
		b.dropped = true
		b.cancel()
	}
	m.mu.Unlock()
	if b != nil {
		<-b.ended
	}
}

// noteFailure counts a compaction of d that failed with err, and logs why.
func (c *call) noteFailure(err error, d *draft) {
	total := d.historyTokens()
	c.note(func(l *ledger) {
		b := &l.Breaker
		b.Failures++
		b.Total, b.RestartAt, b.Reason = total, 0, failureReason(err)
		if errors.Is(err, ErrIncomplete) || errors.Is(err, errNoGain) {
			b.Refused++
		}
	})
	b := &c.ledger.Breaker
	c.opts.Logger.Warn(event.Failed, "reason", b.Reason, "error_class",
		string(ClassifyError(err).Class), "failures", b.Failures, "breaker_opened", b.Failures == summary.MostFailures)
}

// failureReason names the reason of err for the log. It quotes nothing that a summarizer said.
func failureReason(err error) string {
	switch {
	case errors.Is(err, ErrNothingToCompact):
		return "nothing to summarize"
	case errors.Is(err, errNoGain):
		return "no gain"
	case errors.Is(err, errHistoryChanged):
		return "the history changed"
	case errors.Is(err, errRules):
		return "rules"
	case refusalIn(err) != "":
		return "refused: " + refusalIn(err) // by a rule that Summarizer names
	case errors.Is(err, ErrIncomplete):
		return "incomplete"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "summarizer: " + cmp.Or(string(ClassifyError(err).Class), typeIn(err), "an error of no known class")
}

// typeIn names the Go type of the first error in err that has one of its own: all that is sure to hold no secret.
func typeIn(err error) string {
	name := fmt.Sprintf("%T", err)
	switch wrapping := err.(type) {
	case nil:
		return ""
	case interface{ Unwrap() []error }:
		for _, one := range wrapping.Unwrap() {
			if found := typeIn(one); found != "" {
				return found
			}
		}
		return ""
	}
	if strings.HasPrefix(name, "*errors.") || strings.HasPrefix(name, "*fmt.") {
		return typeIn(errors.Unwrap(err))
	}
	return name
}

// The memory flush: the host's chance to write down what a summary may lose, once in each compaction cycle.

// prepareCompaction does what has to happen ahead of a compaction that is near: it starts the summary in the
// background, or asks the host to save what it wants to keep. It reports whether the host was asked: it may have used
// the manager meanwhile.
func (c *call) prepareCompaction(ctx context.Context, d *draft) bool {
	o := c.opts.Compact
	if o.Background && !c.manager.closed { // after Close, summaries are made in the foreground
		if c.manager.background == nil && d.isNearCompaction() {
			c.startBackground(ctx, d) // the flush runs there too, ahead of the summary
		}
		return false
	}
	return o.BeforeCompact != nil && !c.ledger.Flushed && d.isNearCompaction() && c.flush(ctx)
}

// flush calls BeforeCompact, unless it was called since the last compaction, and reports whether it did. The lock is
// not held during the call, so the host may use the manager, which may be in another state afterwards.
func (c *call) flush(ctx context.Context) bool {
	isFlushing := c.manager.background != nil && c.manager.background.isFlushing
	if c.opts.Compact.BeforeCompact == nil || c.ledger.Flushed || isFlushing || ctx.Err() != nil {
		return false
	}
	wasCalled := func(l *ledger) { l.Flushed = true }
	c.note(wasCalled)
	c.unlocked(func() { c.callBeforeCompact(ctx, c.history) })
	c.note(wasCalled) // again: a compaction during the flush does not call for another one
	return true
}

// callBeforeCompact calls the host's function. An error or a panic does not keep the history from being compacted.
func (s *settings) callBeforeCompact(ctx context.Context, history []Message) {
	err := safely("BeforeCompact", func() error { return s.opts.Compact.BeforeCompact(ctx, clip(history)) })
	if err != nil {
		// Only the class is logged, because the text may quote the conversation.
		s.opts.Logger.Warn("winnow: BeforeCompact failed", "error_class", string(ClassifyError(err).Class))
	}
}
