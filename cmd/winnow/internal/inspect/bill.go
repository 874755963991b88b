package inspect

import (
	"context"
	"fmt"
	"math"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// outcome is the result of a whole session under one host. Costs are in uncached tokens.
type outcome struct {
	Requests  float64 // cost of the prompts
	Answers   float64 // cost of the answers, the same for each
	Summaries float64 // cost of the calls that write summaries
	Calls     int     // number of those calls
	Rewrites  int     // requests that changed what was sent before
	Refused   int     // requests that do not fit, and cost nothing
	Peak      int     // tokens of the largest request
	Missing   counts  // what answers used again and their requests did not hold
}

func (o outcome) Total() float64 { return o.Requests + o.Answers + o.Summaries }

// scribe writes summaries instead of a model: the digest gives the text, and the call is billed like a model's.
type scribe struct {
	estimator winnow.Estimator
	output    float64 // price of a token that it writes
	into      *outcome
}

func (s scribe) Summarize(ctx context.Context, req winnow.SummaryRequest) (string, error) {
	text, err := winnow.Digest().Summarize(ctx, req)
	s.into.Calls++
	s.into.Summaries += float64(s.tokens(req.System())+s.tokens(req.Prompt())) +
		s.output*float64(s.tokens(text))
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
	cost := r.money(ours) + " with winnow"
	elsewhere := r.money(theirs) + " compacting at the limit"
	if r.Winnow.Refused > 0 || r.Limit.Refused > 0 {
		return fmt.Sprintf("%s and %s, which is no comparison: %s and %s do not fit",
			cost, elsewhere, recording.Count(r.Winnow.Refused, "request"), recording.Count(r.Limit.Refused, "request"))
	}
	if change := percentMore(ours, theirs); change != "" {
		return fmt.Sprintf("%s: %s than %s", cost, change, elsewhere)
	}
	return fmt.Sprintf("%s: as much as %s", cost, elsewhere)
}

// percentMore compares two costs: "5 % less", or "" if they are the same.
func percentMore(ours, theirs float64) string {
	if theirs <= 0 {
		return ""
	}
	switch change := math.Round(100 * (ours - theirs) / theirs); {
	case change < 0:
		return fmt.Sprintf("%.0f %% less", -change)
	case change > 0:
		return fmt.Sprintf("%.0f %% more", change)
	}
	return ""
}

// parts says what the two totals consist of.
func (r *report) parts() string {
	w, l := &r.Winnow, &r.Limit
	prompts := percentMore(w.Requests, l.Requests)
	if prompts != "" {
		prompts = " (" + prompts + ")"
	}
	return fmt.Sprintf("Of that, prompts %s against %s%s, answers %s for either, and summaries, whose price is "+
		"assumed, %s against %s.",
		r.money(w.Requests), r.money(l.Requests), prompts, r.money(w.Answers), r.money(w.Summaries),
		r.money(l.Summaries))
}

func (r *report) money(cost float64) string { return money(dollars(cost, r.Price)) }

// losses describes what the requests did not hold.
func (r *report) losses() string {
	if r.Needed == (counts{}) {
		return "No answer used a name or a line again."
	}
	text := fmt.Sprintf("Lost: of %s and %s that answers used again, %s and %s were not in the request",
		recording.Count(r.Needed[aName], "name"), recording.Count(r.Needed[aLine], "quoted line"),
		recording.Comma(r.Winnow.Missing[aName]), recording.Comma(r.Winnow.Missing[aLine]))
	if r.Winnow.Missing != (counts{}) {
		text += fmt.Sprintf(" (the recall tool finds %s and %s of them)", recording.Comma(r.Recallable[aName]),
			recording.Comma(r.Recallable[aLine]))
	}
	return fmt.Sprintf("%s; compacting at the limit, %s and %s.", text,
		recording.Comma(r.Limit.Missing[aName]), recording.Comma(r.Limit.Missing[aLine]))
}

// other explains what winnow is compared with.
const other = "A host that compacts at the limit sends everything until the window is nearly full, and then a " +
	"summary of all but the newest part."

// verbatim says how much of the history the last request holds.
func (r *report) verbatim() string {
	return fmt.Sprintf("At the end %s of %s tokens of the history are sent word for word.",
		recording.Comma(r.Verbatim), recording.Comma(r.History))
}

// tableRow compares the hosts in one respect.
type tableRow struct{ Name, Winnow, Limit string }

// table compares costs and results.
func (r *report) table() []tableRow {
	cost := func(name string, of func(o *outcome) float64) tableRow {
		return tableRow{name, r.money(of(&r.Winnow)), r.money(of(&r.Limit))}
	}
	count := func(name string, of func(o *outcome) int) tableRow {
		return tableRow{name, recording.Comma(of(&r.Winnow)), recording.Comma(of(&r.Limit))}
	}
	return []tableRow{
		cost("prompts", func(o *outcome) float64 { return o.Requests }),
		cost("answers", func(o *outcome) float64 { return o.Answers }),
		cost("calls that write summaries", func(o *outcome) float64 { return o.Summaries }),
		cost("total", func(o *outcome) float64 { return o.Total() }),
		count("summary calls", func(o *outcome) int { return o.Calls }),
		count("requests that changed what was sent before, so that the cache behind it is lost",
			func(o *outcome) int { return o.Rewrites }),
		count("requests that do not fit", func(o *outcome) int { return o.Refused }),
		count("tokens of the largest request", func(o *outcome) int { return o.Peak }),
		count("names that an answer used and its request lacked", func(o *outcome) int { return o.Missing[aName] }),
		count("lines that an answer quoted and its request lacked", func(o *outcome) int { return o.Missing[aLine] }),
	}
}

// assumptions describes the assumptions behind the figures.
func (r *report) assumptions() string {
	c := &r.cache
	return fmt.Sprintf("Sizes are estimates. Of the price of an uncached token a cached one costs %.4g, "+
		"a written one %.4g, one of an answer %.4g; the cache lasts %g minutes and takes %s tokens or more. "+
		"System prompt and tools are the same in each request, and cached with it. Both hosts' summaries are the "+
		"digest's text, billed as a model's call whose prompt is not cached. Compacting at the limit means to send "+
		"everything until %s tokens of the window are left, and then to summarize all but the newest %s; a result "+
		"that is still too large is cut. The model has winnow's recall tool. The recording does not react: what is "+
		"read again because it was lost costs nothing here.",
		c.ReadPrice, c.WritePrice, r.outputPrice, c.TTL.Minutes(),
		recording.Comma(r.cacheTokens), recording.Comma(min(limitReserve, r.Window/4)),
		recording.Comma(min(limitKeep, r.Window/4)))
}
