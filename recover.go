package winnow

import (
	"context"
	"errors"
	"fmt"
)

// recoverShare is what a refused request is shrunk to when the provider did not say by how much it is too long.
const recoverShare = 0.75

// maxRecoveries bounds how often one request is shrunk and sent again.
const maxRecoveries = 6

// Recover takes the error of a request that Prepare (or Recover) made and returns the next, smaller one.
// Each is smaller than the one before, by the manager's estimate. cause is returned, wrapped, when it is
// no overflow; when nothing is left to try the error is an [*OverflowError] that wraps cause. A nil cause
// is an error.
func (m *Manager) Recover(ctx context.Context, history []Message, cause error) (*Request, error) {
	info := ClassifyError(cause)
	switch {
	case cause == nil:
		return nil, errors.New("winnow: Recover: no cause")
	case info.Class != ErrorOverflow && info.Class != ErrorBytes:
		return nil, fmt.Errorf("winnow: not a context overflow: %w", cause)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("winnow: %w: %w", context.Cause(ctx), cause)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	refused := m.ledger.tokens
	if refused == 0 { // nothing was prepared: the history as it is was refused
		refused = m.draft(history, m.ledger.checkpoint).tokens()
	}
	target := shareOf(refused, recoverShare)
	if info.Tokens > info.Limit && info.Limit > 0 {
		target = min(target, shareOf(refused, float64(info.Limit)/float64(info.Tokens)))
	}
	d := m.draftWithin(history, m.ledger.checkpoint, target)
	if m.ledger.recoveries < maxRecoveries && !d.fit() && !d.fits() {
		if next, report, err := m.compact(ctx, d, m.opts.Summarizer, "", false); err == nil && next.fit() {
			return m.recovered(m.commitCompaction(next, report)), nil
		}
		d = m.draftWithin(history, m.ledger.checkpoint, target)
	}
	if m.ledger.recoveries >= maxRecoveries || !d.fit() || d.tokens() >= refused {
		e := d.overflow()
		e.Err = cause
		return nil, e
	}
	return m.recovered(m.commit(d)), nil
}

// recovered counts a request that was made smaller after a refusal.
func (m *Manager) recovered(r *Request) *Request {
	m.ledger.recoveries++
	return r
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
		next, failed := m.Recover(ctx, history, err)
		if failed != nil {
			if info := ClassifyError(err); info.Class != ErrorOverflow && info.Class != ErrorBytes {
				failed = err
			}
			return zero, r, failed
		}
		r = next
	}
}
