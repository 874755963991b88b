package inspect

import (
	"fmt"
	"math"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// bill is what the recorded host paid by the provider's counts in the file, at today's prices, in uncached tokens.
type bill struct {
	Cost    float64
	Modeled float64 // the same prompts and answers, by the model of the cache that the replay has
	Calls   int     // calls of the model that the file counts, of those that are replayed

	last int       // tokens of the prompt before
	at   time.Time // when that was
}

// warm returns how much of the system prompt and the tools the provider has read from its cache for an answer, by the
// file: another conversation may have kept it warm.
func (r *replayer) warm(answer *winnow.Message) int {
	if answer.Usage == nil {
		return 0
	}
	return max(0, min(answer.Usage.CacheRead, *r.Overhead))
}

// readWarm reads from the cache what was warm in any case.
func (r *replayer) readWarm(q *request, warm int) {
	if warm = min(warm, q.Tokens); warm <= q.Cached {
		return
	}
	before := q.Cost
	q.Cached, q.Cost = warm, r.promptCost(q.Tokens, warm)
	q.Unedited += q.Cost - before
}

// bill adds what was billed for an answer, and what the model of the cache says of that prompt: what the one before it
// had is read, within the lifetime, and the rest is written.
func (r *replayer) bill(answer *winnow.Message, at time.Time) {
	u, b := answer.Usage, &r.Recorded
	if u == nil || u.Prompt() == 0 {
		return
	}
	prompt, cached := u.Prompt(), 0
	switch {
	case b.Calls == 0 || at.Sub(b.at) > r.cache.TTL:
	case prompt < b.last: // the host has changed what it had sent
		cached = min(*r.Overhead, prompt)
	default:
		cached = b.last
	}
	if cached < r.cacheTokens {
		cached = 0
	}
	cached = max(cached, r.warm(answer))
	b.Calls++
	b.Cost += r.cost(*u)
	b.Modeled += r.promptCost(prompt, cached) + r.answerCost(prompt, u.Output)
	b.last, b.at = prompt, at
}

// isWhole reports whether the file has a count for each request that is replayed.
func (b *bill) isWhole(r *report) bool { return b.Calls > 0 && b.Calls == len(r.Requests) }

// unexplained is what the model of the cache would have billed more.
func (b *bill) unexplained() float64 { return b.Modeled - b.Cost }

// Billed says what the session cost when it was recorded, "" if that is unknown.
func (r *report) Billed() string {
	if r.Source == nil || r.Source.From == nil || r.Source.Answers == 0 {
		return ""
	}
	u := r.Source.Billed
	return fmt.Sprintf("When it was recorded, %s of the model were billed for %s tokens of input, "+
		"%s read from the cache, %s written to it and %s of output: %s at today's prices.",
		recording.Count(r.Source.Answers, "call"), recording.Comma(u.Input), recording.Comma(u.CacheRead),
		recording.Comma(u.CacheWrite), recording.Comma(u.Output), r.money(r.billedCost()))
}

// Explained compares the bill with what the model of the cache says of the same prompts, "" if there is no bill, or if
// they are the same within a hundredth.
func (r *report) Explained() string {
	b := &r.Recorded
	if b.Calls == 0 || math.Abs(b.unexplained()) < b.Cost/100 {
		return ""
	}
	often := "more"
	if b.Modeled < b.Cost {
		often = "less"
	}
	return fmt.Sprintf("%s was billed for %s here; by our model of the cache it is %s: they were read from the cache "+
		"%s often than sizes and pauses tell. What winnow costs is by that model, too.", r.money(b.Cost),
		recording.Count(b.Calls, "request"), r.money(b.Modeled), often)
}

// billedCost returns the cost of the session when it was recorded, in uncached tokens. Calls whose answers are not in
// the conversation are billed as small ones.
func (r *report) billedCost() float64 {
	rest, cost := r.Source.Billed, 0.0
	for i := range r.Source.Messages {
		if u := r.Source.Messages[i].Usage; u != nil {
			cost += r.cost(*u)
			rest.Input, rest.CacheRead = rest.Input-u.Input, rest.CacheRead-u.CacheRead
			rest.CacheWrite, rest.Output = rest.CacheWrite-u.CacheWrite, rest.Output-u.Output
		}
	}
	return cost + r.cost(winnow.Usage{Input: max(0, rest.Input), CacheRead: max(0, rest.CacheRead),
		CacheWrite: max(0, rest.CacheWrite), Output: max(0, rest.Output)})
}
