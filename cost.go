package winnow

import "github.com/winnowgo/winnow/internal/count"

// What a request costs, as far as that is known before it is sent. The sizes of messages are remembered, so no text is
// read for it.

// sentPrefix is the size, in estimated tokens, of the beginning that the last request had already.
type sentPrefix struct {
	sent     int // of the request, as it was sent
	unedited int // of the history, as it is
}

// prefix estimates the messages before firstChanged, which are as they were sent.
func (d *draft) prefix(firstChanged int) (p sentPrefix) {
	for _, n := range d.view.tokens[:firstChanged] {
		p.sent = count.Add(p.sent, n)
	}
	p.unedited = d.estimateHistory(d.knownHistory(firstChanged))
	return p
}

// estimateHistory estimates the first n messages of the history, as they are, without what the provider's own
// compaction stands for: no provider reads or bills that.
func (d *draft) estimateHistory(n int) int {
	return max(0, d.ledger.index.estimate(n)-d.compactedTokens)
}

// knownHistory returns how many messages of the history the last request was made for: those before the first message
// behind its last one. If the history was rewound, forked or replaced, only those before firstChanged count.
func (d *draft) knownHistory(firstChanged int) int {
	v := d.view
	last := d.lastSent()
	if last < 0 {
		last = firstChanged - 1
	}
	for _, i := range v.index[last+1:] {
		if i >= 0 {
			return i
		}
	}
	return len(d.history)
}

// lastSent returns the position of the last request's last message, or -1 if d does not have it.
func (d *draft) lastSent() int {
	n := len(d.ledger.sent)
	if n == 0 {
		return -1
	}
	v := d.view
	was := func(i int) bool { // by the edits of the ledger, because those of d were not sent yet
		k := v.facts[i].key
		if p := d.ledger.projections[k]; p != nil && !v.messages[i].Pinned {
			k = p.key
		}
		return k == d.ledger.sent[n-1]
	}
	if n <= len(v.facts) && was(n-1) {
		return n - 1
	}
	for i := len(v.facts) - 1; i >= 0; i-- { // messages before it were dropped
		if was(i) {
			return i
		}
	}
	return -1
}

// price sets what r will cost, and what the whole history would cost, which is estimated as `history` tokens. p is what
// the last request had already of both.
func (d *draft) price(r *Request, history int, p sentPrefix) {
	c, a := d.opts.Cache, &d.accounting
	r.Cached = d.cached(p.sent, r.Tokens)
	r.Cost = c.cost(r.Tokens, r.Cached)
	// The difference of the two estimates is added to r.Tokens, which is better than any estimate of the whole history.
	unedited := count.Add(r.Tokens, a.BilledAs(max(0, history-d.view.total)))
	unedited -= min(unedited, a.BilledAs(max(0, d.view.total-history)))
	r.CostUnedited = c.cost(unedited, d.cached(p.unedited, unedited))
}

// cached returns how many of a request's tokens the provider reads from its cache, if it has seen the messages at the
// beginning, which are estimated as prefix. What no message shows, such as tools, comes before them.
func (d *draft) cached(prefix, tokens int) int {
	a := &d.accounting
	n := min(tokens, count.Add(a.Hidden(d.opts.Overhead), a.BilledAs(prefix)))
	if d.isCold() || n < d.opts.Cache.MinTokens {
		return 0
	}
	return n
}

// cost returns the price of a prompt, of which `cached` tokens are read from the cache. Its unit is the price of an
// uncached token of input.
func (c *CacheOptions) cost(tokens, cached int) float64 {
	if c.None || tokens < c.MinTokens {
		return float64(tokens)
	}
	return c.ReadPrice*float64(cached) + c.WritePrice*float64(tokens-cached)
}

// estimate returns the estimated tokens, without edits, of the first n messages of the history that was passed in last.
func (x *index) estimate(n int) (sum int) {
	for _, f := range x.facts[:min(n, len(x.facts))] {
		sum = count.Add(sum, f.tokens)
	}
	return sum
}
