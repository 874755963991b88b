package winnow

import "strings"

// Each request says what the provider is expected to read from its cache: that is set against what was read. A promise
// that was not kept is counted and logged, with whose it was.

// CacheUse counts the tokens of a conversation by what became of them in the provider's cache. Only requests count
// whose answers say what was read, by a Usage in the history or by [Manager.Counted].
type CacheUse struct {
	Requests  int // that were compared
	Expected  int // what they should have read: [Request].Cached
	Read      int // what was read
	Missed    int // of Expected, what was not read, by requests that missed more than a tenth
	Rewritten int // of requests before, what the manager had rewritten, so that it was not expected to be read
	Changed   int // the same, because the host had changed a message that was sent
	Expired   int // the same, because it was older than CacheOptions.TTL
}

// CacheUse returns the counts of the conversation, which [Manager.Snapshot] keeps.
func (m *Manager) CacheUse() CacheUse {
	m.mu.Lock()
	defer m.mu.Unlock()
	return CacheUse(m.ledger.cacheUse)
}

// promise is what a request was expected to read, until its answer says what was read.
type promise struct {
	cached, tokens, margin int
	isMade                 bool
}

// mostMissed is the share of what was expected that may be missing: providers cache whole blocks, and counts are
// estimates.
const mostMissed = 0.1

// promise remembers what r, the request of d, is expected to read. It counts what it cannot read of the request before,
// which had so many messages and tokens.
func (l *ledger) promise(d *draft, r *Request, messages, tokens int, wasCold bool) {
	use := &l.cacheUse
	lost := max(0, tokens-r.Cached)
	switch {
	case messages == 0 || d.opts.Cache.None:
	case wasCold:
		use.Expired += tokens
	case r.FirstChanged >= messages:
	case d.firstReason != "" || d.newRecords > 0 || d.checkpoint != d.base:
		use.Rewritten += lost
	default:
		use.Changed += lost
	}
	l.promised = promise{cached: r.Cached, tokens: r.Tokens, margin: d.margin(), isMade: true}
}

// missed is a promise that was not kept.
type missed struct {
	tokens, expected int
	whose            string // "host" or "provider"
	reason           string
}

// compare sets what was read against the promise of the last request. It returns nil if that was kept, or if nothing is
// known of it: the provider has not counted its cache yet.
func (l *ledger) compare(u *Usage) *missed {
	p, use := l.promised, &l.cacheUse
	if l.promised = (promise{}); !p.isMade || u == nil || u.Prompt() == 0 {
		return nil
	}
	countsCache := use.Read > 0 || u.CacheRead+u.CacheWrite > 0
	if !countsCache {
		return nil
	}
	use.Requests, use.Expected, use.Read = use.Requests+1, use.Expected+p.cached, use.Read+max(0, u.CacheRead)
	tokens := p.cached - max(0, u.CacheRead)
	if float64(tokens) <= mostMissed*float64(p.cached) {
		return nil
	}
	use.Missed += tokens
	miss := &missed{tokens: tokens, expected: p.cached, whose: "provider", reason: u.CacheMiss}
	another := max(p.tokens-u.Prompt(), u.Prompt()-p.tokens)
	switch {
	case strings.HasSuffix(u.CacheMiss, "_changed"): // model_changed, system_changed, tools_changed, messages_changed
		miss.whose = "host"
	case u.CacheMiss != "":
	case another > p.margin:
		miss.whose, miss.reason = "host", "the prompt has another size: another system prompt or other tools"
	default:
		miss.reason = "not said"
	}
	return miss
}

// logMissed says how much was not read that should have been, and whose it was.
func (m *Manager) logMissed(x *missed) {
	if x != nil {
		m.opts.Logger.Info("winnow: less was read from the prompt cache than expected", "tokens", x.tokens,
			"expected", x.expected, "whose", x.whose, "reason", x.reason)
	}
}
