package winnow

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// startBackground begins to summarize what d would be compacted to. ctx lends its values and not its end: the
// work is not that of one request.
func (m *Manager) startBackground(ctx context.Context, d *draft) {
	plan, err := d.newCompaction("")
	if err != nil {
		return // whatever it is, the compaction itself will meet it and report it
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b := &background{cancel: cancel, ended: make(chan struct{}), base: d.base, plan: plan}
	// Said before the goroutine runs, so that no other call flushes for the same compaction.
	b.flushes = m.opts.Compact.BeforeCompact != nil && !m.ledger.flushed
	m.ledger.flushed = m.ledger.flushed || b.flushes
	m.background = b
	// The goroutine reads while the host goes on to write to its history.
	plan.own()
	var history []Message
	if b.flushes {
		history = ownMessages(d.history)
	}
	go func() {
		defer close(b.ended)
		defer cancel()
		m.runBackground(ctx, b, history)
	}()
}

// own gives c messages of its own: the host may write to its messages while c runs.
func (c *compaction) own() {
	for _, list := range []*[]Message{&c.older.messages, &c.prefix.messages, &c.recent} {
		*list = ownMessages(*list)
	}
}

// ownMessages copies messages with all that a host could write to meanwhile.
func ownMessages(messages []Message) []Message {
	out := copyMessages(messages)
	for i := range out {
		out[i].Details = slices.Clone(out[i].Details)
	}
	return out
}

// runBackground is the goroutine. It takes the lock only to read and to write b and the ledger.
func (m *Manager) runBackground(ctx context.Context, b *background, history []Message) {
	if b.flushes { // not written before this goroutine does
		m.callBeforeCompact(ctx, history)
		m.mu.Lock()
		b.flushes = false
		stale := b.dropped || m.ledger.checkpoint != b.base // the flush took its time, and may have used the manager
		m.mu.Unlock()
		if stale {
			b.cancel()
		}
	}
	cp, report, err := m.runPlan(ctx, b.plan)
	m.mu.Lock()
	defer m.mu.Unlock()
	b.cp, b.report, b.err = cp, report, err
}

// runPlan asks for the host's rules and for the summary. Nobody could catch a panic in this goroutine.
func (m *Manager) runPlan(ctx context.Context, c *compaction) (cp *checkpoint, report *Compaction, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: panic: %v", ErrCompaction, p)
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrCompaction, err)
	}
	if err := c.takeRules(m.opts.Compact.Rules, false); err != nil {
		return nil, nil, err
	}
	return c.run(ctx, m.opts.Summarizer)
}

// covers reports whether what b summarizes is still in the history of d, unchanged and under the same summary. What
// came after it does not matter. The turn limit may have dropped the oldest of it.
func (b *background) covers(d *draft) bool {
	if d.base != b.base || b.dropped {
		return false
	}
	now := d.replacedBefore(b.plan.firstKept, b.plan.request)
	then := b.plan.replacedKeys
	return len(now) > 0 && len(now) <= len(then) && slices.Equal(now, then[len(then)-len(now):])
}

// replacedBefore returns the keys of the messages that a checkpoint with these places replaces, or nil.
func (d *draft) replacedBefore(firstKept bookmark, request position) []key {
	v := d.whole()
	s := span{stays: outlives(v.unedited, len(v.unedited))}
	s.cut, s.request = firstKept.Find(v.places()), request.Find(v.places())
	var keys []key
	for i := range max(0, s.cut) {
		if s.replaces(i) {
			keys = append(keys, v.facts[i].key)
		}
	}
	return keys
}

// splice returns d with the summary that was made in the background, if that is ready, still true, and makes
// the request smaller. Nothing of the manager is changed.
func (m *Manager) splice(d *draft) (*draft, *Compaction, error) {
	b := m.background
	switch {
	case b == nil || !b.hasEnded():
		return d, nil, nil
	case b.err != nil:
		return d, nil, b.err
	case !b.covers(d):
		return d, nil, errDropped
	}
	m.makeUnique(b.cp, d.view)
	next := m.redraft(d, b.cp, m.ledger.records, map[key]*projection{})
	if next.checkpoint == nil || next.tokens() >= d.tokens() {
		return d, nil, fmt.Errorf("%w: %w", ErrCompaction, errNoGain)
	}
	report := *b.report
	report.TokensBefore = d.tokens()
	whole := d.whole()
	report.FirstKept = max(0, whole.index[b.cp.firstKept.Find(whole.places())])
	return next, &report, nil
}

// collect is splice, and forgets what is of no use. failed says that the work in the background made no summary.
// What is used is forgotten when it is committed: until then the request may still come to nothing.
func (m *Manager) collect(d *draft) (next *draft, report *Compaction, failed bool) {
	b := m.background
	next, report, err := m.splice(d)
	switch {
	case b == nil || report != nil:
		return next, report, false
	case !b.hasEnded():
		if !b.covers(d) {
			b.drop() // what it summarizes is not in this history: its summary would not be used
		}
		return next, nil, false
	}
	m.forgetBackground()
	if b.dropped || errors.Is(err, errDropped) {
		return next, nil, false // the summarizer did not fail: the history has changed
	}
	m.noteFailure(err, d)
	return next, nil, true
}

// await waits for the work in the background, if d can use it. It says whether it waited; the error is ctx's.
func (m *Manager) await(ctx context.Context, d *draft) (waited bool, err error) {
	b := m.background
	// A flush may call Prepare: if that waited for the work, which waits for the flush, neither would end.
	if b == nil || b.hasEnded() || b.flushes || !b.covers(d) {
		return false, nil
	}
	m.unlocked(func() {
		select {
		case <-b.ended:
		case <-ctx.Done():
			err = errWaiting(ctx)
		}
	})
	return true, err
}

// Close ends the work of CompactOptions.Background and waits until it has ended, BeforeCompact included, from
// which it must not be called. The manager stays usable and summarizes in the foreground from then on. It
// returns nil.
func (m *Manager) Close() error {
	m.mu.Lock()
	m.closed = true // first: a call that waits for the lock must not begin another one
	b := m.background
	if b != nil && !b.hasEnded() {
		b.dropped = true
		b.cancel()
	}
	m.mu.Unlock()
	if b != nil {
		<-b.ended
	}
	return nil
}
