package winnow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/models"
	"github.com/winnowgo/winnow/internal/record"
)

// Manager keeps one conversation inside its window. Make one with [New] for each conversation, and keep it, or its
// [Manager.Snapshot], as long as the conversation lasts. It is safe for concurrent use.
//
// The history passed in is either the whole log, append-only, or the last Request.History and what came after it. A log
// may be rewound, forked or replaced, and messages changed between calls. While a call runs, nobody may write to its
// history: append an answer when it is complete.
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
	case known.Input == 0:
		o.Logger.Warn("winnow: no price is known for the model", "model", o.Model)
	}
	m := &Manager{
		settings: settings{window: window, opts: o, minifier: newMinifier(&o), prices: pricesOf(o.Model, o.Cache),
			meter: new(meter)},
		state: new(ledger),
	}
	m.state.Model, m.state.Window = o.Model, window
	m.truncateHasEstimator = opts != nil && opts.Truncate != nil && opts.Truncate.Estimator != nil
	return m, nil
}

// Window returns the context window in tokens, of [New] or of Options.Model. What a provider names does not change it.
func (m *Manager) Window() int { return m.window }

// Cold reports whether the provider's cache most likely holds nothing of the last request: there was none yet, it is
// older than CacheOptions.TTL, or the provider caches nothing.
func (m *Manager) Cold() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.isCold(&m.opts, m.opts.Now())
}

// call is one call of the manager. It works on a copy of the state, which becomes the manager's when a request is
// committed: a call that fails, panics or only plans forgets its copy. The manager's lock is held, except while code of
// the host runs that may use the manager.
type call struct {
	manager *Manager
	basis                 // its ledger is the copy
	copied  *ledger       // the state that ledger is a copy of
	learns  func(*basis)  // run on each copy: the first, and one of what another call has changed; nil: nothing
	waited  time.Duration // for the summarizer
}

// begin begins a call about history.
func (m *Manager) begin(history []Message, learns func(*basis)) *call {
	c := &call{manager: m, learns: learns}
	c.basis = basis{settings: &m.settings, index: &m.index, ledger: new(ledger), history: history}
	c.takeState()
	return c
}

// takeState makes the state of c a copy of the manager's.
func (c *call) takeState() {
	c.copied = c.manager.state
	if *c.ledger = *c.copied; c.learns != nil {
		c.learns(&c.basis)
	}
}

// keep makes the state of c that of the manager.
func (c *call) keep() { c.copied, c.manager.state = c.ledger, c.ledger }

// note changes the state by what has happened, whatever becomes of c.
func (c *call) note(change func(*ledger)) {
	now := *c.copied
	change(&now)
	change(c.ledger)
	c.copied, c.manager.state = &now, &now
}

// unlocked runs f, which calls code of the host, without the manager's lock. If another call has changed the state
// meanwhile, c goes on from that. What c has tried still counts.
func (c *call) unlocked(f func()) {
	c.manager.mu.Unlock()
	defer func() { // deferred, because the caller unlocks on its way out even if f panics
		c.manager.mu.Lock()
		if tried := c.ledger.tries.Tries; c.copied != c.manager.state {
			c.takeState()
			c.ledger.tries.Tries = tried
		}
	}()
	f()
}

// Counted passes on what the provider counted for the last request, system prompt and tools included, where no Usage in
// the history says it. The next requests are estimated from there. A count of another request is ignored.
func (m *Manager) Counted(u Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, tokens := m.begin(nil, nil), u.Prompt()
	l := c.ledger
	if len(l.Sent) == 0 || tokens <= 0 {
		return // nothing was sent, or nothing was counted
	}
	known := count.Add(l.Estimate, m.opts.Overhead)
	if tokens < count.Share(known, accounting.LeastCount) || tokens > count.Share(m.window, accounting.MostCount) {
		return // the count is of another request
	}
	anchor := accounting.Anchor{Messages: len(l.Sent), Estimate: l.Estimate, Prompt: tokens}
	l.Accounting.Observe(anchor, 0, m.opts.Overhead)
	m.logMissed(l.settlePromise(&u, &m.settings))
	if u.ThinkingDropped > 0 && !l.BindsThinking {
		l.BindsThinking = true
		m.logBinding()
	}
	c.keep()
}

// logBinding says that from now on the model's thinking is treated as bound.
func (s *settings) logBinding() {
	s.opts.Logger.Info("winnow: the provider binds thinking to what stands before it", "model", s.opts.Model)
}

// Prepare returns what to send for history now. It may call the [Summarizer].
//
// Do not send a request without messages, or one whose newest calls all wait for their results. If only some have one,
// a text stands in for the others until they come. If the provider has compacted the conversation ([MediaCompaction]),
// the request begins there, unless Options.Model cannot read that.
//
// The error is an [*InvalidMessageError], [ErrSentAsHistory], an [*OverflowError], that of ctx if ctx ended while
// Prepare waited for a summary, or that of [Options].Journal. The manager then only remembers a failed summarizer. A
// compaction that fails is no error if the request fits without it, or with a digest: see [Request].Degraded.
func (m *Manager) Prepare(ctx context.Context, history []Message) (r *Request, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range history {
		if m.state.isSent(&history[i]) {
			return nil, fmt.Errorf("%w (message %d)", ErrSentAsHistory, i)
		}
	}
	c := m.begin(history, (*basis).settle)
	failures := c.ledger.Breaker.Failures
	err = c.underLimits(func() (err error) {
		r, err = c.makeRequest(ctx, c.ledger.Breaker.Failures > failures)
		return err
	})
	return r, err
}

// isSent reports whether m, a message of a person, repeats a record or the summary that was sent. A host that keeps
// [Request].History has the summary too, but marked as one.
func (l *ledger) isSent(m *Message) bool {
	return beginsTurn(m) && slices.ContainsFunc(m.Parts, func(p Part) bool {
		if c := l.checkpoint; c != nil && joinedText(&c.message) == p.Text {
			return true
		}
		isIt := func(r *runRecord) bool { return joinedText(&r.message) == p.Text }
		return record.Is(p.Text) && slices.ContainsFunc(l.records, isIt)
	})
}

// underLimits calls try, which makes a request. While the error is an overflow, it calls try again
//
//  1. without limits that were only guessed
//  2. without what another process learned from counts
//
// because a guess alone must not make a call fail. Guesses come first, so that a restart changes no request that the
// old process would have made. A request that was refused already is not tried again.
func (c *call) underLimits(try func() error) error {
	err := c.withinBody(try)
	if a := c.ledger.Accounting; errors.Is(err, ErrOverflow) && a.IsGuessed() {
		c.withoutGuess = true
		if d := c.nextIfRefused(); d == nil {
			err = c.withinBody(try)
		} else if a.Guess.Most > 0 {
			err = d.overflow() // against the limit that was told, not against the guess
		}
	}
	if errors.Is(err, ErrOverflow) && c.ledger.isRestored {
		c.withoutCounts = true
		if c.nextIfRefused() == nil {
			err = c.withinBody(try)
		}
	}
	return err
}

// withinBody calls try, and once more with fewer tokens if only the body of its request was too large.
func (c *call) withinBody(try func() error) error {
	err := try()
	if c.mostTokens = tokensForBody(err); c.mostTokens > 0 {
		err = try()
		c.mostTokens = 0
	}
	return err
}

// makeRequest climbs the ladder of Prepare. The host may use the manager while Prepare waits, so the ladder is then
// made anew. The loop ends, because there are two reasons to go round and each occurs only once: background work has
// ended, or the host was asked to save what it wants to keep, which is done once before each compaction. The lock is
// held, but not while code of the host runs.
func (c *call) makeRequest(ctx context.Context, failedJustNow bool) (*Request, error) {
	var l *ladder
	for unlocked := true; unlocked; {
		l = ladderOfPrepare(c, failedJustNow)
		if l.draft.fault != nil {
			return nil, l.draft.fault
		}
		c.endUseless(l.draft, l.ready, l.notReady)
		var err error
		if unlocked, err = l.wait(ctx); err != nil {
			return nil, err
		}
	}
	rungs := ofPrepare
	if l.due == notDue {
		rungs = rungs[:1]
	}
	r, err := l.climb(ctx, rungs)
	if r == nil && err == nil {
		err = l.last.overflow()
	}
	return r, err
}

// Plan is Prepare without effects: it calls no LLM and changes no state. Request.NeedsCompaction says that Prepare
// would compact: the request is then the one before that, and may be above Budget. If Prepare would return an error,
// Plan returns the smallest request that it could make, with Tokens above Budget or Bytes above the limit of the body.
// It does not look for messages that [Validate] refuses.
func (m *Manager) Plan(history []Message) *Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.begin(history, (*basis).settle)
	var l *ladder
	_ = c.underLimits(func() error { // what does not fit is shown as well
		if l = ladderOfPrepare(c, false); l.due == notDue && !l.mayBeSent {
			return l.draft.overflow()
		}
		return nil
	})
	r := l.draft.request()
	r.NeedsCompaction = l.due != notDue
	return r
}

// Compact summarizes now, whatever the size, even if CompactOptions.Off is set or compactions failed before.
// instructions are for this summary only. If nothing is older than KeepRecent, only the newest step and the newest
// request stay. The summary may be longer than what it replaces.
//
// The error is an [*InvalidMessageError], [ErrNothingToCompact], wraps [ErrCompaction] if no summary could be made, is
// an [*OverflowError] if the request does not fit even with one (then none is asked for), or is that of
// [Options].Journal. After one a summary in the background is lost.
func (m *Manager) Compact(ctx context.Context, history []Message, instructions string) (*Request, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := Validate(history); err != nil {
		return nil, err
	}
	c := m.begin(history, (*basis).settle)
	c.ledger.tries.begin()
	l := &ladder{call: c, instructions: instructions, draft: c.draftByHand()}
	if !l.draft.span().verdict().isNews {
		return nil, ErrNothingToCompact // and work in the background goes on
	}
	m.endBackground()
	if err := l.draft.checkRest(); err != nil {
		return nil, err
	}
	if c.flush(ctx) { // the host may have used the manager
		l.draft = c.draftByHand()
	}
	return l.climb(ctx, ofCompact)
}

// defaultWindow is taken where nobody knows the model: the smallest window of today's large models. Source: OpenClaw's
// DEFAULT_CONTEXT_TOKENS.
const defaultWindow = 200_000

// Windows below these cannot hold a useful agent loop: system prompt, tools and a few results. Source: OpenClaw's
// guard.
const (
	warnWindow  = 32_000
	blockWindow = 16_000
)

// WindowStatus is the advice of [CheckWindow].
type WindowStatus string

const (
	WindowOK    WindowStatus = "ok"    // 32 000 tokens or more, or not known
	WindowWarn  WindowStatus = "warn"  // below 32 000 tokens: works, with little history
	WindowBlock WindowStatus = "block" // below 16 000 tokens: a host may refuse such a model
)

// CheckWindow says whether a window, in tokens, is large enough for an agent; 0 or less: not known. It is advice: [New]
// takes any positive window.
func CheckWindow(tokens int) WindowStatus {
	switch {
	case tokens <= 0 || tokens >= warnWindow:
		return WindowOK
	case tokens >= blockWindow:
		return WindowWarn
	}
	return WindowBlock
}
