package winnow

import (
	"time"
)

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
	if c.None || l.sentAt.IsZero() || now.Sub(l.sentAt) >= c.TTL {
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
