package winnow

import (
	"context"
	"errors"

	"github.com/winnowgo/winnow/internal/breaker"
)

// commit makes d what was sent last, and returns its request. The functions of `also` change the ledger in the same
// step. The error comes from Options.Journal; nothing has changed then.
func (m *Manager) commit(d *draft, also ...func(l *ledger)) (*Request, error) {
	// kept for the comparison below, because the ledger has a new list by then
	r, sent := d.request(), m.ledger.sent
	tokens, cold := m.ledger.tokens, d.isCold()
	err := m.journaled(func() {
		m.ledger.record(d)
		m.ledger.bytes = r.Bytes
		for _, change := range also {
			change(&m.ledger)
		}
	})
	if err != nil {
		return nil, err
	}
	switch {
	case r.FirstChanged < len(sent):
		m.opts.Logger.Info("winnow: what was sent is rewritten", "first_changed", r.FirstChanged,
			"messages_before", len(sent), "messages", len(r.Messages), "tokens_before", tokens, "tokens", r.Tokens,
			"edits", len(d.newEdits), "records", d.newRecords, "cold", cold, "reason", d.why)
	case d.why != "" || d.newRecords > 0:
		// Nothing that was sent is rewritten. Without a log entry nobody would know why a part of the history is gone.
		m.opts.Logger.Info("winnow: the history is sent shortened", "reason", d.why, "edits", len(d.newEdits),
			"records", d.newRecords,
			"tokens_whole", d.estimateHistory(len(d.history)), "tokens", r.Tokens,
			"options", "FoldAbove, Prune, Truncate")
	}
	d.logRejected()
	return r, nil
}

// commitCompaction is commit for a draft that has a new checkpoint.
func (m *Manager) commitCompaction(d *draft, report *Compaction, also ...func(l *ledger)) (*Request, error) {
	r, err := m.commit(d, append(also, func(l *ledger) {
		// The answers of a try that failed are used up, and the next compaction has a flush of its own.
		l.cache, l.flushed = nil, false
		l.names = withNames(l.names, d.names, d.checkpoint.summaryKeys)
		if report.Degraded {
			l.digestAt = d.uneditedTokens()
		}
	})...)
	if err != nil {
		return nil, err
	}
	// Only now: had the commit failed, the next call would have used the background work.
	m.endBackground() // its summary is in use now, or is about messages that are replaced now
	report.TokensAfter = r.Tokens
	r.Compaction = report
	m.opts.Logger.Info("winnow: compacted", "tokens_before", report.TokensBefore, "tokens_after", report.TokensAfter,
		"first_kept", report.FirstKept, "calls", report.Calls, "degraded", report.Degraded)
	return r, nil
}

// closeBreaker resets the breaker of l, because the summarizer works.
func closeBreaker(l *ledger) { l.breaker = breaker.Breaker{} }

// noteFailure counts a compaction of d that failed with err, and logs why.
func (m *Manager) noteFailure(err error, d *draft) {
	b := &m.ledger.breaker
	b.Failures++
	b.Total, b.RestartAt = d.uneditedTokens(), 0
	if errors.Is(err, ErrIncomplete) || errors.Is(err, errNoGain) {
		b.Refused++
	}
	m.opts.Logger.Warn("winnow: compaction failed", "reason", failureReason(err), "error_class",
		string(ClassifyError(err).Class), "failures", b.Failures, "breaker_opened", b.Failures == breaker.Limit)
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
	case errors.Is(err, ErrIncomplete):
		return "incomplete"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "summarizer"
}
