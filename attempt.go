package winnow

import (
	"maps"
	"slices"

	"github.com/winnowgo/winnow/internal/count"
)

// state returns the state of l that revert can put back. It shares the map of edits with l.
func (l *ledger) state() undoable {
	return undoable{
		rewrites: l.rewrites, guess: l.accounting.Guess, body: l.accounting.Body, refused: slices.Clone(l.run.refused),
	}
}

// revert puts l back to u. It keeps what was sent last, because the next request is compared with that.
func (l *ledger) revert(u undoable) {
	l.rewrites = u.rewrites
	l.accounting.Guess, l.accounting.Body, l.run.refused = u.guess, u.body, u.refused
}

// beginAttempt returns the open run of Recover, which is now about history. If no run is open it begins one and saves
// the state of the ledger for undoAttempt.
func (m *Manager) beginAttempt(history []Message) *attempt {
	l := &m.ledger
	if l.attempt == nil {
		l.attempt = &attempt{before: l.state()}
		l.projections = maps.Clone(l.projections) // undoAttempt puts the old map back
	}
	if n := len(history); n > 0 {
		facts := l.index.update(history, m.opts.Estimator)
		l.attempt.end, l.attempt.ahead = position{Key: facts[n-1].key, Index: n - 1}, position{}
		if n > 1 {
			l.attempt.ahead = position{Key: facts[n-2].key, Index: n - 2}
		}
	}
	return l.attempt
}

// undoAttempt undoes the open run of Recover, if there is one, because it came to nothing.
func (m *Manager) undoAttempt() {
	if m.ledger.undoAttempt() {
		m.tail = requestTail{} // the next call must not take the short way
	}
}

// undoAttempt undoes the open run of Recover. It reports whether there was one.
func (l *ledger) undoAttempt() bool {
	if l.attempt == nil {
		return false
	}
	l.revert(l.attempt.before)
	l.attempt = nil
	return true
}

// closeAttempt ends the open run of Recover, if there is one, without knowing whether its requests were accepted. It
// keeps what was sent and forgets what the run guessed.
func (l *ledger) closeAttempt() {
	if l.attempt != nil {
		l.accounting.Guess, l.accounting.Body = l.attempt.before.guess, l.attempt.before.body
		l.attempt = nil
	}
}

// settle looks in history for the outcome of the open run of Recover. If an answer follows, the request was accepted.
// If the history goes on without an answer, it was not. If nothing follows yet, the run stays open.
func (m *Manager) settle(history []Message) {
	l := &m.ledger
	if l.attempt == nil {
		return
	}
	facts := l.index.update(history, m.opts.Estimator)
	end := newestOf(facts, l.attempt.end)
	if end >= 0 && end == len(history)-1 {
		return
	}
	if end < 0 { // a host that puts the time, for example, behind each request does not keep that message
		end = newestOf(facts, l.attempt.ahead)
	}
	// A failed turn is not an answer: hosts record a provider's error as a message of the model.
	if end >= 0 && end+1 < len(history) && history[end+1].Role == RoleAssistant && !isFailed(&history[end+1]) {
		m.taken()
	} else {
		m.undoAttempt()
	}
}

// settleWithUndo is settle for a call that may still fail. undo takes back what settle and the call have decided.
func (m *Manager) settleWithUndo(history []Message) (undo func()) {
	run := m.ledger.run
	undo = func() { m.ledger.run = run }
	if m.ledger.attempt != nil {
		undo = m.savepoint()
	}
	m.settle(history)
	return undo
}

// newestOf returns the index in facts of the message that p names, or -1. If several messages have its key and none of
// them is at its index, newestOf returns the newest.
func newestOf(facts []*fact, p position) int {
	// Most histories only grow, so the message is where it was. It moves if the host drops older messages.
	if p.Index < len(facts) && facts[p.Index].key == p.Key {
		return p.Index
	}
	for i := len(facts) - 1; i >= 0; i-- {
		if facts[i].key == p.Key {
			return i
		}
	}
	return -1
}

// taken closes the open run of Recover, if there is one, because its last request was accepted. A limit that the run
// guessed stays only if the evidence is good enough: see guess.Limit.
func (m *Manager) taken() {
	l := &m.ledger
	x, a := l.attempt, &l.accounting
	if x == nil {
		return
	}
	if x.tokens.First > 0 {
		believed := count.Least(a.Told(m.window-m.opts.Reserve), x.before.guess.Most)
		a.Guess = x.before.guess.Settle(x.tokens, a.Guess.Most, l.tokens, believed)
	}
	if x.bytes.First > 0 {
		a.Body = x.before.body.Settle(x.bytes, a.Body.Most, l.bytes, l.toldBody(&m.settings))
	}
	l.attempt, l.refusals = nil, 0
	m.tail = requestTail{}
}

// savepoint returns a function that restores the decisions in the ledger, and the tail, as they are now. It does not
// take back what is known of messages, what was learned of the provider's counts, failures of the summarizer, or that
// BeforeCompact ran: that hook runs once before a compaction.
func (m *Manager) savepoint() func() {
	l := &m.ledger
	open, refusals, run, before, tail := l.attempt, l.refusals, l.run, l.state(), m.tail
	return func() {
		before.flushed = before.flushed || l.flushed
		l.revert(before)
		l.attempt, l.refusals, l.run, m.tail = open, refusals, run, tail
	}
}

// savepointWithLimits is like savepoint, but its function also takes back what a refusal has taught.
func (m *Manager) savepointWithLimits() func() {
	l := &m.ledger
	undo, accounting, body := m.savepoint(), l.accounting, l.body
	// Recover writes to these in place, so the ledger goes on with copies.
	l.run.refused = slices.Clone(l.run.refused)
	if l.attempt != nil {
		open := *l.attempt
		l.attempt = &open
	}
	return func() {
		undo()
		l.accounting, l.body, m.tail = accounting, body, requestTail{}
	}
}
