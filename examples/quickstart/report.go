package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// columns is the widest line of the report.
const columns = 100

// writeReport prints the report for people: one line for every request in which something happened, and one for each
// run of others.
func writeReport(w io.Writer, c config, o *outcome) error {
	p := &printer{w: bufio.NewWriter(w), window: c.window}
	runs := fold(o.requests, c.all)
	p.head(c.session, o)
	p.requests(runs, o.turns)
	p.summary(o, c.summary)
	p.changes(&o.totals)
	p.totals(&o.totals)
	return p.w.Flush() // Flush returns the first error
}

type printer struct {
	w         *bufio.Writer
	window    int
	explained bool // the error of a request that does not fit was printed once
}

// line prints one line of at most the width of the report.
func (p *printer) line(format string, args ...any) {
	s := strings.TrimRight(recording.Clip(fmt.Sprintf(format, args...), columns), " ")
	fmt.Fprintln(p.w, s)
}

func (p *printer) head(name string, o *outcome) {
	budget := o.requests[0].Budget
	p.line("Session %s", name)
	p.line("%s in %s, %s to the model; the whole history has %s tokens.",
		recording.Count(o.messages, "message"), recording.Count(len(o.turns), "turn"),
		recording.Count(len(o.requests), "request"), recording.Comma(o.totals.History))
	p.line("The window has %s; %s stay free for the answer, so that a request may have %s.",
		recording.Comma(p.window), recording.Comma(p.window-budget), recording.Comma(budget))
	p.line("")
	p.line("In the bars, which are the window:  %s kept as it was   %s trimmed   %s cleared   %s cut", cellKept,
		cellTrimmed, cellCleared, cellCut)
	p.line("                                    %s records          %s summary   %s free      %s end of the budget",
		cellFolded, cellSummary, cellFree, budgetMark)
	p.line("Appended: nothing that was sent before has changed. Reused: the share of a request that is the")
	p.line("same as in the one before, byte for byte, which a prompt cache serves.")
	p.line("")
	p.line("requests  history     sent  reused  %-*s  new in this request", barCells+1, "window")
}

// requests prints the requests, turn by turn.
func (p *printer) requests(runs [][]request, turns []string) {
	turn := 0
	for _, run := range runs {
		if q := &run[0]; q.Turn != turn {
			turn = q.Turn
			p.line("")
			p.line("turn %d%s: %s", turn, pause(q.Pause), recording.OneLine(turns[turn-1]))
		}
		p.row(run)
	}
}

// row prints one request, or several calm ones as the last of them.
func (p *printer) row(run []request) {
	q := &run[len(run)-1]
	numbers := fmt.Sprint(q.Request)
	sent, reused := 0, 0
	for _, r := range run {
		sent, reused = sent+r.Tokens, reused+r.Reused
	}
	if len(run) > 1 {
		numbers = fmt.Sprintf("%d-%d", run[0].Request, q.Request)
	}
	p.line("%8s %8s %8s %5s %%  %s  %s", numbers, recording.Comma(q.History), recording.Comma(q.Tokens),
		recording.Percent(reused, sent), bar(q, p.window), note(run))
	switch {
	case q.Error != "":
		if !p.explained {
			p.explained = true
			p.paragraph(q.Error)
		}
	case q.Problem != "":
		p.paragraph("not valid: " + q.Problem)
	case !q.Fits:
		p.paragraph("the messages are more than the manager counted")
	}
	if c := q.Compaction; c != nil {
		p.line("%9scompacted %s → %s tokens: %s became a summary of %s tokens", "", recording.Comma(c.TokensBefore),
			recording.Comma(c.TokensAfter), recording.Count(c.Messages, "message"), recording.Comma(c.SummaryTokens))
	}
}

// note describes what is new in a run of requests.
func note(run []request) string {
	q := &run[len(run)-1]
	switch {
	case q.Error != "":
		return "DOES NOT FIT"
	case !q.Fits || !q.Valid:
		return "WRONG"
	}
	var parts []string
	if !slices.ContainsFunc(run, func(q request) bool { return !isCalm(&q) }) {
		parts = append(parts, "appended")
		if len(run) > 1 {
			parts[0] = fmt.Sprintf("%d× appended", len(run))
		}
	}
	number := map[winnow.Op]int{}
	for _, r := range run {
		for _, c := range r.Changes {
			number[c.Op]++
		}
	}
	for _, op := range order {
		if n := number[op]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", recording.Past(op), n))
		}
	}
	if len(parts) == 0 {
		return "sent anew" // the prefix differs without a new edit
	}
	return strings.Join(parts, ", ")
}

// summaryLines is how much of a summary is shown without -summary.
const summaryLines = 10

// summary prints the last summary, or its beginning.
func (p *printer) summary(o *outcome, whole bool) {
	var last *request
	for i := range o.requests {
		if o.requests[i].Compaction != nil {
			last = &o.requests[i]
		}
	}
	if last == nil {
		return
	}
	lines := strings.Split(strings.TrimSpace(last.Compaction.Summary), "\n")
	p.line("")
	if whole {
		p.line("The summary in request %d, written by winnow's digest without a model:", last.Request)
		for _, l := range lines {
			fmt.Fprintln(p.w, strings.TrimRight("  | "+l, " "))
		}
		return
	}
	p.line("The summary in request %d, written by winnow's digest without a model, begins:", last.Request)
	for _, l := range lines[:min(len(lines), summaryLines)] {
		p.line("  | %s", l)
	}
	if more := len(lines) - summaryLines; more > 0 {
		p.line("  … %d more lines with -summary", more)
	}
}

// changes prints the edits by kind and reason.
func (p *printer) changes(t *totals) {
	if len(t.Changes) == 0 {
		if t.Overflows == 0 {
			p.line("")
			p.line("Nothing had to be changed.")
		}
		return
	}
	p.line("")
	const reason = 64
	p.line("%-12s%-*s%10s%14s", "", reason, "why", "messages", "tokens saved")
	for _, g := range t.Changes {
		lines := recording.Wrap(g.Reason, reason-2)
		p.line("%-12s%-*s%10s%14s", recording.Past(g.Op), reason, lines[0], recording.Comma(g.Messages),
			recording.Comma(g.Saved))
		for _, l := range lines[1:] {
			p.line("%12s%s", "", l)
		}
	}
}

func (p *printer) totals(t *totals) {
	fit, valid := "all fit", "all are valid"
	if t.Overflows > 0 {
		fit = fmt.Sprintf("%d DO NOT FIT", t.Overflows)
	}
	if t.Invalid > 0 {
		valid = fmt.Sprintf("%d ARE NOT VALID", t.Invalid)
	}
	p.line("")
	p.line("%-12s%s: %s, %s; with the whole history %s would not fit", "requests", recording.Comma(t.Requests), fit,
		valid, recording.Comma(t.Hopeless))
	p.line("%-12s%s tokens in all, instead of %s (%s %%)", "sent", recording.Comma(t.Sent), recording.Comma(t.Full),
		recording.Percent(t.Sent, t.Full))
	p.line("%-12s%s of these (%s %%): the same bytes as in the request before", "reused", recording.Comma(t.Reused),
		recording.Percent(t.Reused, t.Sent))
	p.line("%-12s%d", "compactions", t.Compactions)
}

// paragraph prints text under a row, wrapped.
func (p *printer) paragraph(text string) {
	for _, l := range recording.Wrap(text, columns-9) {
		p.line("%9s%s", "", l)
	}
}

// pause names a pause that is long enough for a prompt cache to expire.
func pause(seconds float64) string {
	if d := time.Duration(seconds * float64(time.Second)); d >= 5*time.Minute {
		return fmt.Sprintf(" (%d minutes later)", int(d.Minutes()))
	}
	return ""
}
