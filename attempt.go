package winnow

import (
	"maps"
	"slices"

	"github.com/winnowgo/winnow/internal/count"
)

// state returns what revert takes. It shares the map of the edits with the ledger.
func (l *ledger) state() undoable {
	return undoable{
		rewrites: l.rewrites, guess: l.accounting.guess, body: l.accounting.body, refused: slices.Clone(l.run.refused),
	}
}

// revert makes the ledger what it was. What was sent last stays known: the next request is compared with it.
func (l *ledger) revert(u undoable) {
	l.rewrites = u.rewrites
	l.accounting.guess, l.accounting.body, l.run.refused = u.guess, u.body, u.refused
}

// beginAttempt remembers how the ledger was before a run of Recover.
func (m *Manager) beginAttempt(history []Message) *attempt {
	l := &m.ledger
	if l.attempt == nil {
		l.attempt = &attempt{before: l.state()}
		l.projections = maps.Clone(l.projections) // the old map is what undoAttempt puts back: nobody writes to it
	}
	if n := len(history); n > 0 {
		facts := l.index.update(history, m.opts.Estimator)
		l.attempt.end = position{Key: facts[n-1].key, Index: n - 1}
	}
	return l.attempt
}

// undoAttempt is for a run of Recover that came to nothing.
func (m *Manager) undoAttempt() {
	if m.ledger.undoAttempt() {
		m.tail = requestTail{} // the next call has to look at the whole list
	}
}

// undoAttempt reports whether there was a run to undo.
func (l *ledger) undoAttempt() bool {
	if l.attempt == nil {
		return false
	}
	l.revert(l.attempt.before)
	l.attempt = nil
	return true
}

// closeAttempt ends an open run without a word on its requests: what was sent stays, what was guessed goes.
func (l *ledger) closeAttempt() {
	if l.attempt != nil {
		l.accounting.guess, l.accounting.body = l.attempt.before.guess, l.attempt.before.body
		l.attempt = nil
	}
}

// settle looks in history for what became of the last run of Recover: an answer says that its request was taken. A
// history that goes on without one says that it was not. Where nothing came yet the run is still open.
func (m *Manager) settle(history []Message) {
	l := &m.ledger
	if l.attempt == nil {
		return
	}
	// A turn that failed is no answer: hosts note an error of the provider as a message of the model.
	switch end := l.attempt.endIn(l.index.update(history, m.opts.Estimator)); {
	case end >= 0 && end == len(history)-1:
	case end >= 0 && history[end+1].Role == RoleAssistant && !isFailed(&history[end+1]):
		m.taken()
	default:
		m.undoAttempt()
	}
}

// settleFor is settle for a call that may fail: what it returns takes back what was decided.
func (m *Manager) settleFor(history []Message) (undo func()) {
	run := m.ledger.run
	undo = func() { m.ledger.run = run }
	if m.ledger.attempt != nil {
		undo = m.keep()
	}
	m.settle(history)
	return undo
}

// endIn returns where in a history of these facts the end of the attempt's history is, or -1.
func (a *attempt) endIn(facts []*fact) int {
	// Most histories only grow, so that it still stands where it stood. A host that drops older messages moves it.
	if at := a.end.Index; at < len(facts) && facts[at].key == a.end.Key {
		return at
	}
	for i := len(facts) - 1; i >= 0; i-- {
		if facts[i].key == a.end.Key {
			return i
		}
	}
	return -1
}

// taken is for a request of Recover that was accepted.
func (m *Manager) taken() {
	l := &m.ledger
	x, a := l.attempt, &l.accounting
	if x == nil {
		return
	}
	if x.tokens.First > 0 {
		believed := count.Least(a.told(m.window-m.opts.Reserve), x.before.guess.Most)
		a.guess = x.before.guess.Settle(x.tokens, a.guess.Most, l.tokens, believed)
	}
	if x.bytes.First > 0 {
		a.body = x.before.body.Settle(x.bytes, a.body.Most, l.bytes, l.toldBody(&m.settings))
	}
	l.attempt, l.refusals = nil, 0
	m.tail = requestTail{}
}

// keep returns a function that makes the ledger and the tail what they are now, but for what is known of messages and
// for failures. That BeforeCompact ran is not taken back either: it runs once before a compaction.
func (m *Manager) keep() func() {
	l := &m.ledger
	open, refusals, run, before, tail := l.attempt, l.refusals, l.run, l.state(), m.tail
	return func() {
		before.flushed = before.flushed || l.flushed
		l.revert(before)
		l.attempt, l.refusals, l.run, m.tail = open, refusals, run, tail
	}
}

// keepLimits is keep together with what a refusal teaches.
func (m *Manager) keepLimits() func() {
	l := &m.ledger
	undo, accounting, body := m.keep(), l.accounting, l.body
	// A refusal is added to these in place.
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
