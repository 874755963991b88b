package inspect

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/winnowgo/winnow/internal/test/recording"
)

// The drawing area of a chart. The page stretches it to its own width and height. Labels and marks of events are
// outside of it, so that they have the same size on every screen.
const plotWidth, plotHeight = 1_000.0, 200.0

// chart is what the template draws.
type chart struct {
	Label  string
	Layers []layer
	Lines  []layer
	Ticks  []tick // of the vertical axis
	Turns  []tick // of the horizontal one
	Events []event
}

// layer is a shape of one colour.
type layer struct{ Class, Name, Path string }

// tick is a label at a percentage of the drawing area, from the left or from the top.
type tick struct {
	At    string
	Label string
	Wide  bool // shown only on a wide screen
}

// event is a request that rewrote sent messages, or did not fit.
type event struct {
	Number            int
	At                string // percentage from the left
	Class, Sign, Name string
}

// scale places requests and amounts.
type scale struct {
	requests int
	most     float64
}

func (s scale) x(i int) float64 { return plotWidth * float64(i) / float64(s.requests) }

func (s scale) y(amount float64) float64 {
	return plotHeight * (1 - min(1, max(0, amount/s.most)))
}

// number writes a coordinate.
func number(v float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}

// percentage returns the position of x in the drawing area.
func percentage(x, whole float64) string { return number(100 * x / whole) }

// area is the outline of steps between two amounts of each request.
func (s scale) area(low, high func(i int) float64) string {
	var b strings.Builder
	empty := true
	for i := range s.requests {
		if high(i) > low(i) {
			empty = false
		}
	}
	if empty {
		return ""
	}
	fmt.Fprintf(&b, "M%s %s", number(s.x(0)), number(s.y(high(0))))
	for i := range s.requests {
		fmt.Fprintf(&b, "V%sH%s", number(s.y(high(i))), number(s.x(i+1)))
	}
	for i := s.requests - 1; i >= 0; i-- {
		fmt.Fprintf(&b, "V%sH%s", number(s.y(low(i))), number(s.x(i)))
	}
	return b.String() + "Z"
}

// steps is a line through an amount of each request.
func (s scale) steps(amount func(i int) float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M%s %s", number(s.x(0)), number(s.y(amount(0))))
	for i := range s.requests {
		fmt.Fprintf(&b, "V%sH%s", number(s.y(amount(i))), number(s.x(i+1)))
	}
	return b.String()
}

// level is a line across the chart.
func (s scale) level(amount float64) string {
	return fmt.Sprintf("M%s %sH%s", number(0), number(s.y(amount)), number(plotWidth))
}

// ticks are about four round amounts.
func (s scale) ticks(write func(float64) string) (out []tick) {
	step := math.Pow(10, math.Floor(math.Log10(s.most/4)))
	for _, f := range []float64{5, 2, 1} {
		if s.most/(step*f) >= 3 {
			step *= f
			break
		}
	}
	for n := 0.0; n*step <= s.most; n++ {
		out = append(out, tick{At: percentage(s.y(n*step), plotHeight), Label: write(n * step)})
	}
	return out
}

// short writes an amount for an axis.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v/1e6), ".0") + "M"
	case v >= 1e3:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v/1e3), ".0") + "k"
	}
	return fmt.Sprint(v)
}

// inTokens writes an amount of tokens for an axis.
func inTokens(v float64) string {
	if v == 0 {
		return "0"
	}
	return short(v) + " tok"
}

// contextChart shows the parts of each request in its window.
func contextChart(r *report) chart {
	s := scale{len(r.Requests), r.scale()}
	c := chart{
		Label: "What each request consists of, in tokens",
		Ticks: s.ticks(inTokens), Turns: turnTicks(r, s), Events: events(r, s),
	}
	upTo := func(i, kind int) (n float64) {
		for _, k := range r.Requests[i].Kinds[:kind] {
			n += float64(k)
		}
		return n
	}
	for kind, name := range kindNames {
		path := s.area(func(i int) float64 { return upTo(i, kind) }, func(i int) float64 { return upTo(i, kind+1) })
		if path != "" {
			c.Layers = append(c.Layers, layer{fmt.Sprint("kind", kind), name, path})
		}
	}
	c.Lines = []layer{
		{"history", "the whole history", s.steps(func(i int) float64 {
			return float64(r.Requests[i].History + *r.Overhead)
		})},
	}
	if float64(r.Budget) <= s.most {
		c.Lines = append(c.Lines, layer{"budget", "what a request may have", s.level(float64(r.Budget))})
	}
	if len(r.Compacted) > 0 {
		path := ""
		for _, n := range r.Compacted {
			path += fmt.Sprintf("M%s 0V%s", number(s.x(n-1)), number(plotHeight))
		}
		c.Lines = append(c.Lines, layer{"recorded", "the recording host compacted", path})
	}
	return c
}

// scale is the amount at the top of the context chart: what was needed, and at most the window.
func (r *report) scale() float64 {
	const air = 1.1
	most := 1
	for i := range r.Requests {
		q := &r.Requests[i]
		most = max(most, q.Tokens, q.History+*r.Overhead)
	}
	return min(float64(r.Window), air*float64(most))
}

// events are the marks under the context chart.
func events(r *report, s scale) (out []event) {
	for i := range r.Requests {
		q := &r.Requests[i]
		e := event{Number: q.Number, At: percentage(s.x(i)+s.x(1)/2, plotWidth)}
		switch {
		case q.Error != "":
			e.Class, e.Sign, e.Name = "refused", "✕", "does not fit"
		case q.Summary != nil:
			e.Class, e.Sign, e.Name = "compaction", "◆", "compaction"
		case q.Epoch:
			e.Class, e.Sign, e.Name = "rewrite", "▲", "rewrite"
		default:
			continue
		}
		out = append(out, e)
	}
	return out
}

// cacheChart shows which part of each request is expected to be in the provider's cache.
func cacheChart(r *report) chart {
	s := scale{requests: len(r.Requests), most: 1}
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Error == "" {
			s.most = max(s.most, float64(q.Tokens))
		}
	}
	cached := func(i int) float64 { return float64(r.Requests[i].Cached) }
	sent := func(i int) float64 {
		if r.Requests[i].Error != "" {
			return 0
		}
		return float64(r.Requests[i].Tokens)
	}
	c := chart{Label: "Cached and written tokens of each request", Ticks: s.ticks(inTokens), Turns: turnTicks(r, s)}
	c.Layers = shown(
		layer{"cached", "cached", s.area(func(int) float64 { return 0 }, cached)},
		layer{"written", "written", s.area(cached, sent)},
	)
	return c
}

// costChart shows the cost of all requests so far.
func costChart(r *report) chart {
	last := &r.Requests[len(r.Requests)-1]
	of := func(cost float64) float64 { return dollars(cost, r.Price) }
	whole := func(i int) float64 { return of(r.Requests[i].SoFarElse) }
	s := scale{len(r.Requests), max(1e-6, of(last.SoFar), of(last.SoFarElse), of(last.SoFarLimit))}
	unit, format := "dollars", "$%.3g"
	if !r.HasPrice() {
		unit, format = "millions of uncached tokens", "%.3g M"
	}
	c := chart{Label: "Cost of all requests so far, in " + unit, Turns: turnTicks(r, s)}
	c.Ticks = s.ticks(func(v float64) string { return fmt.Sprintf(format, v) })
	c.Lines = []layer{
		{"unmanaged", "the whole history, in any window", s.steps(whole)},
		{"atlimit", "compacting at the limit", s.steps(func(i int) float64 { return of(r.Requests[i].SoFarLimit) })},
		{"managed", "winnow", s.steps(func(i int) float64 { return of(r.Requests[i].SoFar) })},
	}
	return c
}

func shown(layers ...layer) (out []layer) {
	for _, l := range layers {
		if l.Path != "" {
			out = append(out, l)
		}
	}
	return out
}

// The minimum distance between labels of turns, in percent of the width: two digits of 12 px on a wide screen, and on
// one of 390 px.
const leastGap, leastNarrowGap = 2.5, 7.5

func turnTicks(r *report, s scale) (out []tick) {
	last, lastNarrow := math.Inf(-1), math.Inf(-1)
	for n, t := range r.Turns {
		x := 100 * s.x(t.First-1) / plotWidth
		if t.First > len(r.Requests) || x-last < leastGap {
			continue
		}
		last = x
		isWide := x-lastNarrow < leastNarrowGap
		if !isWide {
			lastNarrow = x
		}
		out = append(out, tick{number(x), fmt.Sprint(n + 1), isWide})
	}
	return out
}

// title describes a request in one line.
func (q *request) title(b *Basis) string {
	if q.Error != "" {
		return fmt.Sprintf("request %d does not fit", q.Number)
	}
	parts := []string{fmt.Sprintf("request %d: %s tokens", q.Number, recording.Comma(q.Tokens))}
	for kind, n := range q.Kinds {
		if n > 0 {
			parts = append(parts, kindNames[kind]+" "+recording.Comma(n))
		}
	}
	parts = append(parts, "cached "+recording.Comma(q.Cached),
		"so far "+b.amount(q.SoFar)+", compacting at the limit "+b.amount(q.SoFarLimit))
	if q.Pause >= 5*time.Minute {
		parts = append(parts, "after a pause of "+recording.Count(int(q.Pause.Minutes()), "minute"))
	}
	return strings.Join(parts, " · ")
}
