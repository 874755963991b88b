package winnow

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/models"
)

// Manager keeps one conversation inside its window. Make one with [New] for each conversation, and keep it, or its
// [Manager.Snapshot], as long as the conversation lasts. It is safe for concurrent use.
//
// The history passed in is either the whole log, append-only, or the last Request.History and what came after it. A log
// may be rewound, forked or replaced, and a message changed, to redact it for example. While a call runs, nobody may
// write to its history: append an answer when it is complete. A [Request] may share memory with the history: append to
// its lists, and do not write to their elements.
//
// Between calls a manager holds one text of the history, to know it again, and what it sent instead: summaries, records
// and edits, which quote messages. [Manager.Snapshot] and [Options].Journal write these out. It starts no goroutine
// that outlives a call, unless CompactOptions.Background is set or a [Summarizer] ignores its context.
type Manager struct {
	settings

	mu         sync.Mutex // protects what follows
	ledger     ledger
	background *background // nil: none
	flushCount int         // how often BeforeCompact was called
	generation int         // how often a call began that may change the ledger: see savepoint
	closed     bool        // Close was called: no background work begins any more

	waited time.Duration // for the summarizer, in the current call
}

// New returns a manager for a model with a context window of window tokens. opts is copied; nil means the defaults.
//
// Options.Model names the model, as providers, gateways and clouds spell it ("claude-opus-4-6",
// "openrouter/anthropic/claude-opus-4.6"). A table of models then sets what opts does not: the rules and prices of the
// prompt cache, the estimator, whether thinking is bound and, if window is 0, the window. With a name that it does not
// have the defaults hold, which is logged, and window must be given.
//
// The error names the bad option: a window that is not positive, a value that is not a number, a share outside 0..1 or
// an unknown policy. [CheckWindow] says whether a window is large enough for an agent.
func New(window int, opts *Options) (*Manager, error) {
	window = opts.windowFor(window)
	o, err := opts.withDefaults(window)
	if err != nil {
		return nil, err
	}
	switch known, isKnown := models.Find(o.Model); {
	case o.Model == "":
	case !isKnown:
		o.Logger.Warn("winnow: the model is unknown", "model", o.Model)
	case known.Uncached == 0:
		o.Logger.Warn("winnow: no price is known for the model", "model", o.Model)
	}
	m := &Manager{
		settings: settings{window: window, opts: o, minifier: newMinifier(&o), prices: pricesOf(o.Model, o.Cache)},
		ledger:   ledger{partner: partner{model: o.Model, window: window}},
	}
	m.truncateHasEstimator = opts != nil && opts.Truncate != nil && opts.Truncate.Estimator != nil
	return m, nil
}

// Window returns the context window that [New] was given, or that of Options.Model, in tokens. A smaller one that a
// provider names does not change it.
func (m *Manager) Window() int { return m.window }

// Cold reports whether the provider's cache most likely holds nothing of the last request: there was none yet, it is
// older than CacheOptions.TTL, or the provider caches nothing. Then another system prompt or other tools cost nothing.
func (m *Manager) Cold() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return (&draft{settings: &m.settings, ledger: &m.ledger, now: m.opts.Now()}).isCold()
}

// unlocked runs f, which calls code of the host, without the manager's lock. Other calls that are made meanwhile do not
// use the token limit that the current call plans with.
func (m *Manager) unlocked(f func()) {
	planned := m.ledger.mostTokens
	m.ledger.mostTokens = 0
	m.mu.Unlock()
	defer func() { // deferred, because the caller unlocks on its way out even if f panics
		m.mu.Lock()
		m.ledger.mostTokens = planned
	}()
	f()
}

// background is a compaction that is made while the conversation goes on. Its fields are protected by the
// manager's lock; the summarizer is called without it.
type background struct {
	cancel     context.CancelFunc
	ended      chan struct{} // closed when its goroutine ends
	base       *checkpoint   // the summary that the history had when it began
	plan       *compaction
	isFlushing bool // BeforeCompact runs: nobody waits for it, and it is not cancelled when the summary is dropped
	dropped    bool // nobody can use its summary any more

	cp     *checkpoint // the result, once the goroutine has ended
	report *Compaction
	err    error
}

// draft takes history through the passes that need no LLM:
//
//  1. index what is new
//  2. repair the pairing of calls and results
//  3. replay the checkpoint: the summary that was sent stands for the oldest messages
//  4. limit turns
//  5. replay the records and edits that were sent, byte for byte
//  6. minify results that were not sent yet, leave out what earlier ones show, and cut those that are too large
//  7. rewrite what was sent, if that costs nothing, if it pays, or if the request does not fit
//
// It changes nothing in the manager but what is known of the messages. c is the checkpoint to replay.
func (m *Manager) draft(history []Message, c *checkpoint) *draft {
	return newDraft(&m.settings, &m.ledger, history, c, m.ledger.records, map[key]*edit{}).passes()
}

// redraft makes another draft in the same call, for the history of from: with checkpoint c, and with records and
// newEdits that were made already. It takes over what from has learned from the provider's counts.
func (m *Manager) redraft(from *draft, c *checkpoint, records []*runRecord, newEdits map[key]*edit) *draft {
	d := newDraft(&m.settings, &m.ledger, from.history, c, records, newEdits)
	d.isLearned, d.rejected, d.lastUsage = true, from.rejected, from.lastUsage
	d.accounting.TakeOver(&from.accounting, &from.known)
	d.budget = m.ledger.budgetBy(&m.settings, &d.accounting)
	return d.passes()
}

// passes runs the numbered passes in their order: each relies on what the one before it left.
func (d *draft) passes() *draft {
	d.indexAndRepair()
	d.limitAndReplay()
	d.shortenNew()
	d.rewrite()
	return d
}

// request returns the request as it stands.
func (d *draft) request() *Request {
	edits := d.appendFolds(slices.Clip(d.edits))
	for _, x := range d.items {
		if x.edit != nil {
			edits = append(edits, x.edit.report(max(0, x.index), x.own, x.fact))
		}
	}
	r := &Request{
		Messages: d.messages(), History: d.returned, Tokens: d.tokens(), Counts: d.counts(),
		Budget: d.budget, Bytes: d.bytes(),
		Edits: edits, FirstChanged: d.firstChanged(),
	}
	if d.checkpoint != nil {
		r.Degraded = d.checkpoint.degraded
	}
	d.price(r, d.estimateHistory(len(d.history)), d.prefix(r.FirstChanged))
	return r
}

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
		l.edits = maps.Clone(l.edits) // undoRecovery puts the old map back
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
	end := l.recovery.end.Find(placesOf(facts))
	if end >= 0 && end == len(history)-1 {
		return
	}
	if end < 0 { // hosts may put text, such as the time, at the end of a request and drop it later
		end = l.recovery.ahead.Find(placesOf(facts))
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

// know learns what is new in history and returns the facts of its messages as they are sent whole: with the names of
// their calls. The slice belongs to the index.
func (m *Manager) know(history []Message) []*fact {
	facts := m.ledger.index.update(history, m.opts.Estimator)
	d := draft{settings: &m.settings, ledger: &m.ledger, history: history}
	d.repairHistory(facts)
	return d.facts
}

// requestAccepted closes the open recovery, if there is one, because its last request was accepted. A limit that it
// guessed stays only if the evidence is good enough: see accounting.Limit.
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
	m.generation++
	m.waited = 0
	return m.savepoint()
}

// savepoint returns a function that makes the ledger again what it is now: a call that fails, or that changes nothing,
// ends with it. What is known of messages stays, and so do failures of the summarizer, and that BeforeCompact ran: that
// hook runs once before a compaction. If the host has made another call meanwhile, all stays as that call has left it.
// The maps and lists are shared with the ledger: only commit writes to them, and no call fails after it.
func (m *Manager) savepoint() (undo func()) {
	generation, flushes, before := m.generation, m.flushCount, m.ledger
	return func() {
		if m.generation != generation {
			return
		}
		l := &m.ledger
		before.index, before.breaker, before.digestAt, before.journal = l.index, l.breaker, l.digestAt, l.journal
		before.flushed = before.flushed || m.flushCount > flushes
		*l = before
	}
}

// Counted passes on what the provider counted for the last request, system prompt and tools included, where no Usage in
// the history says it. The next requests are estimated from there. A count of another request is ignored.
func (m *Manager) Counted(u Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, tokens := &m.ledger, u.Prompt()
	if len(l.sent) == 0 || tokens <= 0 {
		return // nothing was sent, or nothing was counted
	}
	known := count.Add(l.estimate, m.opts.Overhead)
	if tokens < count.Share(known, accounting.LeastCount) || tokens > count.Share(m.window, accounting.MostCount) {
		return // the count is of another request
	}
	anchor := accounting.Anchor{Messages: len(l.sent), Estimate: l.estimate, Prompt: tokens}
	m.generation++
	l.accounting.Observe(anchor, 0, m.opts.Overhead)
	m.logMissed(l.compare(&u, m.prices.least))
	if u.ThinkingDropped > 0 && !l.bindsThinking {
		l.bindsThinking = true
		m.logBinding()
	}
}

// logBinding says that from now on the model's thinking is treated as bound.
func (m *Manager) logBinding() {
	m.opts.Logger.Info("winnow: the provider binds thinking to what stands before it", "model", m.opts.Model)
}
