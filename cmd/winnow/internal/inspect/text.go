package inspect

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// columns is the widest line of the text.
const columns = 100

// barCells is the width of the bar that stands for the whole window.
const barCells = 24

// The letters of a bar for each kind, readable without colours.
const cells = "ySuatrf"

// writeText prints the report for a terminal.
func writeText(w io.Writer, r *report) error {
	p := &printer{Writer: bufio.NewWriter(w), report: r}
	p.head()
	p.requests()
	p.totals()
	return p.Flush() // Flush returns the first error
}

type printer struct {
	*bufio.Writer
	report    *report
	explained bool // the error of a request that does not fit was printed once
}

// line prints one line of at most the width of the text.
func (p *printer) line(format string, args ...any) {
	fmt.Fprintln(p, strings.TrimRight(recording.Clip(fmt.Sprintf(format, args...), columns), " "))
}

func (p *printer) head() {
	r := p.report
	p.line("%s: %s in %s, %s to the model", Plain(r.Name), recording.Count(r.Messages, "message"),
		recording.Count(len(r.Turns), "turn"), recording.Count(len(r.Requests), "request"))
	p.paragraph(r.Origin())
	p.paragraph(r.Said())
	p.line("")
	p.paragraph(r.headline() + ".")
	p.paragraph(r.parts())
	p.paragraph(r.summaries())
	p.paragraph(r.losses())
	p.paragraph(other)
	p.line("")
	p.paragraph(fmt.Sprintf("Costs below are in uncached tokens, of prompts alone. \"All sent\" is the price of the "+
		"whole history, in any window. At a rewrite, what was sent before changes, and the cache behind it is lost. "+
		"The bars are %s tokens wide: y system and tools, S summary, u user, a assistant, t thinking, r tool results, "+
		"f records (lines that stand for old steps), · free.", recording.Comma(int(r.scale()))))
	p.line("")
	p.line("requests     sent  %-*s    cached  written      cost   all sent", barCells, "")
}

// requests prints the requests turn by turn; those in which nothing was edited share a line.
func (p *printer) requests() {
	list := p.report.Requests
	turn := 0
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[from].isCalm() && list[to].isCalm() && list[to].Turn == list[from].Turn {
			to++
		}
		if q := &list[from]; q.Turn != turn {
			turn = q.Turn
			p.line("")
			p.line("turn %d%s: %s", turn, pauseNote(q.Pause), p.report.Turns[turn-1].Text)
		}
		p.row(list[from:to])
		from = to
	}
}

// isCalm reports whether messages were only appended, perhaps with minified results.
func (q *request) isCalm() bool {
	hasNews := len(q.Recalls) > 0 || slices.ContainsFunc(q.Edits, isLoss)
	return !hasNews && !q.Epoch && q.Summary == nil && q.Error == ""
}

// isLoss reports whether an edit loses content. The other edits are summed up at the end.
func isLoss(g group) bool { return g.Op != winnow.OpMinify }

// minified says how many results were minified and how much that saved, "" if none was.
func (r *report) minified() string {
	results, saved := 0, 0
	for i := range r.Requests {
		for _, g := range r.Requests[i].Edits {
			if !isLoss(g) {
				results, saved = results+len(g.Messages), saved+g.Saved
			}
		}
	}
	if results == 0 {
		return ""
	}
	return fmt.Sprintf("%s in fewer characters, saves %s tokens", recording.Count(results, "result"),
		recording.Comma(saved))
}

// row prints neighbours in one line, followed by their edits and reasons.
func (p *printer) row(run []request) {
	q := &run[len(run)-1]
	numbers := fmt.Sprint(q.Number)
	if len(run) > 1 {
		numbers = fmt.Sprintf("%d-%d", run[0].Number, q.Number)
	}
	if q.Error != "" {
		p.line("%8s %8s  DOES NOT FIT", numbers, recording.Comma(q.Tokens))
		if !p.explained {
			p.explained = true
			for _, l := range recording.Wrap(Plain(q.Error), columns-10) {
				p.line("%10s%s", "", l)
			}
		}
		return
	}
	cached, written, cost, unedited := 0, 0, 0.0, 0.0
	for i := range run {
		cached, written = cached+run[i].Cached, written+run[i].Written()
		cost, unedited = cost+run[i].Cost, unedited+run[i].Unedited
	}
	mark := ""
	if q.Epoch {
		mark = "rewrite"
	}
	p.line("%8s %8s  %s  %8s %8s %9s %10s  %s", numbers, recording.Comma(q.Tokens), bar(q, p.report.scale()),
		recording.Comma(cached), recording.Comma(written), whole(cost), whole(unedited), mark)
	if s := q.Summary; s != nil {
		p.line("%10scompacted: a summary of %s tokens stands for %s", "", recording.Comma(s.Tokens),
			recording.Count(s.Messages, "message"))
	}
	for _, c := range q.Recalls {
		p.line("%10srecalled %s: %s", "", Plain(c.Asked), c.Outcome())
	}
	for _, g := range q.Edits {
		if !isLoss(g) {
			continue
		}
		p.line("%10s%s %s, saves %s: %s", "", recording.Past(g.Op), recording.Count(len(g.Messages), "message"),
			recording.Comma(g.Saved), Plain(g.Reason))
	}
}

func (p *printer) totals() {
	r := p.report
	p.line("")
	p.filled()
	p.line("%-12s%s tokens, of which the cache is expected to have %s (%s %%)", "sent", recording.Comma(r.Tokens),
		recording.Comma(r.Cached), recording.Percent(r.Cached, r.Tokens))
	const name = 56
	p.line("%-12s%-*s%14s%14s", "", name, "", "winnow", "at the limit")
	for _, row := range r.table() {
		lines := recording.Wrap(row.Name, name)
		for _, l := range lines[:len(lines)-1] {
			p.line("%-12s%s", "", l)
		}
		p.line("%-12s%-*s%14s%14s", "", name, lines[len(lines)-1], row.Winnow, row.Limit)
	}
	p.named("billed", r.Billed())
	p.named("", r.Explained())
	p.named("kept", r.verbatim())
	p.named("assumed", r.assumptions())
	p.named("minified", r.minified())
	if calls, failed, tokens := r.recallTotals(); calls > 0 {
		p.line("%-12s%s of %s tokens, of which %d found nothing", "recalls", recording.Count(calls, "answer"),
			recording.Comma(tokens), failed)
	}
	if r.FirstHopeless > 0 {
		p.line("%-12sfrom request %d on the whole history would not fit", "all sent", r.FirstHopeless)
	}
	if r.Overflows > 0 {
		p.line("%-12s%s DO NOT FIT", "requests", recording.Comma(r.Overflows))
	}
}

// filled prints the content of the history by kind.
func (p *printer) filled() {
	f := &p.report.Filled
	p.named("filled by", f.Summary())
	p.named("tools", f.ToolNames())
	for i, m := range f.Largest {
		name := ""
		if i == 0 {
			name = "largest"
		}
		p.line("%-12s%8s  %s", name, recording.Comma(m.Tokens), m.Name)
	}
}

// named prints a name and a text, in several lines if it is long. It prints nothing if the text is empty.
func (p *printer) named(name, text string) {
	if text == "" {
		return
	}
	for _, l := range recording.Wrap(text, columns-14) {
		p.line("%-12s%s", name, l)
		name = ""
	}
}

// paragraph prints a text in several lines if it is long.
func (p *printer) paragraph(text string) {
	if text == "" {
		return
	}
	for _, l := range recording.Wrap(text, columns-2) {
		p.line("%s", l)
	}
}

// bar draws a request. The borders between kinds are rounded to cells.
func bar(q *request, width float64) string {
	var b strings.Builder
	sum, drawn := 0, 0
	for kind, n := range q.Kinds {
		sum += n
		to := min(barCells, int(math.Round(float64(sum)/width*barCells)))
		b.WriteString(strings.Repeat(cells[kind:kind+1], to-drawn))
		drawn = to
	}
	b.WriteString(strings.Repeat("·", barCells-drawn))
	return b.String()
}

// whole writes a cost without its fraction.
func whole(cost float64) string { return recording.Comma(int(math.Round(cost))) }

// pauseNote names a pause that is long enough for a prompt cache to expire.
func pauseNote(d time.Duration) string {
	if d < 5*time.Minute {
		return ""
	}
	return fmt.Sprintf(" (%s later)", recording.Count(int(d.Minutes()), "minute"))
}
