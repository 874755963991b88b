package inspect

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// prices are the prices for all hosts on the page: the defaults of winnow.CacheOptions, which are Anthropic's for the
// five-minute cache. They are relative to the price of an uncached input token.
var prices = winnow.CacheOptions{
	TTL: 5 * time.Minute, MinTokens: 1_024, ReadPrice: 0.1, WritePrice: 1.25, OutputPrice: 5,
}

// promptCost returns the cost of a partly cached prompt, in uncached tokens.
func promptCost(tokens, cached int) float64 {
	if tokens < prices.MinTokens {
		return float64(tokens)
	}
	return prices.ReadPrice*float64(cached) + prices.WritePrice*float64(tokens-cached)
}

// outcome is the result of a whole session under one host. Costs are in uncached tokens.
type outcome struct {
	Requests  float64 // cost of the prompts
	Summaries float64 // cost of the calls that write summaries
	Calls     int     // number of those calls
	Rewrites  int     // requests that changed what was sent before
	Refused   int     // requests that do not fit, and cost nothing
	Peak      int     // tokens of the largest request
	Found     int     // names used again by answers that their requests held
}

// Total does not include the answers, which are the same for each host.
func (o outcome) Total() float64 { return o.Requests + o.Summaries }

// scribe writes summaries instead of a model: the digest gives the text, and the call is billed like a model's.
type scribe struct {
	estimator winnow.Estimator
	into      *outcome
}

func (s scribe) Summarize(ctx context.Context, req winnow.SummaryRequest) (string, error) {
	text, err := winnow.Digest().Summarize(ctx, req)
	s.into.Calls++
	s.into.Summaries += float64(s.tokens(req.System())+s.tokens(req.Prompt())) +
		prices.OutputPrice*float64(s.tokens(text))
	return text, err
}

func (s scribe) tokens(text string) int {
	return s.estimator.Estimate(winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: text}}})
}

// dollars converts a cost, at a price for a million uncached tokens.
func dollars(cost, price float64) float64 { return cost * price / 1e6 }

// money formats dollars with enough decimal places to tell two sessions apart.
func money(amount float64) string {
	if amount < 1 {
		return fmt.Sprintf("$%.3f", amount)
	}
	return fmt.Sprintf("$%.2f", amount)
}

// headline returns one sentence that compares winnow with a host that compacts at the limit.
func (r *report) headline() string {
	ours, theirs := r.Winnow.Total(), r.Limit.Total()
	cost := money(dollars(ours, r.Price)) + " with winnow"
	other := money(dollars(theirs, r.Price)) + " compacting at the limit"
	if r.Winnow.Refused > 0 || r.Limit.Refused > 0 {
		return fmt.Sprintf("%s and %s, which is no comparison: %s and %s do not fit",
			cost, other, recording.Count(r.Winnow.Refused, "request"), recording.Count(r.Limit.Refused, "request"))
	}
	change := 0.0
	if theirs > 0 {
		change = math.Round(100 * (ours - theirs) / theirs)
	}
	switch {
	case change < 0:
		return fmt.Sprintf("%s: %.0f %% less than %s", cost, -change, other)
	case change > 0:
		return fmt.Sprintf("%s: %.0f %% more than %s", cost, change, other)
	}
	return fmt.Sprintf("%s: as much as %s", cost, other)
}

// losses describes what the requests did not hold.
func (r *report) losses() string {
	lost := fmt.Sprintf("At the end %s of %s tokens of the history are sent word for word.",
		recording.Comma(r.Verbatim), recording.Comma(r.History))
	if r.Needed == 0 {
		return lost
	}
	return fmt.Sprintf("%s Of %s names that answers used again, %s were not in the request; compacting at the limit, "+
		"%s.",
		lost, recording.Comma(r.Needed), recording.Comma(r.Needed-r.Winnow.Found),
		recording.Comma(r.Needed-r.Limit.Found))
}

// tableRow compares the hosts in one respect.
type tableRow struct{ Name, Winnow, Limit string }

// table compares costs and results.
func (r *report) table() []tableRow {
	cost := func(name string, of func(o *outcome) float64) tableRow {
		return tableRow{name, money(dollars(of(&r.Winnow), r.Price)), money(dollars(of(&r.Limit), r.Price))}
	}
	count := func(name string, of func(o *outcome) int) tableRow {
		return tableRow{name, recording.Comma(of(&r.Winnow)), recording.Comma(of(&r.Limit))}
	}
	rows := []tableRow{
		cost("prompts", func(o *outcome) float64 { return o.Requests }),
		cost("calls that write summaries", func(o *outcome) float64 { return o.Summaries }),
		cost("total", func(o *outcome) float64 { return o.Total() }),
		count("summary calls", func(o *outcome) int { return o.Calls }),
		count("requests that rewrote a prefix", func(o *outcome) int { return o.Rewrites }),
		count("requests that do not fit", func(o *outcome) int { return o.Refused }),
		count("tokens of the largest request", func(o *outcome) int { return o.Peak }),
	}
	if r.Needed > 0 {
		rows = append(rows, count("names used again that were missing", func(o *outcome) int {
			return r.Needed - o.Found
		}))
	}
	return rows
}

// assumptions describes the assumptions behind the figures.
func (r *report) assumptions() string {
	return fmt.Sprintf("Sizes are estimates. A million uncached tokens cost $%g; a cached one costs %g of that, "+
		"a written one %g, one of an answer %g; the cache lasts %g minutes and takes %s tokens or more. "+
		"The answers, %s for either host, are left out. Both hosts' summaries are the digest's text, billed as a "+
		"model's call whose prompt is not cached. Compacting at the limit means to send everything until %s tokens of "+
		"the window are left, and then to summarize all but the newest %s; a result that is still too large is cut. "+
		"The recording does not react: what is read again because it was lost costs nothing here.",
		r.Price, prices.ReadPrice, prices.WritePrice, prices.OutputPrice, prices.TTL.Minutes(),
		recording.Comma(prices.MinTokens), money(dollars(r.Answers, r.Price)),
		recording.Comma(min(limitReserve, r.Window/4)), recording.Comma(min(limitKeep, r.Window/4)))
}
