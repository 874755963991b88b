package inspect

import (
	"cmp"
	"fmt"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// Summary is the result of a replay in numbers. Tokens are estimates; costs are in dollars or, if no price is known, in
// millions of uncached tokens.
type Summary struct {
	Name     string         `json:"name"`
	Messages int            `json:"messages"`
	Turns    int            `json:"turns"`
	Requests int            `json:"requests"`
	Last     time.Time      `json:"last,omitzero"` // time of the last message
	Window   int            `json:"window"`
	History  int            `json:"history"`  // tokens of the whole history
	Filled   map[string]int `json:"filledBy"` // History by kind
	Tools    map[string]int `json:"tools"`    // results in History by tool: the five largest
	Sent     int            `json:"sent"`     // tokens of all requests
	Cached   int            `json:"cached"`   // of Sent, expected to be read from the cache
	Refused  int            `json:"refused"`  // requests that do not fit
	Model    string         `json:"model,omitempty"`
	Overhead int            `json:"overhead"` // tokens of the system prompt and the tools in each request

	Needed       map[string]int `json:"needed"`  // what answers used again
	Missing      map[string]int `json:"missing"` // of these, what winnow's requests lacked
	MissingLimit map[string]int `json:"missingAtTheLimit"`
	Recallable   map[string]int `json:"recallable"` // of Missing, what the recall tool shows

	Cost       float64       `json:"cost"`           // of prompts and answers, with winnow
	CostLimit  float64       `json:"costAtTheLimit"` // the same of a host that compacts at the limit
	Against    float64       `json:"against"`        // what Cost is compared with: the file's bill, or else CostLimit
	Summaries  float64       `json:"summaries"`      // what is assumed for calls that write summaries, with winnow
	SumsLimit  float64       `json:"summariesAtTheLimit"`
	Billed     *winnow.Usage `json:"billed,omitempty"` // when it was recorded; nil: unknown
	CostBilled float64       `json:"costBilled,omitempty"`
	Compared   int           `json:"compared"` // requests that Cost and Against are of
	HasPrice   bool          `json:"hasPrice"` // costs are in dollars
	// requests that were billed at a price that nobody knows; where none was at another, the model's usual price counts
	Unpriced int `json:"unpriced,omitempty"`
}

func (c counts) byName() map[string]int { return map[string]int{"names": c[aName], "lines": c[aLine]} }

// Summarize replays a session.
func Summarize(in Input) (*Summary, error) {
	r, err := newReport(in)
	if err != nil {
		return nil, err
	}
	s := &Summary{
		Name: r.Name, Messages: r.Messages, Turns: len(r.Turns), Requests: len(r.Requests), Window: r.Window,
		Last:    r.Last,
		History: r.Filled.Tokens, Filled: map[string]int{}, Tools: map[string]int{},
		Sent: r.Tokens, Cached: r.Cached, Refused: r.Overflows,
		Model: r.Model, Overhead: *r.Overhead, Needed: r.Needed.byName(), Missing: r.Winnow.Missing.byName(),
		MissingLimit: r.Limit.Missing.byName(), Recallable: r.Recallable.byName(),
		Cost: r.ours(), CostLimit: dollars(r.Limit.Total(), r.Price),
		Summaries: dollars(r.Winnow.Summaries, r.Price), SumsLimit: dollars(r.Limit.Summaries, r.Price),
		Against: r.theirs(), Compared: len(r.Requests), HasPrice: r.HasPrice(),
		Unpriced: r.Recorded.Unknown.sum(),
	}
	for _, k := range r.Filled.Kinds {
		s.Filled[k.Name] = k.Tokens
	}
	for _, t := range r.Filled.Tools {
		s.Tools[t.Name] = t.Tokens
	}
	if n := r.Recorded.Calls; n > 0 {
		s.Compared = n
	}
	if len(in.Session.Calls) > 0 {
		p := r.paid()
		s.Billed, s.CostBilled = &p.Usage, p.Dollars
	}
	return s, nil
}

// Add adds another session, to what a table sums up.
func (s *Summary) Add(o *Summary) {
	s.Requests += o.Requests
	s.Refused += o.Refused
	s.Unpriced += o.Unpriced
	if o.HasPrice {
		s.HasPrice = true
		s.Cost, s.CostLimit, s.Against = s.Cost+o.Cost, s.CostLimit+o.CostLimit, s.Against+o.Against
	}
	for _, m := range []struct{ into, from *map[string]int }{
		{&s.Needed, &o.Needed}, {&s.Missing, &o.Missing}, {&s.MissingLimit, &o.MissingLimit},
		{&s.Recallable, &o.Recallable},
	} {
		if *m.into == nil {
			*m.into = map[string]int{}
		}
		for kind, n := range *m.from {
			(*m.into)[kind] += n
		}
	}
}

// Row is the session in a table: requests, window, what was billed or would cost at the limit, what it costs with
// winnow, their difference, what was lost by either, and of what winnow lost what its recall tool finds.
func (s *Summary) Row(name, last string) []string {
	window, needed := "", recording.Comma(s.Needed["names"]+s.Needed["lines"])
	if s.Window > 0 {
		window = recording.Comma(s.Window)
	}
	lost := func(missing map[string]int) string {
		return fmt.Sprintf("%s of %s", recording.Comma(missing["names"]+missing["lines"]), needed)
	}
	change := cmp.Or(percentMore(s.Cost, s.Against), "as much")
	if s.Refused > 0 {
		change = recording.Count(s.Refused, "request") + " too large"
	}
	against, cost := "no price", "no price"
	if s.HasPrice {
		against, cost = money(s.Against), money(s.Cost)
	}
	return []string{
		name, last, recording.Comma(s.Requests), window, against, cost, change,
		lost(s.Missing), recording.Comma(s.Recallable["names"] + s.Recallable["lines"]), lost(s.MissingLimit),
	}
}
