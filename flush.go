package winnow

import (
	"context"

	"github.com/winnowgo/winnow/internal/attempts"
	"github.com/winnowgo/winnow/internal/count"
)

// The memory flush: the host's chance to write down what a summary may lose, once in each compaction cycle.

// flushDue reports whether a request with this number of tokens has reached threshold and calls for a flush. The rule
// is the reference's: if threshold is 0 or less, only the compaction itself calls for one.
func flushDue(tokens, threshold int) bool {
	return threshold > 0 && tokens >= threshold
}

// isNearCompaction reports whether a compaction is at most CompactOptions.SoftThreshold tokens away. Old results do not
// count: they are cleared first, and a compaction is far away then.
func (m *Manager) isNearCompaction(d *draft) bool {
	o := &m.opts
	if o.Compact.Off || !d.isWithin(o.Compact.SoftThreshold) || m.ledger.breaker.IsOpen(d.uneditedTokens(), d.budget) {
		return false
	}
	if !d.canCompact() || d.unreadTokens() < count.Share(d.budget, leastWorth) {
		return false
	}
	// least is the request with everything old cleared: that is tried before a summary is asked for.
	least := newDraft(&m.settings, &m.ledger, d.history, d.base, m.ledger.records, map[key]*projection{}).steps()
	least.isPressed = true
	goal := count.Share(least.room(), lowWater)
	least.dropTo(goal)
	least.foldAllButNewest(goal)
	least.prune(*m.opts.Prune, least.windowEstimate())
	least.clearTo(goal)
	return least.isWithin(o.Compact.SoftThreshold)
}

// isWithin reports whether the request has room for at most soft more tokens.
func (d *draft) isWithin(soft int) bool {
	threshold, n := d.budget-soft, d.tokens()
	if over := count.Add(n, d.margin()) - (d.ceiling() - soft); over > 0 { // the margin is what does not fit
		n = max(n, threshold)
	}
	return flushDue(n, threshold)
}

// flush calls BeforeCompact, unless it was called since the last compaction, and reports whether it did. The lock is
// not held during the call, so the host may use the manager, which may be in another state afterwards.
func (m *Manager) flush(ctx context.Context, history []Message) bool {
	isFlushing := m.background != nil && m.background.flushes
	if m.opts.Compact.BeforeCompact == nil || m.ledger.flushed || isFlushing || ctx.Err() != nil {
		return false
	}
	m.ledger.flushed = true
	m.flushes++
	m.unlocked(func() { m.callBeforeCompact(ctx, history) })
	m.ledger.flushed = true // again: a compaction during the flush does not call for another one
	return true
}

// callBeforeCompact calls the host's function. An error or a panic does not keep the history from being compacted.
func (m *Manager) callBeforeCompact(ctx context.Context, history []Message) {
	err := attempts.Safely("BeforeCompact", func() error { return m.opts.Compact.BeforeCompact(ctx, clip(history)) })
	if err != nil {
		// Only the class is logged, because the text may quote the conversation.
		m.opts.Logger.Warn("winnow: BeforeCompact failed", "error_class", string(ClassifyError(err).Class))
	}
}
