package inspect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

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

// Total is the cost of prompts and answers. What summaries cost is assumed, and never added to it.
func (o outcome) Total() float64 { return o.Requests + o.Answers }

// scribe writes summaries instead of a model: the digest gives the text, and the call is billed like a model's.
type scribe struct {
	estimator winnow.Estimator
	basis     *Basis
	into      *outcome
}

func (s scribe) Summarize(ctx context.Context, req winnow.SummaryRequest) (string, error) {
	text, err := winnow.Digest().Summarize(ctx, req)
	s.into.Calls++
	asked := s.tokens(req.System()) + s.tokens(req.Prompt())
	s.into.Summaries += s.basis.cost(winnow.Usage{Input: asked, Output: s.tokens(text)})
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

// headline returns one sentence that compares prompts and answers at today's prices: with the bill in the file, or with
// a host that compacts at the limit. It says of how many requests the file has a bill without a known price: they are
// not in what was billed, and where nothing else was, the usual price of the model is nobody's bill.
func (r *report) headline() string {
	b := &r.Recorded
	if len(b.Unknown) == 0 {
		return r.compared()
	}
	said, usual := r.compared(), ""
	if b.Calls == 0 {
		usual = ", at the price of " + Plain(r.Model)
	}
	return fmt.Sprintf("%s%s; no price is known for %s", said, usual, b.Unknown.each("request"))
}

// compared is the headline without what it leaves out.
func (r *report) compared() string {
	b := &r.Recorded
	change := percentMore(r.ours(), r.theirs())
	cost, elsewhere, refused := r.amount(r.Winnow.Total()), r.amount(r.Limit.Total()), r.Limit.Refused
	if b.Calls > 0 {
		cost, elsewhere, refused = money(r.ours()), money(r.theirs())+" that was billed", 0
		if b.Calls < len(r.Requests) {
			elsewhere += fmt.Sprintf(" for %s of %s", recording.Comma(b.Calls),
				recording.Count(len(r.Requests), "request"))
		}
	} else {
		elsewhere += " compacting at the limit"
	}
	cost += " with winnow"
	switch {
	case r.Winnow.Refused > 0 || refused > 0:
		return fmt.Sprintf("%s and %s, which is no comparison: %s and %s do not fit",
			cost, elsewhere, recording.Count(r.Winnow.Refused, "request"), recording.Count(refused, "request"))
	case change == "":
		return fmt.Sprintf("%s: as much as %s", cost, elsewhere)
	case b.Calls > 0 && math.Abs(r.ours()-r.theirs()) < math.Abs(b.unexplained()):
		return fmt.Sprintf("%s and %s: they differ by less than what the model of the cache cannot explain", cost,
			elsewhere)
	}
	return fmt.Sprintf("%s: %s than %s", cost, change, elsewhere)
}

// ours is what winnow is compared by, in dollars: beside the bill in the file its answers cost what was billed.
func (r *report) ours() float64 {
	if b := &r.Recorded; b.Calls > 0 {
		return b.WithWinnow() + b.Answers
	}
	return dollars(r.Winnow.Total(), r.Price)
}

// theirs is what winnow is compared with: the bill in the file, or else a host that compacts at the limit.
func (r *report) theirs() float64 {
	if b := &r.Recorded; b.Calls > 0 {
		return b.Prompts + b.Answers
	}
	return dollars(r.Limit.Total(), r.Price)
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

// parts says what the figures of the headline consist of.
func (r *report) parts() string {
	w, l := &r.Winnow, &r.Limit
	if b := &r.Recorded; b.Calls > 0 {
		beside := ""
		if n := len(r.Source.Calls) - b.Calls - b.Unknown.sum(); n > 0 {
			beside = fmt.Sprintf(" Not in it: %s for %s that the file counts beside these requests.",
				money(r.paid().Dollars-b.Prompts-b.Answers), recording.Count(n, "call"))
		}
		return fmt.Sprintf("Of that, prompts %s against %s (%s), and answers %s, as billed.%s The figures below are "+
			"of the text in the file alone.", money(b.WithWinnow()), money(b.Prompts),
			cmp.Or(percentMore(b.WithWinnow(), b.Prompts), "as much"), money(b.Answers), beside)
	}
	answers := r.amount(w.Answers) + " for either"
	if math.Abs(w.Answers-l.Answers) > 1e-6*w.Answers {
		answers = r.amount(w.Answers) + " against " + r.amount(l.Answers)
	}
	return fmt.Sprintf("Of that, prompts %s (%s), and answers %s.", r.amount(w.Requests)+" against "+
		r.amount(l.Requests), cmp.Or(percentMore(w.Requests, l.Requests), "as much"), answers)
}

// summaries says what calls would cost that write summaries, "" if there are none.
func (r *report) summaries() string {
	var each []string
	for _, of := range []struct {
		*outcome
		host string
	}{{&r.Winnow, "with winnow"}, {&r.Limit, "compacting at the limit"}} {
		if of.Calls > 0 {
			each = append(each, fmt.Sprintf("%s in %s %s", r.amount(of.Summaries), recording.Count(of.Calls, "call"),
				of.host))
		}
	}
	if len(each) == 0 {
		return ""
	}
	return fmt.Sprintf("Not in these figures, because its price is assumed: to write summaries, %s.",
		strings.Join(each, " against "))
}

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

// table compares costs and results. What is nothing for both is left out.
func (r *report) table() []tableRow {
	zero := func(row tableRow) bool {
		return row.Winnow == row.Limit && (row.Winnow == "0" || row.Winnow == money(0))
	}
	cost := func(name string, of func(o *outcome) float64) tableRow {
		if !r.HasPrice() {
			return tableRow{name + ", in uncached tokens", whole(of(&r.Winnow)), whole(of(&r.Limit))}
		}
		return tableRow{name, r.amount(of(&r.Winnow)), r.amount(of(&r.Limit))}
	}
	count := func(name string, of func(o *outcome) int) tableRow {
		return tableRow{name, recording.Comma(of(&r.Winnow)), recording.Comma(of(&r.Limit))}
	}
	return slices.DeleteFunc([]tableRow{
		cost("prompts", func(o *outcome) float64 { return o.Requests }),
		cost("answers", func(o *outcome) float64 { return o.Answers }),
		cost("together", func(o *outcome) float64 { return o.Total() }),
		cost("calls that write summaries, whose price is assumed", func(o *outcome) float64 { return o.Summaries }),
		count("summary calls", func(o *outcome) int { return o.Calls }),
		count("requests that changed what was sent before, so that the cache behind it is lost",
			func(o *outcome) int { return o.Rewrites }),
		count("requests that do not fit", func(o *outcome) int { return o.Refused }),
		count("tokens of the largest request", func(o *outcome) int { return o.Peak }),
		count("names that an answer used and its request lacked", func(o *outcome) int { return o.Missing[aName] }),
		count("lines that an answer quoted and its request lacked", func(o *outcome) int { return o.Missing[aLine] }),
	}, zero)
}

// assumptions describes the assumptions behind the figures.
func (r *report) assumptions() string {
	c := &r.cache
	return fmt.Sprintf("Sizes are estimates. Prices are today's. %sOf the price of an uncached token a cached "+
		"one costs %.4g, a written one %.4g, one of an answer %.4g; the cache lasts %g minutes and takes %s tokens or "+
		"more. System prompt and tools are the same in each request, and cached with it. Both hosts' summaries are "+
		"the digest's text, billed as a model's call whose prompt is not cached. Compacting at the limit means to "+
		"send everything until %s tokens of the window are left, and then to summarize all but the newest %s; a "+
		"result that is still too large is cut. The model has winnow's recall tool, which makes no difference here: a "+
		"host need not offer it. The recording does not react: what is read again because it was lost costs nothing "+
		"here.", r.tiers(), c.ReadPrice, c.WritePrice, r.prices.Output, c.TTL.Minutes(), recording.Comma(r.cacheTokens),
		recording.Comma(min(limitReserve, r.Window/4)), recording.Comma(min(limitKeep, r.Window/4)))
}

// tiers says above which sizes a request costs more.
func (r *report) tiers() string {
	var b strings.Builder
	for _, t := range r.prices.Tiers {
		fmt.Fprintf(&b, "A request of more than %s tokens costs %.3g times as much. ", recording.Comma(t.Above),
			t.Uncached)
	}
	return b.String()
}
