package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/ask"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/page"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/questions"
	"github.com/winnowgo/winnow/internal/models"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// trialFlags are those of winnow trial.
type trialFlags struct {
	questions.Options
	to                         *url.URL
	api, key, price, log, page string
	budget                     float64
	sessions                   int
	isYes                      bool
}

func (p *program) trialFlags() *trialFlags {
	o, f := &trialFlags{}, p.flags
	f.StringVar(&o.Model, "model", "", "the model, as its provider names it")
	f.Func("to", "the provider's address, as http://localhost:11434 (the maker's)", func(s string) (err error) {
		if o.to, err = url.Parse(s); err == nil && (o.to.Host == "" || o.to.Scheme != "http" &&
			o.to.Scheme != "https") {
			err = fmt.Errorf("want an address, as https://openrouter.ai/api/v1")
		}
		return err
	})
	f.StringVar(&o.api, "api", "", "messages, responses, contents or chat (by the model and the address)")
	f.StringVar(&o.key, "key", "", "the variable of the environment that has the key (that of the API)")
	f.Float64Var(&o.budget, "budget", 2, "dollars that are spent at most (2)")
	f.IntVar(&o.Count, "n", 40, "how many questions (40)")
	f.IntVar(&o.Probes, "probes", 2, "how many probes behind each question, at most (2)")
	f.IntVar(&o.sessions, "sessions", 0, "how many sessions are asked side by side (4; 1 with -to)")
	f.IntVar(&o.Window, "window", 0, "the context window, in tokens (that of the model)")
	f.StringVar(&o.price, "price", "",
		"dollars for a million tokens: input,output[,cache read[,cache write]] (the list price)")
	f.Uint64Var(&o.Seed, "seed", 1, "which questions are drawn (1)")
	f.Func("system", "a file with the agent's system prompt, which recordings lack (none)", func(name string) error {
		text, err := os.ReadFile(name)
		o.System = strings.TrimSpace(string(text))
		return err
	})
	f.StringVar(&o.log, "log", "trial.jsonl",
		"what was asked and answered, from which a stopped trial goes on (trial.jsonl)")
	f.StringVar(&o.page, "o", "", "a page with each disagreement (none)")
	f.BoolVar(&o.isYes, "yes", false, "spends money without asking first")
	return o
}

func (p *program) trial(ctx context.Context, args []string) (code int, err error) {
	o := p.trialFlags()
	names, err := p.parse(args, 0, -1)
	if err != nil {
		return 0, err
	}
	asker, err := o.asker()
	if err != nil {
		return 0, err
	}
	list, found, err := p.questions(ctx, names, o, asker)
	if err != nil {
		return 0, err
	}
	if asker.Log, err = ask.OpenLog(o.log, asker.Client); err != nil {
		return 0, problemf("trial: %v", err)
	}
	defer func() { err = errors.Join(err, asker.Log.Close()) }()
	if isGiven, err := p.agree(list, found, o, asker); err != nil || !isGiven {
		return exitOK, err
	}
	// The first signal stops the trial behind the answer that is on its way; the second one ends the program.
	defer context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })()
	results, stopped := trial.Run(ctx, list, asker, o.sideBySide(), p.trialProgress(len(list), o, asker))
	if p.isTerminal {
		fmt.Fprintln(p.stderr)
	}
	report := trial.NewReport(context.WithoutCancel(ctx), results, asker.Log.Spent(), o.Seed)
	if err := p.trialReport(report, results, found, o, asker); err != nil {
		return 0, err
	}
	return p.trialEnd(report, stopped, o)
}

// asker makes what asks the provider.
func (o *trialFlags) asker() (*ask.Asker, error) {
	switch {
	case o.Model == "":
		return nil, problemf("trial: -model says which model is asked")
	case o.Count <= 0 || !(o.budget > 0) || o.Window < 0 || o.sessions < 0:
		return nil, problemf("trial: -n and -budget want a positive number, and -window and -sessions one or none")
	}
	api, err := ask.For(o.Model, o.to)
	if o.api != "" {
		api, err = ask.ByName(o.api)
	}
	if err != nil {
		return nil, problemf("trial: %v", err)
	}
	client, err := ask.New(api, o.Model, o.to, o.key)
	if err != nil {
		return nil, problemf("trial: %v", err)
	}
	price, err := priceOf(o.Model, o.price)
	if err != nil {
		return nil, problemf("trial: %v", err)
	}
	known, _ := models.Find(o.Model)
	o.Window = cmp.Or(o.Window, known.Window, inspect.DefaultWindow)
	o.Keeps = func(recordedWith string, thinking *winnow.Part) bool {
		return models.IsSame(recordedWith, o.Model) && ask.CanThink(api, thinking)
	}
	return &ask.Asker{Client: client, Budget: o.budget, Price: price}, nil
}

// sideBySide is how many sessions are asked at once. A server of one's own often caches one conversation alone.
func (o *trialFlags) sideBySide() int {
	switch {
	case o.sessions > 0:
		return o.sessions
	case o.to != nil:
		return 1
	}
	return 4
}

// priceOf returns what a request costs in dollars: as given, or by the list price of the model.
func priceOf(model, given string) (func(winnow.Usage) float64, error) {
	known, _ := models.Find(model)
	if given != "" {
		var err error
		if known, err = parsePrice(given); err != nil {
			return nil, err
		}
	} else if _, isKnown := known.Dollars(models.Tokens{}); !isKnown {
		return nil,
			fmt.Errorf("the price of %s is not known: -price 3,15 says that a million tokens cost $3, "+
				"and $15 in answers", model)
	}
	return func(u winnow.Usage) float64 {
		dollars, _ := known.Dollars(inspect.TokensOf(u))
		return dollars
	}, nil
}

// parsePrice reads two to four prices: dollars for a million tokens.
func parsePrice(given string) (m models.Model, err error) {
	var dollars []float64
	for text := range strings.SplitSeq(given, ",") {
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(n > 0 && n < 1e6) {
			return m, fmt.Errorf("-price %s: want dollars for a million tokens, as in 3,15", given)
		}
		dollars = append(dollars, n)
	}
	if len(dollars) < 2 || len(dollars) > 4 {
		return m, fmt.Errorf("-price %s: want two to four prices, as in 3,15 or 3,15,0.3,3.75", given)
	}
	m.Input, m.Uncached = dollars[0], 1
	for i, to := range []*float64{&m.Output, &m.CacheRead, &m.CacheWrite} {
		if i+1 < len(dollars) {
			*to = dollars[i+1] / m.Input
		}
	}
	return m, nil
}

// questions chooses the questions of the files and directories.
func (p *program) questions(ctx context.Context, names []string, o *trialFlags, a *ask.Asker) (
	[]*questions.Question, questions.Found, error) {
	if len(names) == 0 {
		names = p.usualPlaces()
	}
	var files []string
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, questions.Found{}, err
		}
		if !info.IsDir() {
			files = append(files, name)
			continue
		}
		in, err := sessionsIn(name)
		if err != nil {
			return nil, questions.Found{}, err
		}
		for _, f := range in {
			files = append(files, f.path)
		}
	}
	if len(files) == 0 {
		return nil, questions.Found{}, problemf("trial: there is no session there; name files or directories")
	}
	bar := p.progress("looking at sessions", int64(min(len(files), o.Count)))
	o.Looked = func(sessions int) { bar.at(int64(sessions), p.now()) }
	defer bar.end()
	list, found, err := questions.Choose(ctx, files, func(name string) (*recording.Session, error) {
		s, _, err := recording.OpenFile(name)
		return s, err
	}, o.Options)
	if err == nil && len(list) == 0 {
		err = problemf("trial: there is nothing to ask: of %s in %s, %s leave out nothing or cannot be asked, "+
			"and of %d "+
			"the whole history does not fit into the window of %s tokens", recording.Count(found.Requests, "request"),
			recording.Count(len(files)-found.Unread, "session"), recording.Comma(found.Same), found.TooLarge,
			recording.Comma(o.Window))
	}
	return list, found, err
}

// usualPlaces are the directories in which agents have left sessions.
func (p *program) usualPlaces() (dirs []string) {
	for _, place := range places {
		dir := filepath.Join(append([]string{p.home}, place...)...)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// agree says what will be sent where, and what it will cost, and asks. Without -yes and anybody to ask it is refused.
func (p *program) agree(list []*questions.Question, found questions.Found, o *trialFlags, a *ask.Asker) (bool, error) {
	cost, uncached, pays, begun := 0.0, 0.0, 0, 0
	expected, ahead := 0.0, []*questions.Question(nil)
	for _, q := range list {
		if trial.Begun(a, q) {
			begun++
			expected += trial.Expected(a, q)
		} else {
			ahead = append(ahead, q)
		}
	}
	for _, q := range ahead {
		of := trial.Expected(a, q)
		if begun > 0 { // as the bills so far
			of *= a.Log.Spent() / expected
		}
		uncached += trial.Uncached(a, q)
		if cost += of; cost <= a.Left() {
			pays++
		}
	}
	fmt.Fprintf(p.stderr, "%s of %s to %s at %s (%s), in a window of %s tokens.\n",
		recording.Count(len(list), "question"), recording.Count(found.Sessions, "session"), inspect.Plain(o.Model),
		a.Client.Host(), a.Client.API.Name(),
		recording.Comma(o.Window))
	if found.Without > 0 {
		fmt.Fprintf(p.stderr, "%s without a question: nothing is left out of it, or the whole does not fit.\n",
			recording.Count(found.Without, "session"))
	}
	if said := found.Left.String(); said != "" {
		fmt.Fprintf(p.stderr, "Not sent, with either request: %s.\n", said)
	}
	fmt.Fprintf(p.stderr, "Their texts go to that provider alone. What stays here: %s.\n", o.log)
	if begun > 0 {
		fmt.Fprintf(p.stderr, "%d have been asked, for %s. ", begun, inspect.Money(a.Log.Spent()))
	}
	fmt.Fprintf(p.stderr, "%d cost about %s", len(list)-begun, inspect.Money(cost))
	if uncached > cost {
		fmt.Fprintf(p.stderr, ", and %s where nothing is read from a cache", inspect.Money(uncached))
	}
	if cost > a.Left() {
		fmt.Fprintf(p.stderr, "; the budget of %s pays for about %d", inspect.Money(o.budget), pays)
	}
	fmt.Fprintln(p.stderr, ".")
	switch {
	case o.isYes:
		return true, nil
	case p.ask == nil:
		return false, problemf("trial: nothing was sent; -yes spends the money without asking")
	}
	answer := strings.ToLower(strings.TrimSpace(p.ask("Go on? [y/N] ")))
	return answer == "y" || answer == "yes", nil
}

// trialProgress shows how far the trial is: on a terminal in one line, elsewhere in a line for each tenth question.
func (p *program) trialProgress(all int, o *trialFlags, a *ask.Asker) func(done int) {
	const each = 10
	return func(done int) {
		line := fmt.Sprintf("%d of %d questions, %s of %s", done, all, inspect.Money(a.Log.Spent()),
			inspect.Money(o.budget))
		switch {
		case p.isTerminal:
			fmt.Fprint(p.stderr, "\r"+line+"\x1b[K")
		case done%each == 0 || done == all:
			fmt.Fprintln(p.stderr, line)
		}
	}
}

// trialReport writes the figures, and the page.
func (p *program) trialReport(r *trial.Report, results []*trial.Result, found questions.Found, o *trialFlags,
	a *ask.Asker) error {
	if p.json {
		if err := p.print(r); err != nil {
			return err
		}
	} else if err := r.WriteText(p.stdout); err != nil {
		return err
	}
	if o.page == "" {
		return nil
	}
	file, err := os.OpenFile(o.page, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = page.Write(file, page.Input{Report: r, Results: results, Found: found, Model: o.Model, Host: a.Client.Host(),
		API: a.Client.API.Name(), Window: o.Window, Log: filepath.Base(o.log), Now: p.now()})
	if err = errors.Join(err, file.Close()); err == nil && !p.json {
		_, err = fmt.Fprintln(p.stdout, "written:", o.page)
	}
	return err
}

// trialEnd says why the trial ended before its end, and returns its exit code: 1 if Winnow's request is worse.
func (p *program) trialEnd(r *trial.Report, stopped error, o *trialFlags) (int, error) {
	switch {
	case errors.Is(stopped, ask.ErrBudget):
		fmt.Fprintf(p.stderr, "The budget of %s is spent. With a larger -budget the same command goes on.\n",
			inspect.Money(o.budget))
	case errors.Is(stopped, context.Canceled):
		fmt.Fprintln(p.stderr, "Stopped. The same command goes on.")
	case stopped != nil:
		return 0, problemf("trial: %v; the same command goes on", stopped)
	}
	if r.Worse.Verdict() == "worse" || r.Probes.Verdict() == "worse" {
		return exitFound, nil
	}
	return exitOK, nil
}
