package winnow

import (
	"context"
	"slices"
	"sync"
)

// Manager keeps one conversation inside its window. It is safe for concurrent use. It starts no goroutine
// that outlives a call, unless CompactOptions.Background is set; but each call of a [Summarizer] runs in a
// goroutine of its own, so that one that does not honour its context cannot hold Prepare.
//
// The history passed in is either the whole log, append-only, or the last Request.History and what came
// after it; the manager recognises both, and a log that was rewound, forked or replaced. A host that changes
// an old message, to redact it for example, passes a copy of the list ([slices.Clone]): of a list that only
// grew not every message is looked at in every call. What a host sets on a message that was sent (a pin, Usage, an
// ID, a Source) goes with it from then on; in a list of more than 48 messages that was not copied, some calls later.
//
// While a call runs nobody writes to the history that it was given, to its parts or to their arguments, not even
// another goroutine that receives an answer: append the message when it is complete, or pass a copy without it. Between
// calls it may be written to. Work in the background reads copies of its own.
//
// A [Request] is the caller's: later calls do not change it. Its lists may share memory with the history and with those
// of later requests, so do not write to their elements; appending to them is safe.
type Manager struct {
	settings

	mu         sync.Mutex // protects what follows
	ledger     ledger
	background *background // nil: none
	closed     bool        // no more of that
}

// New returns a manager for a model with a context window of that many tokens. opts is copied; nil means the defaults.
//
// Options.Model names the model once. From a table of the providers' models New then takes the window where window is 0,
// and the rules and prices of the prompt cache; from the name, the family of the estimator ([FamilyForModel]) and whether
// thinking is bound to what stands before it. Names may be spelled as gateways and clouds do
// ("openrouter/anthropic/claude-opus-4.6", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "models/gemini-2.5-pro"),
// with dates and in any case. Whatever is set in opts wins over the table, and a name that is not in it changes nothing.
//
// The error names the bad option: a window that is not positive, a value that is not a number, a share outside 0..1.
// Any positive window works; see [CheckWindow] for advice.
func New(window int, opts *Options) (*Manager, error) {
	window = opts.windowFor(window)
	o, err := opts.withDefaults(window)
	if err != nil {
		return nil, err
	}
	m := &Manager{settings: settings{window: window, opts: o}, ledger: ledger{model: o.Model}}
	if opts != nil && opts.Prune != nil && opts.Prune.SoftTrimRatio > 0 {
		m.pruneFrom = opts.Prune.SoftTrimRatio
	}
	return m, nil
}

// Prepare returns what to send for history now. It may call the Summarizer.
//
// Calls that nothing has answered yet, at the end of the history, stay open; a request with open calls must not be sent.
// Where some of the newest calls have their results, the others get one that says that it is missing, which
// makes room for the real one when it comes.
//
// The error is an [*OverflowError] if the request cannot be made to fit, and ctx's if it ended while
// Prepare waited for a summary; a ctx that has ended already only matters if there is something to wait for.
// After an error the manager is as it was before, but for what it remembers of a summarizer that failed. A compaction
// that fails is not an error as long as the request can be made to fit without it. A digest may stand in for its summary ([Request].Degraded). The summarizer is
// then asked once more when the prompt cache is cold, and whenever the history has grown by a tenth of the budget.
func (m *Manager) Prepare(ctx context.Context, history []Message) (*Request, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := &m.ledger.tail; t.known {
		if r := t.request(); r != nil {
			done, err := m.extend(history, r)
			if err != nil {
				return nil, err
			}
			if done {
				t.share(r)
				r.Messages, r.History, r.Edits = clip(r.Messages), clip(r.History), slices.Clip(r.Edits)
				return r, nil
			}
		}
	}
	return m.prepare(ctx, history)
}

// prepare is the long way of Prepare. The lock is held. A limit that was only guessed is no reason to fail.
func (m *Manager) prepare(ctx context.Context, history []Message) (*Request, error) {
	undo := m.settleFor(history)
	r, err := m.prepareWithin(ctx, history)
	if err != nil {
		r, err = m.withoutGuess(ctx, history, err)
	}
	if err != nil {
		undo()
	}
	return r, err
}

// Plan is Prepare without effects: no LLM call, no state. Request.NeedsCompaction says that Prepare would
// compact. Where Prepare would return an error, Plan returns the smallest request that it could make, with
// Tokens above Budget.
func (m *Manager) Plan(history []Message) *Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.ledger.keep()()
	m.settle(history)
	m.ledger.run.begin()
	d, needs, fits := m.plan(history)
	if !needs && !fits && m.ledger.accounting.isGuessed() { // see withoutGuess
		m.ledger.accounting.forgetGuesses()
		if next, needsToo, _ := m.plan(history); !slices.Contains(m.ledger.run.refused, next.payload()) {
			d, needs = next, needsToo
		}
	}
	r := d.request()
	r.NeedsCompaction = needs
	return r
}

// plan returns the draft that Plan tells of: whether it needs a compaction, and whether it fits.
func (m *Manager) plan(history []Message) (d *draft, needs, fits bool) {
	d, _, _ = m.splice(m.draft(history, m.ledger.checkpoint))
	if d.needsCompaction() || m.mayReplaceDigest(d) {
		return d, true, false
	}
	if fits = d.fit(); !fits {
		needs = d.bodyTokens() > 0 && !m.opts.Compact.Off
	}
	return d, needs, fits
}

// Compact summarizes now, whatever the size, even where CompactOptions.Off is set or compactions failed before;
// instructions are for this summary alone. The error is [ErrNothingToCompact] if no message has become old enough to be
// summarized since the last summary, and wraps [ErrCompaction] if no summary could be made; in both cases the manager
// is as it was before. The summary of a short history may be longer than what it replaces.
func (m *Manager) Compact(ctx context.Context, history []Message, instructions string) (*Request, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d := m.draft(history, m.ledger.checkpoint); !d.isWorthCompacting() {
		return nil, ErrNothingToCompact
	}
	m.forgetBackground()
	undo := m.settleFor(history)
	m.ledger.run.begin()
	m.flush(ctx, history)
	d := m.draft(history, m.ledger.checkpoint)
	d, report, err := m.compact(ctx, d, m.opts.Summarizer, instructions, true)
	if err == nil && !d.fit() {
		err = d.overflow()
	}
	if err != nil {
		undo()
		return nil, err
	}
	r, err := m.commitCompaction(d, report, closeBreaker, (*ledger).closeAttempt) // whatever becomes of the run
	if err != nil {
		undo()
	}
	return r, err
}

// Cold reports whether the provider's cache is expected to hold nothing of the last request: there was none yet, it was
// longer ago than CacheOptions.TTL, or nothing is cached. A host can then change its system prompt and its tools at no
// cost.
func (m *Manager) Cold() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return (&draft{settings: &m.settings, ledger: &m.ledger, now: m.opts.Now()}).isCold()
}

// Window returns the context window that the manager keeps the conversation in, in tokens: the one that [New] was given,
// or that of Options.Model. A provider that told of a smaller one does not change it.
func (m *Manager) Window() int { return m.window }

// draft takes history through the steps that need no LLM:
//
//  1. index what is new
//  2. repair the pairing of calls and results
//  3. limit turns
//  4. replay what was sent before: checkpoint and edits, byte for byte
//  5. cut results that were not sent yet
//  6. rewrite what was sent, if that costs nothing or the request does not fit
//
// It changes nothing in the manager but what is known of the messages. c is the checkpoint to replay.
func (m *Manager) draft(history []Message, c *checkpoint) *draft {
	return newDraft(&m.settings, &m.ledger, history, c, map[key]*projection{}).steps()
}

// redraft is draft for the history of from with checkpoint c, and with edits that are made already. What from has
// learned of the provider's counts holds for it too.
func (m *Manager) redraft(from *draft, c *checkpoint, made map[key]*projection) *draft {
	d := newDraft(&m.settings, &m.ledger, from.history, c, made)
	d.learned, d.rejected = true, from.rejected
	d.accounting.learnFrom(from)
	d.budget = m.ledger.budgetBy(&m.settings, &d.accounting)
	return d.steps()
}

// newDraft begins the draft of a request for history.
func newDraft(s *settings, l *ledger, history []Message, c *checkpoint, made map[key]*projection) *draft {
	a := l.accounting
	return &draft{
		settings: s, ledger: l, history: history, now: s.opts.Now(), budget: l.budgetBy(s, &a),
		base: c, checkpoint: c, made: made, look: l.look, accounting: a, known: a,
	}
}

func (d *draft) steps() *draft {
	d.indexAndRepair()
	d.limitAndReplay()
	d.cutUnsent()
	d.rewrite()
	return d
}

// budget is what a request may have, in tokens: the window without the reserve, or less if the provider
// refused that.
func (m *Manager) budget() int { return m.ledger.budgetBy(&m.settings, &m.ledger.accounting) }

// budgetBy is budget with what a draft has learned.
func (l *ledger) budgetBy(s *settings, a *accounting) int {
	budget := a.budget(s.window - s.opts.Reserve)
	if most := l.bodyTokens; most > 0 {
		budget = min(budget, most)
	}
	return budget
}

// commit makes d what was sent last, and returns the request. also changes the ledger with it. The error is that of
// Options.Journal; nothing has changed then.
func (m *Manager) commit(d *draft, also ...func(l *ledger)) (*Request, error) {
	r, sent := d.request(), m.ledger.sent
	tokens, cold := m.ledger.tokens, d.isCold()
	err := m.journaled(true, func() {
		m.ledger.record(d)
		m.ledger.bytes = r.Bytes
		m.ledger.recordTail(d, r)
		for _, change := range also {
			change(&m.ledger)
		}
	})
	if err != nil {
		return nil, err
	}
	switch {
	case r.FirstChanged < len(sent):
		m.opts.Logger.Info("winnow: what was sent is rewritten", "first_changed", r.FirstChanged, "messages_before", len(sent),
			"messages", len(r.Messages), "tokens_before", tokens, "tokens", r.Tokens, "edits", len(d.made), "cold", cold, "reason", d.why)
	case len(d.made) > 0: // else a user would see an unknown part of the history missing, and nothing that says why
		m.opts.Logger.Info("winnow: the history is sent shortened", "reason", d.why, "edits", len(d.made),
			"tokens_whole", m.ledger.tail.plain, "tokens", r.Tokens, "options", "DropFrom, Prune, Truncate")
	}
	d.logRejected()
	return r, nil
}
