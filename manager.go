package winnow

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Manager keeps one conversation inside its window. It is safe for concurrent use. It starts no goroutine that outlives
// a call, unless CompactOptions.Background is set or a [Summarizer] ignores its context. Each call of a Summarizer runs
// in a goroutine of its own, so that such a Summarizer cannot block Prepare.
//
// The history passed in is either the whole log, append-only, or the last Request.History and what came after it; the
// manager recognizes both. It also recognizes a log that was rewound, forked or replaced, and a message that the host
// has changed, to redact it for example. Fields that a host sets on a sent message (a pin, Usage, an ID, a Source) take
// effect in the next request.
//
// While a call runs, nobody may write to its history, to the parts or to their arguments, not even another goroutine
// that receives an answer: append the message when it is complete, or pass a copy without it. Between calls the host
// may write to it. Background work reads its own copies.
//
// Between calls a manager holds about 130 bytes per message, and no text of the history.
//
// A [Request] is the caller's: later calls do not change it. Its lists may share memory with the history and with those
// of later requests, so do not write to their elements; appending to them is safe.
type Manager struct {
	settings

	mu         sync.Mutex // protects what follows
	ledger     ledger
	background *background // nil: none
	flushes    int         // how often BeforeCompact was called
	calls      int         // how often a call began that may change the ledger: see savepoint
	closed     bool        // Close was called: no background work begins any more
}

// New returns a manager for a model with a context window of window tokens. opts is copied; nil means the defaults.
//
// Options.Model names the model once. New then takes the rules and prices of the prompt cache from a table of the
// providers' models and, if window is 0, the window too. The name also determines the family of the estimator
// ([FamilyForModel]) and whether thinking is bound to the content before it. Names may be spelled as gateways and
// clouds spell them ("openrouter/anthropic/claude-opus-4.6", "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
// "models/gemini-2.5-pro"), with dates and in any case. Where a host caps the window of a model, its own spelling or
// its name in front ("groq:qwen/qwen3-32b") says that it is meant. Values in opts win over the table, and an unknown
// name changes nothing.
//
// The error names the bad option: a window that is not positive, a value that is not a number, a share outside 0..1 or
// an unknown policy. Any positive window works; see [CheckWindow] for advice.
func New(window int, opts *Options) (*Manager, error) {
	window = opts.windowFor(window)
	o, err := opts.withDefaults(window)
	if err != nil {
		return nil, err
	}
	m := &Manager{
		settings: settings{window: window, opts: o, minifier: newMinifier(&o), cacheTokens: cacheTokens(o.Model)},
		ledger:   ledger{partner: partner{model: o.Model, window: window}},
	}
	m.truncateHasEstimator = opts != nil && opts.Truncate != nil && opts.Truncate.Estimator != nil
	return m, nil
}

// Window returns the context window that the manager keeps the conversation in, in tokens: the one that [New] was
// given, or that of Options.Model. A provider that names a smaller one does not change it.
func (m *Manager) Window() int { return m.window }

// Cold reports whether the provider's cache is expected to hold nothing of the last request: there was no request yet,
// the last one was longer ago than CacheOptions.TTL, or the provider caches nothing. A host can then change its system
// prompt and its tools at no cost.
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
	cancel  context.CancelFunc
	ended   chan struct{} // closed when its goroutine ends
	base    *checkpoint   // the summary that the history had when it began
	plan    *compaction
	flushes bool // BeforeCompact runs: nobody waits for it, and it is not cancelled when the summary is dropped
	dropped bool // nobody can use its summary any more

	cp     *checkpoint // the result, once the goroutine has ended
	report *Compaction
	err    error
}

var errHistoryChanged = errors.New("the history changed meanwhile")

// errWaiting is the error of a call whose ctx ended while it waited.
func errWaiting(ctx context.Context) error {
	return fmt.Errorf("winnow: waiting for a summary: %w", context.Cause(ctx))
}

// endBackground ends background work that cannot be used any more. The manager keeps it until it has ended, because
// only one may run at a time.
func (m *Manager) endBackground() {
	switch b := m.background; {
	case b == nil:
	case b.hasEnded():
		m.background = nil
	default:
		b.drop()
	}
}

// drop cancels b. While BeforeCompact runs, it leaves that to b's goroutine, which cancels b afterwards.
func (b *background) drop() {
	if b.dropped = true; !b.flushes {
		b.cancel()
	}
}

// hasEnded reports whether the goroutine of b has ended. It does not wait.
func (b *background) hasEnded() bool {
	select {
	case <-b.ended:
		return true
	default:
		return false
	}
}
