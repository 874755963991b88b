package trial

import (
	"context"
	"fmt"

	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/judge"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/stats"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// Margin is the difference that matters: five points.
const Margin = 0.05

// Report has the figures of a trial.
type Report struct {
	Questions int `json:"questions"` // that count
	Missing   int `json:"missing"`   // that were not answered in each form
	Sessions  int `json:"sessions"`

	Rows     []Row           `json:"rows"`     // shares, in their order
	Worse    Difference      `json:"worse"`    // by how much Winnow's request is worse in the next step
	WithTool Difference      `json:"withTool"` // the same with the recall tool
	Probes   Difference      `json:"probes"`   // the same in the probes
	Kinds    []Kind          `json:"kinds"`    // probes
	Again    Again           `json:"again"`
	Prices   []Price         `json:"prices"`
	Apart    []*Disagreement `json:"-"`
	Spent    float64         `json:"spent"` // dollars, in all
}

// Row is a share of the questions, for one form.
type Row struct {
	Name  string         `json:"name"`
	Form  string         `json:"form"`
	Share stats.Estimate `json:"share"`
}

// Difference is by how many points Winnow's request is worse than the whole history.
type Difference struct {
	stats.Estimate
	Needed int     `json:"needed"` // questions for [Margin]
	Base   float64 `json:"base"`   // the share with the whole history, of which something can be lost
}

// leastBase is the share below which a small difference shows nothing: who is mostly wrong has little to lose.
const leastBase = 0.5

// NewDifference estimates a difference, beside the shares with the whole history.
func NewDifference(scores, itself []stats.Score, seed uint64) Difference {
	return differenceOf(stats.Of(scores, seed), stats.Of(itself, seed).Mean)
}

// Apart estimates the difference where the model differs from itself in other questions than those in which it is
// compared.
func Apart(same, itself []stats.Score, seed uint64) Difference {
	base := stats.Of(itself, seed)
	return differenceOf(base.Minus(stats.Of(same, seed)), base.Mean)
}

func differenceOf(e stats.Estimate, base float64) Difference {
	return Difference{e, e.Needed(Margin), base}
}

// leastQuestions is how many questions a verdict needs: of one question, a model that differs from itself at random is
// "worse" in one trial of four.
const leastQuestions = 10

// Verdict says what the difference shows.
func (d *Difference) Verdict() string {
	switch {
	case d.N == 0:
		return "not measured"
	case d.N < leastQuestions:
		return "not decided"
	case d.Low > 0:
		return "worse"
	case d.AtMost <= Margin && d.Base >= leastBase:
		return "not worse"
	}
	return "not decided"
}

// Sentence says it in the form of a test for non-inferiority. each is what a question costs, in dollars (0: not known).
func (d *Difference) Sentence(each float64) string {
	if d.N == 0 {
		return "Not measured: there is no answer."
	}
	if d.N < leastQuestions {
		return fmt.Sprintf("%s: too few to say anything; %d are the least.", recording.Count(d.N, "question"),
			leastQuestions)
	}
	points := func(x float64) string { return fmt.Sprintf("%.1f points", 100*x) }
	said := fmt.Sprintf("It is at most %s worse than the whole history, with 95 %%.", points(max(0, d.AtMost)))
	switch d.Verdict() {
	case "worse":
		said = fmt.Sprintf("It is worse than the whole history: by %s to %s, with 95 %%.", points(d.Low),
			points(d.High))
	case "not decided":
		if d.Base < leastBase {
			return said + fmt.Sprintf(" That shows little: the whole history itself has %s.", percent(d.Base))
		}
		said += fmt.Sprintf(" For a bound of 5 points about %s would be needed", recording.Count(d.Needed, "question"))
		if each > 0 {
			said += ", for " + inspect.Money(each*float64(d.Needed))
		}
		said += "."
	}
	if d.TheseAlone {
		said += fmt.Sprintf(" That holds for %s: there are too few to say it of others.",
			map[bool]string{true: "this session alone", false: "these sessions alone"}[d.Sessions == 1])
	}
	return said
}

// Kind counts the probes of one kind that were answered right.
type Kind struct {
	Name         string `json:"name"`
	Asked        int    `json:"asked"`
	Whole, Short int
}

// Again counts the questions in which a step asks for what is no longer in Winnow's request.
type Again struct {
	Whole      float64 `json:"whole"`      // with the whole history, which has it: the mean of both times
	Short      int     `json:"short"`      // with Winnow's request
	Only       int     `json:"only"`       // of these, where the whole history did not
	Recallable int     `json:"recallable"` // of these, where the recall tool would have shown it
	WithTool   int     `json:"withTool"`   // with the recall tool
	Recalled   int     `json:"recalled"`   // questions in which the model called it
	Calls      int     `json:"calls"`
	Found      int     `json:"found"` // calls that were shown something
}

// Price is what a million tokens of the prompts of one form cost, in dollars, with a cold or a warm cache. Answers are
// left out: they are as long with one as with the other.
type Price struct {
	Form     string  `json:"form"`
	Cold     float64 `json:"cold"`
	Warm     float64 `json:"warm"`
	ColdN    int     `json:"coldN"`
	WarmN    int     `json:"warmN"`
	Tokens   float64 `json:"tokens"` // of the prompt, as the provider counted
	Read     float64 `json:"read"`   // of these, from its cache
	Written  float64 `json:"written"`
	counted  int
	coldSize int // tokens
	warmSize int
}

// Disagreement is a question in which Winnow's request led to another next step than the whole history did both times.
type Disagreement struct {
	*Result
	Whole, Again, Short, WithTool, Recorded judge.Step
}

// NewReport computes the figures of results.
func NewReport(ctx context.Context, results []*Result, spent float64, seed uint64) *Report {
	b := newBuilder(spent)
	sessions := map[string]bool{}
	for _, r := range results {
		if !r.IsWhole() {
			b.Missing++
			continue
		}
		b.Questions++
		sessions[r.Session] = true
		b.steps(ctx, r)
		b.probes(r)
		for _, form := range []string{Whole, WholeAgain, Short, Recall} {
			b.price(form, r.Replies[form])
		}
	}
	b.Sessions = len(sessions)
	b.finish(seed)
	return b.Report
}

// builder collects the scores of a report.
type builder struct {
	*Report
	shares                  map[string][]stats.Score
	worse, withTool, probed []stats.Score
	kinds                   []string
	byKind                  map[string]*Kind
	prices                  map[string]*Price
}

func newBuilder(spent float64) *builder {
	return &builder{Report: &Report{Spent: spent}, shares: map[string][]stats.Score{}, byKind: map[string]*Kind{},
		prices: map[string]*Price{}}
}

func (b *builder) share(name, session string, value float64) {
	b.shares[name] = append(b.shares[name], stats.Score{Session: session, Value: value})
}

// one is 1 for yes.
func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// steps compares the next steps of a question. The history was asked twice, so that each other form is compared with
// both answers: with the first one alone the figures would mean the same, and spread more.
func (b *builder) steps(ctx context.Context, r *Result) {
	a, again, short := r.Replies[Whole].Step(), r.Replies[WholeAgain].Step(), r.Replies[Short].Step()
	recorded := judge.StepOf(&r.Next)
	itself := one(a.Same(again))
	with := func(s judge.Step) float64 { return (one(s.Same(a)) + one(s.Same(again))) / 2 }
	b.share(Whole, r.Session, itself)
	b.share(Short, r.Session, with(short))
	b.share("recorded "+Whole, r.Session, (one(a.Same(recorded))+one(again.Same(recorded)))/2)
	b.share("recorded "+Short, r.Session, one(short.Same(recorded)))
	b.worse = append(b.worse, stats.Score{Session: r.Session, Value: itself - with(short)})
	var withTool judge.Step
	if reply := r.Replies[Recall]; reply != nil {
		withTool = reply.Step()
		b.share(Recall, r.Session, with(withTool))
		b.share("recorded "+Recall, r.Session, one(withTool.Same(recorded)))
		b.withTool = append(b.withTool, stats.Score{Session: r.Session, Value: itself - with(withTool)})
		b.Again.Recalled += int(one(reply.Recalls > 0))
		b.Again.Calls += reply.Recalls
		b.Again.Found += reply.Found
		b.Again.WithTool += int(one(withTool.Again(r.LeftOut) != nil))
	}
	b.Again.Whole += (one(a.Again(r.LeftOut) != nil) + one(again.Again(r.LeftOut) != nil)) / 2
	if shown := short.Again(r.LeftOut); shown != nil {
		b.Again.Short++
		if a.Again(r.LeftOut) == nil && again.Again(r.LeftOut) == nil {
			b.Again.Only++
			b.Again.Recallable += int(one(r.Recallable(ctx, shown)))
		}
	}
	if !short.Same(a) && !short.Same(again) {
		b.Apart = append(b.Apart, &Disagreement{r, a, again, short, withTool, recorded})
	}
}

// probes compares the answers to probes that both forms have.
func (b *builder) probes(r *Result) {
	for i := range r.Probes {
		p := &r.Probes[i]
		if p.Whole == nil || p.Short == nil {
			continue
		}
		whole, short := p.Right(p.Whole), p.Right(p.Short)
		k := b.byKind[p.Kind]
		if k == nil {
			k = &Kind{Name: p.Kind}
			b.byKind[p.Kind] = k
			b.kinds = append(b.kinds, p.Kind)
		}
		k.Asked++
		k.Whole += int(one(whole))
		k.Short += int(one(short))
		b.share("probes "+Whole, r.Session, one(whole))
		b.share("probes "+Short, r.Session, one(short))
		b.probed = append(b.probed, stats.Score{Session: r.Session, Value: one(whole) - one(short)})
		b.price(Whole, p.Whole)
		b.price(Short, p.Short)
	}
}

// Right reports whether a reply answers the probe. One that calls a tool in its place does not.
func (p *Probed) Right(reply *Reply) bool {
	return p.Probe.Right(recording.Text(&reply.Answer.Message))
}

// price takes what a request cost. Both times of the history are one form.
func (b *builder) price(form string, reply *Reply) {
	if reply == nil {
		return
	}
	if form == WholeAgain {
		form = Whole
	}
	p := b.prices[form]
	if p == nil {
		p = &Price{Form: form}
		b.prices[form] = p
	}
	if reply.IsWarm {
		p.WarmN++
		p.Warm += reply.Prompt
		p.warmSize += reply.Tokens
	} else {
		p.ColdN++
		p.Cold += reply.Prompt
		p.coldSize += reply.Tokens
	}
	p.counted++
	u := reply.Answer.Usage
	p.Tokens += float64(u.Prompt())
	p.Read += float64(u.CacheRead)
	p.Written += float64(u.CacheWrite)
}

func (b *builder) finish(seed uint64) {
	for _, row := range []struct{ name, group string }{
		{"the same next step as the whole history", ""}, {"the same next step as in the recording", "recorded "},
		{"probes answered right", "probes "},
	} {
		for _, form := range []string{Whole, Short, Recall} {
			if scores := b.shares[row.group+form]; len(scores) > 0 {
				b.Rows = append(b.Rows, Row{row.name, form, stats.Of(scores, seed).Share()})
			}
		}
	}
	itself := b.shares[Whole]
	b.Worse, b.WithTool = NewDifference(b.worse, itself, seed), NewDifference(b.withTool, itself, seed)
	b.Probes = NewDifference(b.probed, b.shares["probes "+Whole], seed)
	for _, kind := range b.kinds {
		b.Kinds = append(b.Kinds, *b.byKind[kind])
	}
	for _, form := range []string{Whole, Short, Recall} {
		if p := b.prices[form]; p != nil {
			p.Cold *= 1e6 / float64(max(1, p.coldSize))
			p.Warm *= 1e6 / float64(max(1, p.warmSize))
			for _, mean := range []*float64{&p.Tokens, &p.Read, &p.Written} {
				*mean /= float64(p.counted)
			}
			b.Prices = append(b.Prices, *p)
		}
	}
}
