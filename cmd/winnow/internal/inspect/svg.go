package inspect

import (
	"fmt"
	"io"
	"strings"
)

// The layout of the drawing, in its own units: a README shows it about as wide.
const (
	svgWidth, svgHeight   = 860, 334
	svgLeft, svgTop       = 46, 54 // of the plot
	svgPlotWide, svgPlotY = 800, 200
)

// WriteSVG replays a session and writes the chart of its context as a drawing, in light colours or in dark ones, as
// whoever looks at it prefers.
func WriteSVG(w io.Writer, in Input) (overflows int, err error) { return write(w, in, writeSVG) }

// colours returns what page.css says about colours and shapes.
func colours() string {
	css := source("page.css")
	roots, rest, _ := strings.Cut(css, "* {")
	var b strings.Builder
	b.WriteString(roots)
	for line := range strings.Lines(rest) {
		for _, part := range []string{".kind", "path.", ".rewrite"} {
			if strings.HasPrefix(line, part) {
				b.WriteString(line)
			}
		}
	}
	b.WriteString("path { vector-effect: non-scaling-stroke }\n" +
		"text { font: 12px system-ui, sans-serif; fill: var(--soft) } .head { font-size: 14px; fill: var(--ink) }\n" +
		".sign { font-size: 13px; fill: var(--mark); text-anchor: middle } .rule { stroke: var(--rule) }\n")
	return b.String()
}

// writeSVG writes numbers and words of its own alone, and nothing that stands in the session.
func writeSVG(w io.Writer, r *report) error {
	c := contextChart(r)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n",
		svgWidth, svgHeight, c.Label)
	fmt.Fprintf(&b, "<style>\n%s</style>\n", colours())
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="var(--paper)"/>`+"\n", svgWidth, svgHeight)
	fmt.Fprintf(&b, `<text class="head" x="%d" y="20">%s</text>`+"\n", svgLeft, r.headline())
	fmt.Fprintf(&b, `<text x="%d" y="38">Answers used %d names and %d quoted lines again. Their requests lacked %d `+
		`and %d; compacting at the limit, %d and %d.</text>`+"\n", svgLeft, r.Needed[aName], r.Needed[aLine],
		r.Winnow.Missing[aName], r.Winnow.Missing[aLine], r.Limit.Missing[aName], r.Limit.Missing[aLine])
	for _, t := range c.Ticks {
		y := svgTop + svgPlotY*percent(t.At)/100
		fmt.Fprintf(&b, `<path class="rule" d="M%d %.1fh%d"/>`, svgLeft, y, svgPlotWide)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", svgLeft-6, y+4, t.Label)
	}
	fmt.Fprintf(&b, `<svg x="%d" y="%d" width="%d" height="%d" viewBox="0 0 1000 200" preserveAspectRatio="none">`+"\n",
		svgLeft, svgTop, svgPlotWide, svgPlotY)
	for _, l := range append(c.Layers, c.Lines...) {
		fmt.Fprintf(&b, `<path class="%s" d="%s"/>`+"\n", l.Class, l.Path)
	}
	b.WriteString("</svg>\n")
	for _, t := range c.Turns {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`, svgLeft+svgPlotWide*percent(t.At)/100, svgTop+svgPlotY+16,
			t.Label)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">turn</text>`+"\n", svgLeft-6, svgTop+svgPlotY+16)
	for _, e := range c.Events {
		fmt.Fprintf(&b, `<text class="sign" x="%.1f" y="%d">%s</text>`, svgLeft+svgPlotWide*percent(e.At)/100,
			svgTop+svgPlotY+34, e.Sign)
	}
	b.WriteString("\n")
	legendSVG(&b, c)
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// legendSVG names the colours in two lines.
func legendSVG(b *strings.Builder, c chart) {
	const letter = 6.4 // about the width of one
	x, y := float64(svgLeft), svgHeight-28
	say := func(text string) {
		fmt.Fprintf(b, `<text x="%.0f" y="%d">%s</text>`+"\n", x+20, y, text)
		x += 34 + letter*float64(len(text))
	}
	for _, l := range c.Layers {
		fmt.Fprintf(b, `<rect class="%s" x="%.0f" y="%d" width="14" height="10"/>`, l.Class, x, y-9)
		say(l.Name)
	}
	x, y = svgLeft, svgHeight-10
	for _, l := range c.Lines {
		fmt.Fprintf(b, `<path class="%s" d="M%.0f %dh16"/>`, l.Class, x, y-4)
		say(l.Name)
	}
	for _, e := range signs(c.Events) {
		fmt.Fprintf(b, `<text class="sign" x="%.0f" y="%d">%s</text>`, x+7, y, e.Sign)
		say(e.Name)
	}
}

// percent reads the position of a tick.
func percent(at string) (v float64) {
	_, _ = fmt.Sscan(at, &v) // written by number
	return v
}
