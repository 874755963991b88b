package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/models"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// bill is what the recorded host paid by the provider's counts in the file, at today's prices, in uncached tokens.
type bill struct {
	Cost    float64
	Answers float64 // of Cost; some programs count an answer that has only begun
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
	if u == nil || u.Prompt() == 0 || r.otherModels[u] {
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
	b.Answers += r.answerCost(prompt, u.Output)
	b.Modeled += r.promptCost(prompt, cached) + r.answerCost(prompt, u.Output)
	b.last, b.at = prompt, at
}

// isWhole reports whether the file has a count for each request that is replayed, and all are of the replay's model.
func (b *bill) isWhole(r *report) bool { return b.Calls > 0 && b.Calls == len(r.Requests) }

// unexplained is what the model of the cache would have billed more.
func (b *bill) unexplained() float64 { return b.Modeled - b.Cost }

// paid is what the calls of a session cost, at today's prices.
type paid struct {
	winnow.Usage
	Dollars float64
	Stated  float64            // what the file itself says
	Models  map[string]float64 // dollars by model
	Unknown map[string]int     // calls of models without a price, which are not in Dollars
}

// paid sums up what the file counts: each call at the prices of its own model, those of other branches and of
// sub-agents, too.
func (r *report) paid() *paid {
	p := &paid{Models: map[string]float64{}, Unknown: map[string]int{}}
	for _, c := range r.Source.Calls {
		p.Input, p.Output = p.Input+c.Usage.Input, p.Output+c.Usage.Output
		p.CacheRead, p.CacheWrite = p.CacheRead+c.Usage.CacheRead, p.CacheWrite+c.Usage.CacheWrite
		p.LongWrite += c.Usage.LongWrite
		p.Stated += c.Dollars
		dollars, isKnown := r.dollarsOf(&c)
		if !isKnown {
			p.Unknown[c.Model]++
			continue
		}
		p.Dollars += dollars
		p.Models[cmp.Or(c.Model, r.Model)] += dollars
	}
	return p
}

// dollarsOf returns what a call cost, if that is known.
func (r *report) dollarsOf(c *recording.Call) (amount float64, isKnown bool) {
	if r.isOf(c.Model) {
		return r.Dollars(*c.Usage), true
	}
	m, _ := models.Find(c.Model)
	return m.Dollars(TokensOf(*c.Usage))
}

// isOf reports whether a call is of the model of the replay.
func (b *Basis) isOf(model string) bool { return model == "" || models.IsSame(model, b.Model) }

// Billed says what the session cost when it was recorded, "" if that is unknown.
func (r *report) Billed() string {
	if r.Source == nil || len(r.Source.Calls) == 0 {
		return ""
	}
	p := r.paid()
	long := ""
	if p.LongWrite > 0 {
		long = fmt.Sprintf(" (%s of that for longer)", recording.Comma(p.LongWrite))
	}
	said := fmt.Sprintf("When it was recorded, %s of the model were billed for %s tokens of input, "+
		"%s read from the cache, %s written to it%s and %s of output: %s at today's prices.",
		recording.Count(len(r.Source.Calls), "call"), recording.Comma(p.Input), recording.Comma(p.CacheRead),
		recording.Comma(p.CacheWrite), long, recording.Comma(p.Output), money(p.Dollars))
	if len(p.Models) > 1 {
		var each []string
		for _, model := range slices.Sorted(maps.Keys(p.Models)) {
			each = append(each, Plain(model)+" "+money(p.Models[model]))
		}
		said += " Of that, " + strings.Join(each, ", ") + "."
	}
	for _, model := range slices.Sorted(maps.Keys(p.Unknown)) {
		said += fmt.Sprintf(" Not in it, because no price is known for %s: %s.", Plain(model),
			recording.Count(p.Unknown[model], "call"))
	}
	if p.Stated > 0 {
		said += fmt.Sprintf(" The file itself says %s.", money(p.Stated))
	}
	return said
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
