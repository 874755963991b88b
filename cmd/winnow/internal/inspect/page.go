package inspect

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// page.js moves the cursor and opens rows. The page is readable without it.
//
//go:embed page.html page.css page.js
var sources embed.FS

func source(name string) string {
	data, err := sources.ReadFile(name)
	if err != nil {
		panic(err) // embedded under a constant name
	}
	return string(data)
}

// policy is the page's content security policy: no network, and no script but the page's own.
func policy() string {
	sum := sha256.Sum256([]byte(source("page.js")))
	own := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	return "default-src 'none'; style-src 'unsafe-inline'; script-src " + own
}

// shownMessages is how many edited messages of one kind a request lists.
const shownMessages = 40

// page compiles the template. It escapes everything that comes from the session; only the page's own script and style
// are marked as safe.
func page() (*template.Template, error) {
	return template.New("page").Funcs(template.FuncMap{
		"comma":   recording.Comma,
		"gone":    isGone,
		"dated":   dated,
		"title":   func(q request, b Basis) string { return q.title(&b) },
		"script":  func() template.JS { return template.JS(source("page.js")) },
		"style":   func() template.CSS { return template.CSS(source("page.css")) },
		"policy":  policy,
		"figures": figuresOf,
		"signs":   signs,
		"absent":  absent,
		"percent": recording.Percent,
		"count":   recording.Count,
		"past":    recording.Past,
		"pause":   pauseNote,
		"first":   func(m []edited) []edited { return m[:min(len(m), shownMessages)] },
		"more":    func(m []edited) int { return max(0, len(m)-shownMessages) },
		"legend":  func(c chart) []layer { return append(append([]layer(nil), c.Layers...), c.Lines...) },
	}).Parse(source("page.html"))
}

// writePage writes the report as one HTML page that makes no network requests.
func writePage(w io.Writer, r *report) error {
	t, err := page()
	if err != nil {
		return err
	}
	return t.Execute(w, struct {
		*report
		Charts      []namedChart
		PerTurn     []turnRequests
		Headline    string
		Parts       string
		Summaries   string
		Losses      string
		Verbatim    string
		Other       string
		Assumptions string
		Table       []tableRow
	}{r, []namedChart{
		{"Context", "What each request consists of. The dotted line is the whole history, cut off where it is larger " +
			"than the window. Records are lines that stand for old steps.", contextChart(r)},
		{"Prompt cache", "What the provider is expected to read from its cache, and what it writes to it; what is " +
			"too short to be cached counts as written.", cacheChart(r)},
		{"Cost", "Of all requests so far, with their answers, at today's prices.", costChart(r)},
	}, perTurn(r), r.headline(), r.parts(), r.summaries(), r.losses(), r.verbatim(), other, r.assumptions(), r.table()})
}

// dated says when a session was recorded.
func dated(first, last time.Time) string {
	switch {
	case first.IsZero():
		return "undated"
	case first.UTC().Format(time.DateOnly) == last.UTC().Format(time.DateOnly):
		return first.UTC().Format("2 January 2006, 15:04") + last.UTC().Format("–15:04 UTC")
	}
	return first.UTC().Format("2 January 2006") + last.UTC().Format(" – 2 January 2006")
}

// figures are the numbers in a request's row.
type figures struct {
	Number, Tokens, Cached int
	Cost, SoFar            string
}

func figuresOf(q request, b Basis) figures {
	if !b.HasPrice() {
		return figures{q.Number, q.Tokens, q.Cached, whole(q.Cost), whole(q.SoFar)}
	}
	return figures{q.Number, q.Tokens, q.Cached, b.amount(q.Cost), b.amount(q.SoFar)}
}

// isGone reports whether nothing of a message is sent in its own place.
func isGone(e edited) bool { return e.Is == "" }

// absent returns the text shown instead of one that is no longer sent.
func absent(op winnow.Op) string {
	switch op {
	case winnow.OpCompact:
		return "(not sent: the summary stands for it)"
	case winnow.OpFold:
		return "(not sent: a record stands for it)"
	}
	return "(not sent)"
}

// signs returns each kind of mark in a chart once.
func signs(events []event) (out []event) {
	for _, e := range events {
		if !slices.ContainsFunc(out, func(o event) bool { return o.Class == e.Class }) {
			out = append(out, e)
		}
	}
	return out
}

type namedChart struct {
	Title, Note string
	Chart       chart
}

// turnRequests are the requests of one turn.
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

// Calm reports whether messages were only appended.
func (q request) Calm() bool { return q.isCalm() }
