package winnow

import (
	"context"
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
// may be rewound, forked or replaced. Between calls a host may write to its messages, to redact one for example. While a
// call runs, nobody may write to its history: append an answer when it is complete.
//
// A manager starts no goroutine that outlives a call, unless CompactOptions.Background is set or a [Summarizer] ignores
// its context. Unless its comment says otherwise, a method that returns an error leaves the manager as it was.
type Manager struct {
	settings

	mu         sync.Mutex  // protects what follows
	state      *ledger     // nobody writes to it: see call
	index      index       // what is known of messages: no state, because it follows from them
	background *background // nil: none
	closed     bool        // Close was called: no background work begins any more
}

// New returns a manager for a model with a context window of window tokens. opts is copied; nil means the defaults.
//
// Options.Model names the model, as providers, gateways and clouds spell it ("claude-opus-4-6",
// "openrouter/anthropic/claude-opus-4.6"). A table of models then sets what opts does not: the rules and prices of the
// prompt cache, whether thinking is bound and, if window is 0, the window. A name that is not in it is an error if
// window is 0; else Options.Logger gets a warning. The estimator goes by the name alone: see FamilyForModel.
//
// The error names the bad option.
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
		state:    &ledger{partner: partner{model: o.Model, window: window}},
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
	return (&draft{basis: m.begin(nil, nil).basis, now: m.opts.Now()}).isCold()
}

// call is one call of the manager. It works on a copy of the state, which becomes the manager's when a request is
// committed: a call that fails, panics or only plans forgets its copy. The manager's lock is held, except while code of
// the host runs that may use the manager.
type call struct {
	manager *Manager
	basis                 // its ledger is the copy
	base    *ledger       // what it is a copy of
	settles func(*call)   // what the call does first, and again if another call has changed the state meanwhile; or nil
	waited  time.Duration // for the summarizer
}

// begin begins a call about history.
func (m *Manager) begin(history []Message, settles func(*call)) *call {
	c := &call{manager: m, settles: settles}
	c.basis = basis{settings: &m.settings, index: &m.index, ledger: new(ledger), history: history}
	c.takeState()
	return c
}

// takeState makes the state of c a copy of the manager's.
func (c *call) takeState() {
	c.base = c.manager.state
	if *c.ledger = *c.base; c.settles != nil {
		c.settles(c)
	}
}

// keep makes the state of c that of the manager.
func (c *call) keep() { c.base, c.manager.state = c.ledger, c.ledger }

// note changes the state by what has happened, whatever becomes of c.
func (c *call) note(change func(*ledger)) {
	now := *c.base
	change(&now)
	change(c.ledger)
	c.base, c.manager.state = &now, &now
}

// unlocked runs f, which calls code of the host, without the manager's lock. If another call has changed the state
// meanwhile, c goes on from that. What c has tried still counts.
func (c *call) unlocked(f func()) {
	c.manager.mu.Unlock()
	defer func() { // deferred, because the caller unlocks on its way out even if f panics
		c.manager.mu.Lock()
		if tried := c.ledger.tries.Tries; c.base != c.manager.state {
			c.takeState()
			c.ledger.tries.Tries = tried
		}
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

// Counted passes on what the provider counted for the last request, system prompt and tools included, where no Usage in
// the history says it. The next requests are estimated from there. A count of another request is ignored.
func (m *Manager) Counted(u Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, tokens := m.begin(nil, nil), u.Prompt()
	l := c.ledger
	if len(l.sent) == 0 || tokens <= 0 {
		return // nothing was sent, or nothing was counted
	}
	known := count.Add(l.estimate, m.opts.Overhead)
	if tokens < count.Share(known, accounting.LeastCount) || tokens > count.Share(m.window, accounting.MostCount) {
		return // the count is of another request
	}
	anchor := accounting.Anchor{Messages: len(l.sent), Estimate: l.estimate, Prompt: tokens}
	l.accounting.Observe(anchor, 0, m.opts.Overhead)
	m.logMissed(l.compare(&u, m.prices.least))
	if u.ThinkingDropped > 0 && !l.bindsThinking {
		l.bindsThinking = true
		m.logBinding()
	}
	c.keep()
}

// logBinding says that from now on the model's thinking is treated as bound.
func (s *settings) logBinding() {
	s.opts.Logger.Info("winnow: the provider binds thinking to what stands before it", "model", s.opts.Model)
}
