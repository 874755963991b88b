package trial

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// WriteText writes the figures for a terminal.
func (r *Report) WriteText(w io.Writer) error {
	if r.Questions == 0 {
		_, err := fmt.Fprintf(w, "No question was answered in each form, so there is no figure. Spent: %s.\n",
			inspect.Money(r.Spent))
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s of %s\n\n", recording.Count(r.Questions, "question"), recording.Count(r.Sessions, "session"))
	name := ""
	for _, row := range r.Rows {
		if row.Name != name {
			name = row.Name
			fmt.Fprintf(t, "%s\n", name)
		}
		form := row.Form
		if form == Whole && strings.Contains(name, "whole") {
			form = "the whole history, asked again"
		}
		fmt.Fprintf(t, "  %s\t%s\t(%s to %s)\n", form, percent(row.Share.Mean), percent(row.Share.Low),
			percent(row.Share.High))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, s := range r.Sentences() {
		for _, line := range recording.Wrap(s, 110) {
			fmt.Fprintln(w, line)
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", strings.Join(r.PriceLines(), "\n"))
	return err
}

// Sentences say what the figures mean.
func (r *Report) Sentences() []string {
	each := r.Spent / float64(max(1, r.Questions))
	list := []string{"Winnow's request, the next step: " + r.Worse.Sentence(each)}
	if r.WithTool.N > 0 {
		list = append(list, "With the recall tool: "+r.WithTool.Sentence(each))
	}
	if r.Probes.N > 0 {
		list = append(list,
			"The probes: "+r.Probes.Sentence(each)+
				" Right with the whole history and with Winnow's request: "+r.kinds()+".")
	}
	return append(list, r.Again.sentence(r.Questions))
}

func (r *Report) kinds() string {
	var said []string
	for _, k := range r.Kinds {
		said = append(said, fmt.Sprintf("%s %d and %d of %d", k.Name, k.Whole, k.Short, k.Asked))
	}
	return strings.Join(said, ", ")
}

func (a *Again) sentence(questions int) string {
	said := fmt.Sprintf("What Winnow's request leaves out is read again in %s of %s, and with the whole history, "+
		"which has it, in %.4g.", recording.Comma(a.Short), recording.Count(questions, "question"), a.Whole)
	if a.Only > 0 {
		said += fmt.Sprintf(" In %d only with Winnow's request; the recall tool would have shown it in %d of them.",
			a.Only, a.Recallable)
	}
	return said + fmt.Sprintf(" With the recall tool it is read again in %d. The model called the tool in %s: %s, of "+
		"which %d found something.", a.WithTool, recording.Count(a.Recalled, "question"),
		recording.Count(a.Calls, "call"), a.Found)
}

// PriceLines say what the prompts cost.
func (r *Report) PriceLines() []string {
	list := []string{"What a million tokens of prompts cost with a cold cache and with a warm one, from which more " +
		"than half of the prompt was read (so many prompts):"}
	for i := range r.Prices {
		p := &r.Prices[i]
		list = append(list, fmt.Sprintf("  %s: %s (%d) and %s (%d); on average %s tokens, %s read from the cache "+
			"and %s written to it", p.Form, p.cost(p.Cold, p.ColdN), p.ColdN, p.cost(p.Warm, p.WarmN), p.WarmN,
			recording.Comma(int(p.Tokens)), recording.Comma(int(p.Read)), recording.Comma(int(p.Written))))
	}
	return append(list, "Spent in all: "+inspect.Money(r.Spent)+".")
}

func (p *Price) cost(dollars float64, n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("$%.2f", dollars)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
