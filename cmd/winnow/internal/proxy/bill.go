package proxy

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/transport"
	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
	"github.com/winnowgo/winnow/internal/models"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// bill is what a conversation cost, by what the provider counted, and what the client's own history would have cost
// with the same cache: what the last request had is read, if the cache lasts so long, and the rest is written.
type bill struct {
	Paid    float64 // dollars, of requests that the provider counted
	Written int     // tokens that were not read from the cache
	NoFit   int     // requests for which the client's own history is larger than the window
	Unknown int     // requests that the provider did not count
	NoPrice string  // a model, as it was sold, without a list price: the dollars mean nothing; "": each has one

	cached, uncached own  // the client's own history, by a provider that caches it or not
	isCached         bool // the provider has counted tokens that it read from a cache or wrote to it

	basis inspect.Basis
	model string
	last  int // tokens of the last request with the client's own history
	at    time.Time
}

// own is what the client's own history would have cost.
type own struct {
	Paid    float64
	Written int
}

// Own returns what the client's own history would have cost.
func (b *bill) Own() own {
	if b.isCached {
		return b.cached
	}
	return b.uncached
}

// add takes a request that was answered.
func (b *bill) add(x *transport.Exchange, window int, now time.Time) {
	u := x.Usage
	if u.Prompt() <= 0 {
		b.Unknown++
		return
	}
	model := cmp.Or(x.SoldAs, x.Model)
	if b.model != model || b.at.IsZero() {
		// Each model has a cache of its own. An error is one of the estimator, which is not used here.
		b.model, b.last = model, 0
		b.basis, _, _ = inspect.Basis{Model: model}.Complete(&recording.Session{})
	}
	pause := now.Sub(b.at)
	b.at = now
	b.Paid += b.basis.Dollars(u)
	b.Written += u.Prompt() - u.CacheRead
	if !b.basis.HasPrice() {
		b.NoPrice = model
	}
	b.isCached = b.isCached || u.CacheRead+u.CacheWrite > 0
	switch {
	case x.Recalls > 0: // the client's own history needs no recall
		return
	case x.Request == nil: // passed on as it came
		b.cached.add(&b.basis, u)
		b.uncached.add(&b.basis, u)
		return
	}
	left := leftOut(x)
	prompt := u.Prompt() + left
	if b.last == 0 && u.CacheRead > 0 { // it goes on from another process or branch: the cache has what was left out
		b.last = u.CacheRead + left
	}
	read := min(u.CacheRead, prompt) // of the larger request it would have read as much at least
	if pause < b.basis.CacheTTL() || u.CacheRead > 0 {
		read = max(read, min(b.last, prompt))
	}
	b.last = prompt
	b.uncached.add(&b.basis, winnow.Usage{Input: prompt, Output: u.Output})
	whole := winnow.Usage{CacheRead: read, Input: prompt - read, Output: u.Output}
	if u.CacheWrite > 0 { // what stands behind the last marker is the same
		whole.Input = min(u.Input, prompt-read)
		whole.CacheWrite = prompt - read - whole.Input
		whole.LongWrite = int(float64(whole.CacheWrite) * float64(u.LongWrite) / float64(u.CacheWrite))
	}
	b.cached.add(&b.basis, whole)
	if known, ok := models.Find(x.Model); window == 0 && ok {
		window = known.Window
	}
	if window > 0 && prompt > window {
		b.NoFit++
	}
}

func (o *own) add(basis *inspect.Basis, u winnow.Usage) {
	o.Paid += basis.Dollars(u)
	o.Written += u.Prompt() - u.CacheRead
}

// Verdict compares the two in words. It says nothing that the provider's counts do not support.
func (b *bill) Verdict() string {
	own := b.Own()
	var said []string
	switch {
	case own.Paid <= 0:
		return "the provider counts nothing"
	case b.NoFit > 0: // the client would have had to shorten its history, nobody knows how
		said = append(said, recording.Count(b.NoFit, "request")+" would not have fit")
	default:
		said = append(said, change(b.Paid, own.Paid))
	}
	if more := b.Written - own.Written; more > own.Written/100 {
		said = append(said, recording.Comma(more)+" tokens more were not read from the cache")
	}
	if b.Unknown > 0 {
		said = append(said, recording.Count(b.Unknown, "request")+" not counted")
	}
	return strings.Join(said, "; ")
}

// Cost formats what was paid.
func (b *bill) Cost() string { return b.money(b.Paid) }

// OwnCost formats what the client's own history would have cost.
func (b *bill) OwnCost() string { return b.money(b.Own().Paid) }

func (b *bill) money(dollars float64) string {
	if b.NoPrice != "" || dollars <= 0 {
		return "–"
	}
	return inspect.Money(dollars)
}

// change compares two costs.
func change(paid, own float64) string {
	switch percent := math.Round(100 * (paid - own) / own); {
	case percent < 0:
		return fmt.Sprintf("%.0f %% less", -percent)
	case percent > 0:
		return fmt.Sprintf("%.0f %% more", percent)
	}
	return "as much"
}

// leftOut returns the tokens of the client's history that were not sent, as the provider would have counted them.
func leftOut(x *transport.Exchange) int {
	sent := 0
	for _, n := range x.Request.Counts {
		sent += n
	}
	left := float64(max(0, x.History-sent))
	if x.Request.Tokens > 0 { // what the provider counts may be more or less than the estimates
		left *= min(2, max(0.5, float64(x.Usage.Prompt())/float64(x.Request.Tokens)))
	}
	return int(left)
}
