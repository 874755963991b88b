package winnow

import (
	"maps"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/meter"
)

// state returns the state of l that revert can put back. It shares the map of edits with l.
func (l *ledger) state() undoable {
	return undoable{
		rewrites: l.rewrites, guess: l.accounting.Guess, body: l.accounting.Body,
		refused: l.tries.refused,
	}
}

// revert puts l back to u. It keeps what was sent last, because the next request is compared with that.
func (l *ledger) revert(u undoable) {
	l.rewrites = u.rewrites
	l.accounting.Guess, l.accounting.Body, l.tries.refused = u.guess, u.body, u.refused
}

// openRecovery makes sure that a recovery is open, and that it is about history. If none is open yet, it saves the
// state of the ledger for undoRecovery.
func (m *Manager) openRecovery(history []Message) {
	l := &m.ledger
	open := recovery{before: l.state()}
	if l.recovery != nil {
		open = *l.recovery // a copy: see savepoint
	} else {
		l.projections = maps.Clone(l.projections) // undoRecovery puts the old map back
	}
	if n := len(history); n > 0 {
		facts := m.know(history)
		open.end, open.ahead = position{Key: facts[n-1].key, Index: n - 1}, position{}
		if n > 1 {
			open.ahead = position{Key: facts[n-2].key, Index: n - 2}
		}
	}
	l.recovery = &open
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
		l.accounting.Guess, l.accounting.Body = l.recovery.before.guess, l.recovery.before.body
		l.recovery = nil
	}
}

// settle looks in history for the outcome of the open recovery. If an answer follows, the request was accepted. If the
// history goes on without an answer, it was not. If nothing follows yet, the recovery stays open.
func (m *Manager) settle(history []Message) {
	l := &m.ledger
	if l.recovery == nil {
		return
	}
	facts := m.know(history)
	end := newestOf(facts, l.recovery.end)
	if end >= 0 && end == len(history)-1 {
		return
	}
	if end < 0 { // hosts may put text, such as the time, at the end of a request and drop it later
		end = newestOf(facts, l.recovery.ahead)
		if end >= 0 && end+1 < len(history) && history[end+1].Role != RoleAssistant {
			end++
		}
	}
	// A failed turn is not an answer: hosts record a provider's error as a message of the model.
	if end >= 0 && end+1 < len(history) && history[end+1].Role == RoleAssistant && !isFailed(&history[end+1]) {
		m.requestAccepted()
	} else {
		l.undoRecovery()
	}
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

// requestAccepted closes the open recovery, if there is one, because its last request was accepted. A limit that it
// guessed stays only if the evidence is good enough: see guess.Limit.
func (m *Manager) requestAccepted() {
	l := &m.ledger
	x, a := l.recovery, &l.accounting
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
	l.recovery, l.refusals = nil, 0
}

// begin begins a call that may change the ledger. See savepoint.
func (m *Manager) begin() (undo func()) {
	m.calls++
	return m.savepoint()
}

// savepoint returns a function that makes the ledger what it is now, for a call that fails or only looks. What is known
// of messages stays, and so do failures of the summarizer, its answers, and that BeforeCompact ran: that hook runs once
// before a compaction. If the host has made another call meanwhile, all stays as that call has left it. The maps and
// lists are shared with the ledger: only commit writes to them, and no call fails after it.
func (m *Manager) savepoint() (undo func()) {
	calls, flushes, before := m.calls, m.flushes, m.ledger
	return func() {
		if m.calls != calls {
			return
		}
		l := &m.ledger
		before.index, before.breaker, before.digestAt = l.index, l.breaker, l.digestAt
		before.flushed = before.flushed || m.flushes > flushes
		*l = before
	}
}

// Counted passes on the provider's count for the request that this manager returned last, including its system prompt
// and tools. The count comes from the provider's endpoint (count_tokens; see the adapters for Anthropic and Gemini).
// The next requests are estimated from there, as they are from the Usage of an answer. Call it when a manager takes
// over a long history without any Usage. A count that cannot belong to the request is ignored, as is one before the
// first request.
func (m *Manager) Counted(tokens int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &m.ledger
	known := count.Add(l.estimate, m.opts.Overhead)
	if tokens < count.Share(known, accounting.LeastCount) || tokens > count.Share(m.window, accounting.MostCount) {
		return // the count is of another request
	}
	if len(l.sent) == 0 || tokens <= 0 {
		return // nothing was sent, or nothing was counted
	}
	anchor := meter.Anchor{Messages: len(l.sent), Estimate: l.estimate, Prompt: tokens}
	m.calls++
	l.accounting.Observe(anchor, 0, m.opts.Overhead)
}
