package main

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/winnowgo/winnow/internal/recording"
)

//go:embed page.html
var pageSource string

// shownMessages is how many edited messages of one kind a request lists.
const shownMessages = 40

// page is compiled when it is asked for. The template escapes all that comes from the session; nothing in it
// is ever marked as safe.
func page() (*template.Template, error) {
	return template.New("page").Funcs(template.FuncMap{
		"comma":   recording.Comma,
		"whole":   whole,
		"percent": recording.Percent,
		"count":   recording.Count,
		"past":    recording.Past,
		"pause":   pauseNote,
		"ratio":   func(a, b float64) string { return recording.Percent(int(a), int(b)) },
		"first":   func(m []edited) []edited { return m[:min(len(m), shownMessages)] },
		"more":    func(m []edited) int { return max(0, len(m)-shownMessages) },
		"legend":  func(c chart) []layer { return append(append([]layer(nil), c.Layers...), c.Lines...) },
	}).Parse(pageSource)
}

// writePage writes the report as one HTML page without scripts, fonts, images or links to elsewhere.
func writePage(w io.Writer, r *report) error {
	t, err := page()
	if err != nil {
		return err
	}
	return t.Execute(w, struct {
		*report
		Charts  []namedChart
		PerTurn []turnRequests
	}{r, []namedChart{
		{"Context", "What each request consists of. The dashed line is what a request may have, the dotted one is the whole history, cut off where it is larger than the window.", contextChart(r)},
		{"Prompt cache", "What the provider is expected to read from its cache, and what it writes to it; what is too short to be cached counts as written.", cacheChart(r)},
		{"Cost", "Of all requests so far, in tokens at the uncached price; without answers and without the calls that write summaries.", costChart(r)},
	}, perTurn(r)})
}

type namedChart struct {
	Title, Note string
	Chart       chart
}

// turnRequests is the requests of one turn.
type turnRequests struct {
	Number   int // 0: before the first turn
	Text     string
	Requests []request
}

func perTurn(r *report) (out []turnRequests) {
	for i := range r.Requests {
		q := &r.Requests[i]
		if n := len(out); n == 0 || out[n-1].Number != q.Turn {
			t := turnRequests{Number: q.Turn}
			if q.Turn > 0 {
				t.Text = r.Turns[q.Turn-1].Text
			}
			out = append(out, t)
		}
		last := &out[len(out)-1]
		last.Requests = append(last.Requests, *q)
	}
	return out
}

// Calm says that messages were only appended.
func (q request) Calm() bool { return q.isCalm() }
