package winnow

import "github.com/winnowgo/winnow/internal/count"

// What a request costs, as far as that can be told before it is sent. All that it takes is remembered: no
// text is read for it.

// sentPrefix is what a request and the history begin with that was there at the last request, in estimated tokens.
type sentPrefix struct {
	sent     int // of the request, as it was sent
	unedited int // of the history, as it is
}

// prefix estimates what is as it was sent, up to message firstChanged.
func (d *draft) prefix(firstChanged int) (p sentPrefix) {
	for _, n := range d.view.tokens[:firstChanged] {
		p.sent = count.Add(p.sent, n)
	}
	p.unedited = d.ledger.index.estimate(d.knownHistory(firstChanged))
	return p
}

// knownHistory is how many messages of the history the last request was made for: up to the first one behind
// those that were sent. A history that was rewound, forked or replaced has those that are as they were sent.
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

// lastSent is the position of the last message of the last request, or -1.
func (d *draft) lastSent() int {
	n := len(d.ledger.sent)
	if n == 0 {
		return -1
	}
	v := d.view
	was := func(i int) bool { // as the ledger has it: what is edited now was not sent
		k := v.facts[i].key
		if p := d.ledger.projections[k]; p != nil && !v.messages[i].Pinned {
			k = p.key
		}
		return k == d.ledger.sent[n-1]
	}
	if n <= len(v.facts) && was(n-1) {
		return n - 1
	}
	for i := len(v.facts) - 1; i >= 0; i-- { // what stands before it was dropped
		if was(i) {
			return i
		}
	}
	return -1
}

// price says what r will cost, and what the history would, which is estimated as history.
func (d *draft) price(r *Request, history int, p sentPrefix) {
	c, a := d.opts.Cache, &d.accounting
	r.Cached = d.cached(p.sent, r.Tokens)
	r.Cost = c.cost(r.Tokens, r.Cached)
	// By what the two differ in: the count of the request is better than any estimate of the whole history.
	unedited := count.Add(r.Tokens, a.BilledAs(max(0, history-d.view.total)))
	unedited -= min(unedited, a.BilledAs(max(0, d.view.total-history)))
	r.CostUnedited = c.cost(unedited, d.cached(p.unedited, unedited))
}

// cached returns how many of a request's tokens a provider reads from its cache, if it has seen the messages of the
// beginning, which are estimated as prefix. What no message shows stands in front of them.
func (d *draft) cached(prefix, tokens int) int {
	a := &d.accounting
	n := min(tokens, count.Add(a.Hidden(d.opts.Overhead), a.BilledAs(prefix)))
	if d.isCold() || n < d.opts.Cache.MinTokens {
		return 0
	}
	return n
}

// cost is the price of a prompt, in units of what an uncached token of input costs.
func (c *CacheOptions) cost(tokens, cached int) float64 {
	if c.None || tokens < c.MinTokens {
		return float64(tokens)
	}
	return c.ReadPrice*float64(cached) + c.WritePrice*float64(tokens-cached)
}

// estimate is that of the first n messages of the history passed in last, as they are.
func (x *index) estimate(n int) (sum int) {
	for _, f := range x.facts[:min(n, len(x.facts))] {
		sum = count.Add(sum, f.tokens)
	}
	return sum
}
