package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
	"github.com/winnowgo/winnow/internal/test/wire"
)

// replayer is a host of winnow that has no model: it prints what it would send to one.
type replayer struct {
	io.Writer
	window    int
	estimator winnow.Estimator
	clock     time.Time
	known     int               // messages of the history that were read
	history   int               // tokens of them
	sent      int               // messages of the last request
	edits     map[winnow.Op]int // of it
	calm      string            // its line, which is printed if the next one has news
	summary   string            // the newest

	tokens, cached, whole int // of all requests together; whole: if each had the whole history
	hopeless              int // requests that would not fit then
}

// replay sends every request of a recorded session through a manager. The error says that one does not fit, or that a
// provider would refuse it.
func replay(w io.Writer, history []winnow.Message, window int) error {
	requests, err := recording.Requests(history)
	if err != nil {
		return err
	}
	r := &replayer{Writer: w, window: window}
	if r.estimator, err = winnow.NewEstimator(""); err != nil {
		return err
	}
	m, err := winnow.New(window, &winnow.Options{Estimator: r.estimator, Now: func() time.Time { return r.clock }})
	if err != nil {
		return err
	}
	fmt.Fprintf(r, head, len(history), len(requests), recording.Comma(window))
	var refused error
	for i, q := range requests {
		r.read(q)
		request, err := m.Prepare(context.Background(), q.History)
		if errors.Is(err, winnow.ErrOverflow) {
			refused = fmt.Errorf("request %d: %w", i+1, err)
			r.hopeless++
			r.print(fmt.Sprintf("%8d %8s  DOES NOT FIT", i+1, recording.Comma(r.history)))
			continue
		}
		if err == nil {
			err = wire.Rules{}.Check(request.Messages)
		}
		if err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
		r.show(i+1, request)
	}
	r.print("")
	r.end(len(requests))
	return refused
}

const head = `%d messages and %d requests to the model, in a window of %s tokens.
The bars are the window: █ sent as it was, f records of old steps, S summary, · free, | the end of
the budget. Cached is what the provider is expected to read from its cache. Of the requests that
only append, a line has the last.

 request  history     sent cached  window
`

// read looks at the messages that the last request did not have.
func (r *replayer) read(q recording.Request) {
	pause := ""
	if d := q.At.Sub(r.clock); r.known > 0 && d >= 5*time.Minute { // what was cached is gone
		pause = fmt.Sprintf(" (%d minutes later)", int(d.Minutes()))
	}
	r.clock = q.At
	for ; r.known < len(q.History); r.known++ {
		m := &q.History[r.known]
		r.history += r.estimator.Estimate(*m)
		if recording.BeginsTurn(m) {
			r.print("\n" + recording.Clip("user"+pause+": "+recording.OneLine(recording.Text(m)), 99))
		}
	}
	r.whole += r.history
}

// print prints a line behind that of the last request, if that one was calm.
func (r *replayer) print(line string) {
	for _, l := range []string{r.calm, line} {
		if l != "" {
			fmt.Fprintln(r, strings.TrimRight(l, " "))
		}
	}
	r.calm = ""
}

// show prints the line of a request.
func (r *replayer) show(number int, q *winnow.Request) {
	edits, news := map[winnow.Op]int{}, ""
	for _, e := range q.Edits {
		if e.Before > 0 {
			edits[e.Op]++
		}
	}
	for _, op := range []winnow.Op{winnow.OpTruncate, winnow.OpTrim, winnow.OpClear, winnow.OpFold, winnow.OpCompact} {
		if n := edits[op] - r.edits[op]; n > 0 {
			news += fmt.Sprintf("  %s %d", recording.Past(op), n)
		}
	}
	if news == "" && q.FirstChanged < r.sent {
		news = "  sent anew"
	}
	line := fmt.Sprintf("%8d %8s %8s %4s %%  %s", number, recording.Comma(r.history), recording.Comma(q.Tokens),
		recording.Percent(q.Cached, q.Tokens), bar(q, r.window))
	if q.Compaction != nil {
		r.summary = q.Compaction.Summary
	}
	if r.history > q.Budget {
		r.hopeless++
	}
	r.edits, r.sent, r.tokens, r.cached = edits, len(q.Messages), r.tokens+q.Tokens, r.cached+q.Cached
	if news == "" {
		r.calm = line
		return
	}
	r.print(line + news)
}

// barCells is the width of the bar that stands for the whole window.
const barCells = 32

// bar draws a request. Every part that is not empty gets a cell, however small.
func bar(q *winnow.Request, window int) string {
	cells := func(tokens int) int { return int(math.Ceil(float64(tokens) / float64(window) * barCells)) }
	summary, records := 0, 0
	for i, m := range q.Messages {
		if m.Summary {
			summary += q.Counts[i]
		}
	}
	for _, e := range q.Edits {
		if e.Op == winnow.OpFold && e.Before == 0 {
			records += e.After
		}
	}
	parts := strings.Repeat("S", cells(summary)) + strings.Repeat("f", cells(records))
	sent, budget := cells(q.Tokens), max(cells(q.Tokens), cells(q.Budget))
	parts += strings.Repeat("█", max(0, sent-len(parts))) + strings.Repeat("·", budget-max(sent, len(parts)))
	return parts + "|" + strings.Repeat(" ", max(0, barCells-budget))
}

// end prints the beginning of the newest summary, and the totals.
func (r *replayer) end(requests int) {
	if r.summary != "" {
		const most = 10
		lines := strings.Split(strings.TrimSpace(r.summary), "\n")
		r.print("\nThe newest summary, written by winnow's digest without a model, begins:")
		for _, line := range lines[:min(len(lines), most)] {
			r.print(recording.Clip("  | "+line, 99))
		}
	}
	fmt.Fprintf(r, "\n%d of %d requests would not fit with the whole history. Sent: %s tokens in all instead\n"+
		"of %s (%s %%), of which the cache is expected to have %s %%.\n", r.hopeless, requests,
		recording.Comma(r.tokens), recording.Comma(r.whole), recording.Percent(r.tokens, r.whole),
		recording.Percent(r.cached, r.tokens))
}
