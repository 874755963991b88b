package winnow

import (
	"cmp"
	"time"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/models"
)

// prices says what prompts cost, in units of one uncached token of a small prompt.
type prices struct {
	cache  *CacheOptions
	least  int           // shorter prefixes are not cached
	cliffs []models.Tier // sizes above which the whole prompt costs more, in ascending order
}

// pricesOf returns the prices of a model with the host's options of its cache.
func pricesOf(model string, cache *CacheOptions) prices {
	known, _ := models.Find(model)
	// Where the table does not say how long a prefix has to be, it is what most of the table's models need.
	return prices{cache: cache, least: cmp.Or(known.CacheTokens, 1_024), cliffs: known.Tiers}
}

// times returns by what factor a token of a prompt of this size costs more than one of a small prompt.
func (p *prices) times(tokens int) float64 {
	times := 1.0
	for _, c := range p.cliffs {
		if tokens > c.Above {
			times = c.Uncached
		}
	}
	return times
}

// of returns the price of a prompt, of which `cached` tokens are read from the cache.
func (p *prices) of(tokens, cached int) float64 {
	c, times := p.cache, p.times(tokens)
	if c.None || tokens < p.least {
		return times * float64(tokens)
	}
	return times * (c.ReadPrice*float64(cached) + c.WritePrice*float64(tokens-cached))
}

// How many more requests an epoch is expected to serve, because nobody knows how many will come. In the recorded
// sessions 4 keeps half a point more of the lines than 5, and costs .002 more; with 6 edits find up to 1.6 points less
// of their lines, for .002. A cache for an hour outlives most pauses: there 8 costs up to .014 less than 5, for up to a
// point of the lines.
const (
	requestsAhead     = 5
	requestsAheadHour = 8
)

// worthOfKept returns how much of a request has to go for each token that is kept behind it. The kept is written to the
// cache again, once; what goes would be read in each later request. At the prices of Anthropic's cache for five minutes
// it is 2.3. Without a cache it is 0: it makes no difference what was sent before.
func (p *prices) worthOfKept() float64 {
	c, ahead := p.cache, float64(requestsAhead)
	if c.TTL >= time.Hour {
		ahead = requestsAheadHour
	}
	if c.None {
		return 0
	}
	return (c.WritePrice - c.ReadPrice) / (ahead * c.ReadPrice)
}

// setCliff sets the cliff that it pays to stay below, if the request is above one. Until makeFit, the request then fits
// only below it: for a cliff, only old work and old history are given up.
func (e *epoch) setCliff() {
	if e.ledger.recovery != nil { // which has a limit of its own
		return
	}
	most := 0.0
	for _, c := range e.prices.cliffs {
		below := count.Share(c.Above, belowCliff)
		if below >= e.budget || count.Add(e.tokens(), e.margin()) <= below {
			break
		}
		if gain := e.gainBelow(below); gain > most {
			most, e.cliff = gain, below
		}
	}
}

// belowCliff is the share of a cliff that a request stays below. In made-up sessions of reads it costs 8 % less than
// the whole, and the estimates may be wrong by a few percent.
const belowCliff = 0.9

// gainBelow returns what is saved by going below `size` tokens now and staying there until the next rewrite. That comes
// after as many requests as the history has needed so far for as many tokens. Both ways are billed: what is above the
// cliff is read there again and again, and what is kept below it is written once more. It is 0 if it cannot be done.
func (e *epoch) gainBelow(size int) float64 {
	a, hidden, now := &e.accounting, e.accounting.Hidden(e.opts.Overhead), e.tokens()
	room := a.Room(size, size, e.opts.Overhead)
	kept, call, ok := e.keptBelow(room)
	answers, history := countAnswers(listed(e.history)), e.estimateHistory(len(e.history))
	if !ok || answers == 0 || history == 0 {
		return 0
	}
	step := a.BilledAs(history / answers) // by which each request is larger than the one before
	requests := float64(a.BilledAs(room-kept)) / float64(max(1, step))
	first, mean := hidden+a.BilledAs(kept), min(size, hidden+a.BilledAs((kept+room)/2))
	read, stays := max(0, now-step), min(first, hidden) // from the cache: as it is, and of a rewritten one
	if e.isCold() {
		read, stays = 0, 0
	}
	above := e.prices.of(now, read) + requests*e.prices.of(now+step, now)
	below := e.prices.of(first, stays) + requests*e.prices.of(mean, max(0, mean-step))
	return above - below - call
}

// keptBelow returns how many tokens are kept where messages may have `room`, and the price of the call of a summarizer
// that this takes. ok is false if they cannot become so few. A summary is needed where old work does not suffice: its
// call reads all of it.
func (e *epoch) keptBelow(room int) (kept int, call float64, ok bool) {
	least, goal := e.total, count.Share(room, lowWater)
	for _, p := range e.staleInAny(pressedSteps, holdFile) {
		least -= p.saving
	}
	switch {
	case least < room && goal < room:
		return max(least, goal), 0, true
	case e.opts.Compact.Off || !e.span().verdict().canHelp:
		return 0, 0, false
	case e.opts.asksSummarizer():
		call = e.prices.times(e.tokens()) * float64(e.tokens())
	}
	return goal, call, true
}
