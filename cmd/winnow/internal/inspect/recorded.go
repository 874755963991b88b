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

// bill is what the recorded host paid for the requests of the replay that the file counts, in dollars at today's
// prices, and what a model of the cache says of the same prompts: as they were, and as winnow would have sent them.
type bill struct {
	Calls   int     // requests that the file counts, of models whose prices are known
	Prompts float64 // as billed
	Answers float64 // as billed; some programs count an answer that has only begun
	Modeled float64 // the prompts by the model of the cache
	Winnow  float64 // those with winnow, by the same model
	Reread  float64 // the prompts by the model, but with what was read from the cache as billed
	Unread  int     // tokens that the model takes for read and that were not; negative: the other way round
	Unknown byModel // requests that the file counts, of models without a price

	caches map[string]*cache // by model
	last   counted
}

// counted is a request that the file counts.
type counted struct {
	model       string
	prompt      int // tokens that were billed
	text        int // what the file has of the whole history
	compactions int // of the recording, so far
	leftOut     int // tokens of the whole history that the recorded host did not send
}

// share is how much of a token was billed for each of the file's text, at most one.
func (c *counted) share() float64 { return min(1, float64(c.prompt+c.leftOut)/float64(max(1, c.text))) }

// cache is what the provider's cache of a model has of the conversation.
type cache struct {
	basis        *Basis
	at           time.Time
	theirs, ours int // what the next prompt has in common with the last one: as it was recorded, and with winnow
}

// read returns how much of a prompt is read from the cache, and remembers the prompt. isChanged tells that the host has
// changed what it had sent.
func (c *cache) read(common *int, prompt int, isChanged, isCold bool, warm int) int {
	read := min(*common, prompt)
	*common = prompt
	switch {
	case isCold:
		read = 0
	case isChanged:
		read = min(read, *c.basis.Overhead)
	}
	if read < c.basis.cacheTokens {
		read = 0
	}
	return max(read, min(warm, prompt))
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
// had is read, within the lifetime, and the rest is written. What was billed and is not in the file, winnow would have
// sent, too, and written again behind a rewrite: nobody knows where it stands.
func (r *replayer) bill(q *request, answer *winnow.Message, at time.Time) {
	u, b := answer.Usage, &r.Recorded
	for _, c := range b.caches {
		if q.Epoch {
			c.ours = min(c.ours, int(float64(q.Cached)*b.last.share()))
		}
	}
	if u == nil || u.Prompt() == 0 || !r.HasPrice() {
		return
	}
	c := r.cacheOf(r.models[u])
	if !c.basis.HasPrice() {
		b.Unknown.add(r.models[u])
		return
	}
	leftOut := b.last.leftOut
	r.follow(counted{c.basis.Model, u.Prompt(), q.History + *r.Overhead, 0, leftOut})
	saved := int(float64(max(0, b.last.text-q.Tokens)) * b.last.share())
	ours := u.Prompt() + b.last.leftOut - saved
	isChanged, isCold, warm := u.Prompt() < c.theirs, at.Sub(c.at) > c.basis.cache.TTL, r.warm(answer)
	read := c.read(&c.theirs, u.Prompt(), isChanged, isCold, warm)
	oursRead := c.read(&c.ours, ours, isChanged && leftOut == b.last.leftOut, isCold, warm)
	prompt := *u
	prompt.Output = 0
	b.Calls++
	b.Prompts += c.basis.Dollars(prompt)
	b.Answers += c.basis.Dollars(*u) - c.basis.Dollars(prompt)
	b.Modeled += dollars(c.basis.promptCost(u.Prompt(), read), c.basis.Price)
	if q.Error == "" {
		b.Winnow += dollars(c.basis.promptCost(ours, oursRead), c.basis.Price)
	}
	b.Reread += dollars(c.basis.promptCost(u.Prompt(), u.CacheRead), c.basis.Price)
	b.Unread += read - u.CacheRead
	c.at = at
}

// follow takes the next request that the file counts. The recorded host has left out messages if it has compacted, or
// if its prompt is much smaller than the last one, and sends them again if it has grown by much more than the text.
func (r *replayer) follow(next counted) {
	last := &r.Recorded.last
	for _, c := range r.Source.Compactions {
		if c.Before <= r.known {
			next.compactions++
		}
	}
	missing := next.text - last.text - (next.prompt - last.prompt) // of what is new
	isShort := next.model == last.model && next.prompt < last.prompt-last.prompt/10
	if next.compactions > last.compactions || isShort || -missing > next.prompt/10 {
		next.leftOut = max(0, min(last.leftOut+missing, next.text-*r.Overhead))
	}
	*last = next
}

// cacheOf returns the cache of a model. The prices of the replay's are the replay's.
func (r *replayer) cacheOf(model string) *cache {
	key := models.Key(cmp.Or(model, r.Model))
	c := r.Recorded.caches[key]
	if c == nil {
		c = &cache{basis: &r.Basis}
		if !r.isOf(model) {
			other := Basis{Model: model, Window: r.Window, Overhead: r.Overhead}.complete(r.Source, r.estimator)
			c.basis = &other
		}
		r.Recorded.caches[key] = c
	}
	return c
}

// WithWinnow is the bill of the prompts as it would have been with winnow: in proportion to what the model of the cache
// says of both.
func (b *bill) WithWinnow() float64 {
	if b.Modeled == 0 {
		return b.Prompts
	}
	return b.Prompts * b.Winnow / b.Modeled
}

// unexplained is what the model of the cache would have billed more.
func (b *bill) unexplained() float64 { return b.Modeled - b.Prompts }

// paid is what the calls of a session cost, at today's prices.
type paid struct {
	winnow.Usage
	Dollars float64
	Stated  float64            // what the file itself says
	Models  map[string]float64 // dollars by model
	Unknown byModel            // calls of models without a price, which are not in Dollars
}

// byModel counts calls by the name of their model, which says how they were sold, too.
type byModel map[string]int

func (b byModel) add(model string) { b[cmp.Or(model, "an unknown model")]++ }

// sum returns how many calls there are.
func (b byModel) sum() (n int) {
	for _, calls := range b {
		n += calls
	}
	return n
}

// each says how many calls there are of each model.
func (b byModel) each(of string) string {
	var list []string
	for _, model := range slices.Sorted(maps.Keys(b)) {
		list = append(list, recording.Count(b[model], of)+" of "+Plain(model))
	}
	return strings.Join(list, ", ")
}

// paid sums up what the file counts: each call at the prices of its own model, those of other branches and of
// sub-agents, too.
func (r *report) paid() *paid {
	p := &paid{Models: map[string]float64{}, Unknown: byModel{}}
	named := map[string]string{} // by key: the first of several spellings
	for _, c := range r.Source.Calls {
		p.Input, p.Output = p.Input+c.Usage.Input, p.Output+c.Usage.Output
		p.CacheRead, p.CacheWrite = p.CacheRead+c.Usage.CacheRead, p.CacheWrite+c.Usage.CacheWrite
		p.LongWrite += c.Usage.LongWrite
		p.Stated += c.Dollars
		dollars, isKnown := r.dollarsOf(&c)
		if !isKnown {
			p.Unknown.add(c.Model)
			continue
		}
		p.Dollars += dollars
		key := models.Key(cmp.Or(c.Model, r.Model))
		if named[key] == "" {
			named[key] = cmp.Or(c.Model, r.Model)
		}
		p.Models[named[key]] += dollars
	}
	return p
}

// dollarsOf returns what a call cost, if that is known.
func (r *report) dollarsOf(c *recording.Call) (amount float64, isKnown bool) {
	if r.isOf(c.Model) {
		return r.Dollars(*c.Usage), r.HasPrice()
	}
	m, _ := models.Find(c.Model)
	return m.Dollars(TokensOf(*c.Usage))
}

// isOf reports whether a call is of the model of the replay.
func (b *Basis) isOf(model string) bool {
	return model == "" || model == b.alias || models.Key(model) == models.Key(b.Model)
}

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
	var counts []string
	for _, c := range []struct {
		tokens int
		as     string
	}{
		{p.Input, "of input"}, {p.CacheRead, "read from the cache"}, {p.CacheWrite, "written to the cache" + long},
		{p.Output, "of output"},
	} {
		if c.tokens > 0 {
			counts = append(counts, recording.Comma(c.tokens)+" "+c.as)
		}
	}
	said := fmt.Sprintf("When it was recorded, the provider billed %s of the model for these tokens: %s.",
		recording.Count(len(r.Source.Calls), "call"), strings.Join(counts, ", "))
	if len(p.Models) > 0 {
		said += fmt.Sprintf(" That is %s at today's prices, without fees such as those of web searches.",
			money(p.Dollars))
	}
	if len(p.Models) > 1 {
		var each []string
		for _, model := range slices.Sorted(maps.Keys(p.Models)) {
			each = append(each, Plain(model)+" "+money(p.Models[model]))
		}
		said += " Of that, " + strings.Join(each, ", ") + "."
	}
	if len(p.Unknown) > 0 {
		because := " Not in it, because no price is known for %s."
		if len(p.Models) == 0 {
			because = " No price is known for %s."
		}
		said += fmt.Sprintf(because, p.Unknown.each("call"))
	}
	if p.Stated > 0 {
		said += fmt.Sprintf(" The file itself says %s.", money(p.Stated))
	}
	return said
}

// Explained compares the bill of the prompts with what the model of the cache says of them, "" if there is no bill, or
// if they are the same within a hundredth.
func (r *report) Explained() string {
	b := &r.Recorded
	if math.Abs(b.unexplained()) <= (b.Prompts+b.Answers)/100 {
		return r.lasted()
	}
	why := "as much was read, but the rest has another price than what is written to the cache"
	if math.Abs(b.Modeled-b.Reread) > math.Abs(b.Reread-b.Prompts) {
		more := "more"
		if b.Unread > 0 {
			more = "less"
		}
		why = fmt.Sprintf("%s tokens %s were read from the cache than sizes and pauses tell",
			recording.Comma(max(b.Unread, -b.Unread)), more)
	}
	return strings.TrimSpace(fmt.Sprintf("For the prompts of %s here %s was billed; by our model of the cache it is "+
		"%s: %s. The figure with winnow is corrected by the same factor. %s", recording.Count(b.Calls, "request"),
		money(b.Prompts), money(b.Modeled), why, r.lasted()))
}

// lasted says what writing to the cache may have cost more where its lifetime is inferred, "" where it is not.
func (r *report) lasted() string {
	more := 0.0
	for _, c := range r.Source.Calls {
		if r.lastsAnHour && r.HasPrice() && r.isOf(c.Model) {
			long := *c.Usage
			long.LongWrite = long.CacheWrite
			more += r.Dollars(long) - r.Dollars(*c.Usage)
		}
	}
	if more == 0 {
		return ""
	}
	return fmt.Sprintf("Pauses tell that the cache lasted an hour, and the file does not say how it was written: if "+
		"for an hour, it cost %s more.", money(more))
}
