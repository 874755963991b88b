package winnow

import (
	"strings"
	"time"

	"github.com/winnowgo/winnow/internal/saved"
)

// Each request says what the provider is expected to read from its cache: that is set against what was read. A promise
// that was not kept is counted and logged, with who broke it.

// CacheUse counts what became of a conversation's tokens in the provider's cache, as far as answers say what was read.
type CacheUse struct {
	Requests int // that were compared
	Expected int // what they should have read: [Request].Cached
	Read     int // what was read
	Missed   int // of Expected, what was not read, by requests that missed more than a tenth
	// what the request before had and was not read, because the manager had rewritten it, the host had changed it, it
	// was older than [CacheOptions].TTL or 5 minutes, or the provider had lost it
	Rewritten, Changed, Expired, Lost int
}

// Plus returns the sum of u and n times `more`.
func (u CacheUse) Plus(n int, more CacheUse) CacheUse {
	return CacheUse{
		u.Requests + n*more.Requests, u.Expected + n*more.Expected, u.Read + n*more.Read, u.Missed + n*more.Missed,
		u.Rewritten + n*more.Rewritten, u.Changed + n*more.Changed, u.Expired + n*more.Expired, u.Lost + n*more.Lost,
	}
}

// CacheUse returns the counts of the conversation; [Manager.Snapshot] has them.
func (m *Manager) CacheUse() CacheUse {
	m.mu.Lock()
	defer m.mu.Unlock()
	return CacheUse(m.state.cacheUse)
}

// mostMissed is the share of what was expected that may be missing: providers cache whole blocks.
const mostMissed = 0.1

// shortestTTL is how long any provider keeps what was cached.
const shortestTTL = 5 * time.Minute

// promise remembers how much of r, the request of d, the provider is expected to read from its cache, and counts what
// it cannot read again of the request before. reason says why d differs from that.
func (l *ledger) promise(d *draft, r *Request, before *ledger, wasCold bool, reason string) {
	use := &l.cacheUse
	lost := max(0, before.tokens-r.Cached)
	l.promised = &saved.Promise{Cached: r.Cached, Tokens: r.Tokens, Margin: d.margin()}
	if !before.sentAt.IsZero() {
		l.promised.Pause = d.now.Sub(before.sentAt)
	}
	switch {
	case len(before.sent) == 0 || d.opts.Cache.None:
	case wasCold:
		use.Expired += before.tokens
	case r.FirstChanged >= len(before.sent):
	case d.firstReason != "" || d.newRecords > 0 || d.checkpoint != before.checkpoint:
		use.Rewritten += lost
		l.promised.Rewrite = reason
	default:
		use.Changed += lost
	}
}

// missed is a promise that was not kept.
type missed struct {
	tokens, expected int
	whose            string // "winnow", "host", "time" or "provider"
	reason           string
}

// comparePromise compares what was read with the promise of the last request. It returns nil if the promise was kept,
// or if nothing is known of it: the provider has not counted its cache yet. Prefixes shorter than least are not cached.
func (l *ledger) comparePromise(u *Usage, least int) *missed {
	p, use := l.promised, &l.cacheUse
	if l.promised = nil; p == nil || u == nil || u.Prompt() == 0 {
		return nil
	}
	read := max(0, u.CacheRead)
	if use.Read == 0 && read+u.CacheWrite <= 0 {
		return nil
	}
	use.Requests, use.Expected, use.Read = use.Requests+1, use.Expected+p.Cached, use.Read+read
	// If the prompt was estimated too high, its cached part is taken to have been too high by as much; either may be
	// off by the margin.
	likely := p.Cached - max(0, p.Tokens-u.Prompt())
	tokens := likely - read
	if likely < least || float64(tokens) <= mostMissed*float64(p.Cached)+float64(p.Margin) {
		return nil
	}
	use.Missed += tokens
	whose, reason, counted := blame(p, u, use)
	*counted += tokens
	return &missed{tokens: tokens, expected: p.Cached, whose: whose, reason: reason}
}

// blame says who caused that less was read than promised, why, and in which count it belongs.
func blame(p *saved.Promise, u *Usage, use *saved.CacheUse) (whose, reason string, counted *int) {
	another := max(p.Tokens-u.Prompt(), u.Prompt()-p.Tokens) > p.Margin
	switch said := u.CacheMiss; {
	case p.Rewrite != "" && (said == "" && !another || saysMessages(said)):
		return "winnow", p.Rewrite, &use.Rewritten
	case saysMessages(said) || strings.HasSuffix(said, "_changed"): // the model, the system prompt, tools, the tier
		return "host", said, &use.Changed
	case said != "":
		return "provider", said, &use.Lost
	case another:
		return "host", "the prompt has another size: another system prompt or other tools", &use.Changed
	case p.Pause >= shortestTTL:
		return "time", "kept for less than Cache.TTL says", &use.Expired
	}
	return "provider", "not said", &use.Lost
}

// saysMessages reports whether a reason of a provider is about the messages, and not about what stands beside them.
func saysMessages(reason string) bool {
	return reason == "messages_changed" || reason == "input_changed" || reason == "context_compacted"
}

// logMissed says how much was not read that should have been, and who caused it.
func (s *settings) logMissed(x *missed) {
	if x != nil {
		s.opts.Logger.Info("winnow: less was read from the prompt cache than expected", "tokens", x.tokens,
			"expected", x.expected, "whose", x.whose, "reason", x.reason)
	}
}

// Whether it pays to keep the provider's cache warm while nobody writes. The library only does the sum: a host that
// wants to sends its last request again, with room for one token of answer.

// Warmth says what the provider's cache holds of a conversation, and what keeping it costs. Prices are in uncached
// tokens of input, as those of [Request].
type Warmth struct {
	Until     time.Time // when the cache is expected to forget the last request; zero: it holds nothing
	KeepAlive float64   // what it costs to read the last request once more, which holds it for another CacheOptions.TTL
	Saves     float64   // what the next request costs less, if it comes within that time
	Chance    float64   // that it does, by the pauses of this conversation
	Pays      bool      // Chance × Saves is more than KeepAlive
}

// Warm says until when the provider's cache holds the last request, and whether a keep-alive just before that pays:
// by the pauses between an answer and the next message of a person in history, as far as its messages have a Time.
// The pause up to now counts too. It sends nothing.
func (m *Manager) Warm(history []Message, now time.Time) Warmth {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, l := m.opts.Cache, m.state
	if l.isCold(&m.opts, now) {
		return Warmth{}
	}
	prompt := float64(l.tokens) * m.prices.times(l.tokens)
	w := Warmth{
		Until: l.sentAt.Add(c.TTL), KeepAlive: prompt * c.ReadPrice, Saves: prompt * (c.WritePrice - c.ReadPrice),
	}
	longer, within := 0.0, 0.0 // pauses that outlast the cache, and those of them that end within its next TTL
	for i := 1; i < len(history); i++ {
		from, to := history[i-1].Time, history[i].Time
		if !beginsTurn(&history[i]) || from.IsZero() || to.IsZero() {
			continue
		}
		if pause := to.Sub(from); pause > c.TTL {
			longer++
			if pause <= 2*c.TTL {
				within++
			}
		}
	}
	w.Chance = (within + 0.5) / (longer + 1) // half a pause of one more: little is decided by one
	w.Pays = w.Chance*w.Saves > w.KeepAlive
	return w
}
