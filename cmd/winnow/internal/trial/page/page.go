// Package page shows a trial as one HTML page that asks the network for nothing.
package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/questions"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/stats"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// Input is what a page shows.
type Input struct {
	*trial.Report
	Results          []*trial.Result
	Found            questions.Found
	Model, Host, API string
	Window           int
	Log              string
	Now              time.Time
}

//go:embed page.html
var text string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"percent": func(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) },
	"points":  func(x float64) string { return fmt.Sprintf("%+.1f", 100*x) },
	"count":   recording.Count, "comma": recording.Comma, "money": inspect.Money,
	"base": func(id string) string { return inspect.Plain(filepath.Base(id)) },
	"clip": clip, "share": share, "difference": difference, "replaced": replaced, "instead": instead,
	"said": said, "form": form,
}).Parse(text))

// Write writes the page.
func Write(w io.Writer, in Input) error { return pageTemplate.Execute(w, in) }

// form names a form in the table: the history is compared with itself.
func form(r trial.Row) string {
	if r.Form == trial.Whole && strings.Contains(r.Name, "whole") {
		return "the whole history, asked again"
	}
	return r.Form
}

// bar is an interval in a picture of 100 units.
type bar struct{ Low, Width, Mean, Zero float64 }

// share places a share from 0 to 100 %.
func share(e stats.Estimate) bar {
	return bar{100 * e.Low, 100 * (e.High - e.Low), 100 * e.Mean, -1}
}

// difference places points from -50 to 50.
func difference(e stats.Estimate) bar {
	at := func(x float64) float64 { return min(100, max(0, 50+100*x)) }
	return bar{at(e.Low), at(e.High) - at(e.Low), at(e.Mean), 50}
}

const (
	mostText     = 1500 // characters of one text
	mostReplaced = 40   // messages of one question
)

func clip(s string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(s)) {
		lines = append(lines, inspect.Plain(strings.TrimRight(line, "\r\n")))
	}
	s = strings.Join(lines, "\n")
	if r := []rune(s); len(r) > mostText {
		return string(r[:mostText]) + "…"
	}
	return s
}

// said is what an answer says, and what it calls.
func said(m winnow.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		switch p.Kind {
		case winnow.KindText:
			b.WriteString(p.Text + "\n")
		case winnow.KindToolCall:
			b.WriteString(p.Name + " " + string(p.Arguments) + "\n")
		}
	}
	return clip(b.String())
}

// message is a message of the history that is not sent as it was, or one that stands in its place.
type message struct{ What, Text string }

// replaced are the messages of the history that Winnow's request does not have as they were.
func replaced(d *trial.Disagreement) (list []message) {
	seen := map[int]bool{}
	for _, e := range d.Edits {
		if e.Index < 0 || e.Index >= len(d.History) || seen[e.Index] || e.Op == winnow.OpRepair {
			continue
		}
		seen[e.Index] = true
		m := &d.History[e.Index]
		what := fmt.Sprintf("%d, %s: %s", e.Index, m.Role, recording.Past(e.Op))
		if m.ToolName != "" {
			what = fmt.Sprintf("%d, result of %s: %s", e.Index, m.ToolName, recording.Past(e.Op))
		}
		if list = append(list, message{what, said(*m)}); len(list) == mostReplaced {
			break
		}
	}
	return list
}

// instead are the messages of Winnow's request that the history does not have, with what they stand for. Both are
// compared from their ends, where they are alike.
func instead(d *trial.Disagreement) (list []message) {
	whole := make([]string, len(d.Question.Whole))
	for i, m := range d.Question.Whole {
		whole[i] = string(m.Role) + said(m)
	}
	end, from := len(whole), 0 // what is in front of end is not compared yet; list[from:] stands for the end of it
	stand := func(at int) {
		for i := from; i < len(list) && at+1 < end; i++ {
			list[i].What += fmt.Sprintf(", for %d to %d of the history", at+1, end-1)
		}
		end, from = at, len(list)
	}
	for i, m := range slices.Backward(d.Question.Short) {
		text := said(m)
		at := end - 1
		for at >= 0 && whole[at] != string(m.Role)+text {
			at--
		}
		if at >= 0 {
			stand(at)
			continue
		}
		list = append(list, message{fmt.Sprintf("%d, %s", i, m.Role), text})
	}
	stand(-1)
	slices.Reverse(list)
	return list[:min(len(list), mostReplaced)]
}
