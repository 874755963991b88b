package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/winnowgo/winnow/internal/recording"
)

// The drawing area of a chart, in units of its own; the page scales it.
const (
	chartWidth, chartHeight = 1_000.0, 260.0
	plotLeft, plotRight     = 62.0, 990.0
	plotTop, plotBottom     = 12.0, 226.0
)

// chart is what the template draws. All of it is numbers, but for Titles.
type chart struct {
	Label   string
	Layers  []layer
	Lines   []layer
	Ticks   []tick // of the vertical axis
	Turns   []tick // of the horizontal one
	Epochs  []mark
	Compact []mark
	Columns []column
}

// layer is a shape of one colour.
type layer struct{ Class, Name, Path string }

type tick struct {
	At    string
	Label string
}

type mark struct{ X, Points string }

// column is what shows a request's figures under the pointer.
type column struct {
	Number          int
	X, Width, Title string
}

// scale places requests and amounts.
type scale struct {
	requests int
	most     float64
}

func (s scale) x(i int) float64 {
	return plotLeft + (plotRight-plotLeft)*float64(i)/float64(s.requests)
}

func (s scale) y(amount float64) float64 {
	return plotBottom - (plotBottom-plotTop)*min(1, max(0, amount/s.most))
}

// number writes a coordinate.
func number(v float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}

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
	return fmt.Sprintf("M%s %sH%s", number(plotLeft), number(s.y(amount)), number(plotRight))
}

// ticks are about four round amounts.
func (s scale) ticks() (out []tick) {
	step := math.Pow(10, math.Floor(math.Log10(s.most/4)))
	for _, f := range []float64{5, 2, 1} {
		if s.most/(step*f) >= 3 {
			step *= f
			break
		}
	}
	step = max(1, step)
	for v := 0.0; v <= s.most; v += step {
		out = append(out, tick{number(s.y(v)), short(v)})
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

// contextChart is what each request consists of, in its window.
func contextChart(r *report) chart {
	s := scale{len(r.Requests), float64(r.Window)}
	c := chart{Label: "What each request consists of, in tokens", Ticks: s.ticks(), Turns: turnTicks(r, s), Columns: columnsOf(r, s)}
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
		{"history", "the whole history", s.steps(func(i int) float64 { return float64(r.Requests[i].History) })},
		{"budget", "what a request may have", s.level(float64(r.Budget))},
	}
	for i := range r.Requests {
		x := s.x(i)
		if q := &r.Requests[i]; q.Summary != nil {
			c.Compact = append(c.Compact, mark{number(x), points(x, plotBottom+2, -4, 5, 0, 10, 4, 5)})
		} else if q.Epoch {
			c.Epochs = append(c.Epochs, mark{number(x), points(x, plotBottom+2, -4, 9, 4, 9)})
		}
	}
	return c
}

// points is a polygon that begins at x, y and has its other corners so far from there.
func points(x, y float64, corners ...float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s,%s", number(x), number(y))
	for i := 0; i < len(corners); i += 2 {
		fmt.Fprintf(&b, " %s,%s", number(x+corners[i]), number(y+corners[i+1]))
	}
	return b.String()
}

// cacheChart is what of each request the provider is expected to have in its cache.
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
	c := chart{Label: "Cached and written tokens of each request", Ticks: s.ticks(), Turns: turnTicks(r, s), Columns: columnsOf(r, s)}
	c.Layers = shown(layer{"cached", "cached", s.area(func(int) float64 { return 0 }, cached)}, layer{"written", "written", s.area(cached, sent)})
	return c
}

// costChart is the cost of all requests so far.
func costChart(r *report) chart {
	s := scale{len(r.Requests), max(1, r.Cost, r.Unedited)}
	c := chart{Label: "Cost of all requests so far", Ticks: s.ticks(), Turns: turnTicks(r, s), Columns: columnsOf(r, s)}
	c.Lines = []layer{
		{"unmanaged", "no management", s.steps(func(i int) float64 { return r.Requests[i].SoFarElse })},
		{"managed", "winnow", s.steps(func(i int) float64 { return r.Requests[i].SoFar })},
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

// leastGap is how far apart the labels of turns have to be.
const leastGap = 26

func turnTicks(r *report, s scale) (out []tick) {
	last := math.Inf(-1)
	for n, t := range r.Turns {
		x := s.x(t.First - 1)
		if t.First > len(r.Requests) || x-last < leastGap {
			continue
		}
		last = x
		out = append(out, tick{number(x), fmt.Sprint(n + 1)})
	}
	return out
}

func columnsOf(r *report, s scale) []column {
	out := make([]column, len(r.Requests))
	width := number(s.x(1) - s.x(0))
	for i := range r.Requests {
		q := &r.Requests[i]
		out[i] = column{q.Number, number(s.x(i)), width, q.title()}
	}
	return out
}

// title is all about a request in one line.
func (q *request) title() string {
	if q.Error != "" {
		return fmt.Sprintf("request %d does not fit", q.Number)
	}
	parts := []string{fmt.Sprintf("request %d: %s tokens", q.Number, recording.Comma(q.Tokens))}
	for kind, n := range q.Kinds {
		if n > 0 {
			parts = append(parts, kindNames[kind]+" "+recording.Comma(n))
		}
	}
	parts = append(parts, "cached "+recording.Comma(q.Cached), "cost "+whole(q.Cost)+", unmanaged "+whole(q.Unedited))
	if q.Pause >= 5*time.Minute {
		parts = append(parts, "after a pause of "+recording.Count(int(q.Pause.Minutes()), "minute"))
	}
	return strings.Join(parts, " · ")
}
