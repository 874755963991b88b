package winnow

import (
	"math"
	"time"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/promise"
)

// Each request says what the provider is expected to read from its cache: that is set against what was read. A promise
// that was not kept is counted and logged, with who broke it.

// CacheUse counts what became of a conversation's tokens in the provider's cache, as far as answers say what was read:
// those in the history that Prepare is given, and what [Manager.Counted] is told, also of the last one. A request
// without such an answer counts for nothing.
type CacheUse struct {
	Requests int // whose answers were counted
	Expected int // what they should have read: [Request].Cached, as far as an answer shows that the cache has it
	Read     int // what was read
	Missed   int // of Expected, what was not read, by requests that missed more than a tenth
	// what the newest request before had whose answer was counted, and was not read, because the manager had rewritten
	// it, the host had changed it or its model, system prompt or tools, it was older than [CacheOptions].TTL or 5
	// minutes, or the provider had lost it
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
	return CacheUse(m.state.CacheUse)
}

// promise says what the last request, of d, should read of what the cache has: the newest request whose answer was
// counted. before is the state in front of it. reason says why d differs from the request before, from `first` on.
func (l *ledger) promise(d *draft, before *ledger, first int, reason string) {
	p := &l.Promise
	if p.SentAt.IsZero() && d.answer != nil && countsMore(d.answer) {
		p.Base = promise.Base{}
	}
	whose := promise.Winnow
	switch {
	case before.OtherModel:
		first, whose, reason = promise.Elsewhere, promise.Host, "another model"
	case d.compactedAt > before.End.Index:
		whose, reason = promise.Provider, "it has compacted the conversation"
	case first >= d.changedFrom && d.turnStart.Key == before.TurnStart.Key:
		whose, reason = promise.Host, otherHistory
	}
	p.Keep(l.Sent, first, whose, reason)
	if _, i := (observing{d}).forgotten(p.Kept); i < p.Kept {
		p.Kept, p.Whose, p.Reason = i, promise.Provider, "the reasoning of an earlier turn is not read any more"
	}
	p.SentAt, p.Estimate, p.Size = d.now, d.total, observing{d}.promisedSize(p)
}

// countsMore reports whether the usage of m may be that of other requests too.
func countsMore(m *Message) bool {
	return isFailed(m) || hasPart(m, isServerResult) || compactionIn(m) >= 0
}

// promisedSize returns what is known of the tokens of a request that p is about.
func (o observing) promisedSize(p *promise.Promise) (z promise.Size) {
	a, b := &o.accounting, &p.Base
	if b.Prompt == 0 || p.Kept == promise.Elsewhere {
		return z
	}
	kept, shownKept := o.sums(p.Kept)
	all, shown := o.sums(len(o.items))
	gone := max(0, b.Estimate-kept)
	leastGone, mostGone := a.Bounds(gone)
	leastKept, _ := a.Bounds(kept)
	z.Cached = max(0, min(b.Held, b.Prompt-a.BilledAs(gone)))
	// Either what is gone or what is kept may be estimated wrongly: it is the smaller error that counts.
	z.Error = max(0, z.Cached-max(b.Prompt-mostGone, leastKept))
	z.Hidden = min(z.Cached, a.Hidden(o.opts.Overhead))
	leastNew, _ := a.Bounds(shown - shownKept)
	_, mostNew := a.Bounds(all - kept)
	least := b.Prompt - mostGone + leastNew
	z.Most = count.Add(max(0, b.Prompt-leastGone), b.Output)
	z.Most = count.Add(z.Most, mostNew)
	for _, x := range o.items[p.Kept:] {
		switch {
		case x.sent.Role == RoleUser: // what was thought before may not be read any more
			least -= int(accounting.MaxRatio * float64(kept-shownKept))
			kept = shownKept
		case x.sent.Role == RoleTool && hasHiddenParts(x.sent):
			z.Most = math.MaxInt
		}
	}
	z.Least = max(0, least)
	return z
}

// settlePromise sets what was billed for the last request against what it should have read. It returns what was missed;
// nil: nothing. A count that came without an answer says nothing of the cache.
func (l *ledger) settlePromise(u *Usage, s *settings) *promise.Missed {
	if u == nil || u.Output <= 0 && u.CacheRead+u.CacheWrite <= 0 {
		return nil
	}
	c := s.opts.Cache
	return l.Promise.Settle(promise.Answer{Sent: l.Sent,
		Prompt: u.Prompt(), Read: max(0, u.CacheRead), Written: max(0, u.CacheWrite), Output: max(0, u.Output),
		Said: u.CacheMiss,
	}, promise.Cache{None: c.None, TTL: c.TTL, Least: s.prices.least}, &l.CacheUse)
}

// logMissed says how much was not read that should have been, and who caused it.
func (s *settings) logMissed(x *promise.Missed) {
	if x != nil {
		s.opts.Logger.Info("winnow: less was read from the prompt cache than expected", "tokens", x.Tokens,
			"expected", x.Expected, "whose", string(x.Whose), "reason", x.Reason)
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
	prompt := float64(l.Tokens) * m.prices.times(l.Tokens)
	w := Warmth{
		Until: l.SentAt.Add(c.TTL), KeepAlive: prompt * c.ReadPrice, Saves: prompt * (c.WritePrice - c.ReadPrice),
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
