package proxy

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/transport"
	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/stats"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// figures are what the page and the metrics show.
type figures struct {
	now    func() time.Time
	links  bool    // each conversation has a page of its own
	window int     // of the model, in tokens; 0: that of its name
	shadow *shadow // nil: none

	mu            sync.Mutex
	all           row
	conversations map[string]*row
}

// row has the figures of a conversation, or of all. Tokens are Winnow's estimates, of the messages alone.
type row struct {
	Name      string
	Client    string
	Model     string
	Last      time.Time
	Requests  int
	Sent      int // tokens of the messages that were sent, over all requests
	History   int // tokens of the messages that the client sent
	Recalls   int // of the requests, those that answered a call of the recall tool
	Recovered int // refusals as too long that the client did not see
	Records   int // messages that records stand for, in the last request
	Summary   int // messages that a summary stands for, in the last request
	Shorter   int // messages that are shortened or left out otherwise, in the last request
	Prompt    int // tokens of all prompts, as the provider counted
	CacheRead int // of Prompt
	Output    int
	Passed    int    // requests that were passed on as they came
	Reason    string // why the last request was; "": it was not
	Cache     winnow.CacheUse
	Bill      bill
}

// mostShown is how many conversations the page has.
const mostShown = 200

// note takes a request that was answered.
func (f *figures) note(x transport.Exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.conversations[x.Conversation]
	if r == nil {
		r = &row{Name: x.Conversation}
		f.conversations[x.Conversation] = r
	}
	if len(f.conversations) > mostShown {
		oldest := r
		for _, c := range f.conversations {
			if c != r && (oldest == r || c.Last.Before(oldest.Last)) {
				oldest = c
			}
		}
		delete(f.conversations, oldest.Name)
	}
	r.Model, r.Last = x.Model, f.now()
	if x.Client != "" {
		r.Client = x.Client
	}
	sent := 0
	if x.Request != nil {
		sent = r.noteRequest(x.Request)
	}
	r.Reason = x.Passed
	r.Bill.add(&x, f.window, r.Last)
	for _, to := range []*row{r, &f.all} {
		to.Requests++
		if x.Recalls > 0 {
			to.Recalls++
		}
		to.Sent += sent
		to.History += x.History
		to.Recovered += x.Refusals
		if x.Request == nil {
			to.Passed++
		}
		to.Prompt += x.Usage.Prompt()
		to.CacheRead += x.Usage.CacheRead
		to.Output += x.Usage.Output
		to.Cache = to.Cache.Plus(1, x.Cache)
	}
}

// noteRequest notes what was sent, and returns the estimated tokens of its messages.
func (r *row) noteRequest(sent *winnow.Request) (tokens int) {
	for _, n := range sent.Counts {
		tokens += n
	}
	r.Records, r.Summary, r.Shorter = 0, 0, 0
	for _, e := range sent.Edits {
		switch e.Op {
		case winnow.OpFold:
			r.Records++
		case winnow.OpCompact:
			r.Summary++
		default:
			r.Shorter++
		}
	}
	return tokens
}

// Done says what was done with the messages of the last request, and what happened before.
func (r *row) Done() string {
	var done []string
	if r.Reason != "" {
		done = append(done, "not managed: "+r.Reason)
	}
	if r.Records > 0 {
		done = append(done, recording.Count(r.Records, "message")+" in records")
	}
	if r.Summary > 0 {
		done = append(done, recording.Count(r.Summary, "message")+" in a summary")
	}
	if r.Shorter > 0 {
		done = append(done, recording.Count(r.Shorter, "message")+" shortened")
	}
	if r.Recovered > 0 {
		done = append(done, recording.Count(r.Recovered, "refusal")+" recovered from so far")
	}
	return strings.Join(done, "; ")
}

// Missed says what was not read from the cache that was expected to be, and whose it was.
func (r *row) Missed() string {
	c := &r.Cache
	if c.Missed == 0 {
		return ""
	}
	said := fmt.Sprintf("%s of %s expected", recording.Comma(c.Missed), recording.Comma(c.Expected))
	for _, of := range []struct {
		tokens int
		whose  string
	}{
		{c.Lost, "the provider lost %s"}, {c.Changed, "the client changed %s"}, {c.Expired, "%s were too old"},
		{c.Rewritten, "Winnow rewrote %s"},
	} {
		if of.tokens > 0 {
			said += "; " + fmt.Sprintf(of.whose, recording.Comma(of.tokens))
		}
	}
	return said
}

// total is the first line of the page: what is known of all conversations that it shows.
type total struct {
	Known, Unknown int // conversations with a price, and without
	Paid, Own      float64
	NoFit          int
}

// Verdict compares what was paid with what the clients' own histories would have cost.
func (t total) Verdict() string {
	switch {
	case t.Own <= 0:
		return ""
	case t.NoFit > 0:
		return recording.Count(t.NoFit, "request") + " of these would not have fit"
	}
	return change(t.Paid, t.Own)
}

func totalOf(list []row) (t total) {
	for i := range list {
		b := &list[i].Bill
		switch own := b.Own().Paid; {
		case own <= 0: // nothing is counted
		case b.NoPrice != "":
			t.Unknown++
		default:
			t.Known++
			t.Paid += b.Paid
			t.Own += own
			t.NoFit += b.NoFit
		}
	}
	return t
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"count": recording.Comma, "money": inspect.Money,
	"percent": func(x float64) string { return fmt.Sprintf("%.4g %%", 100*x) },
	"share": func(e stats.Estimate) string {
		return fmt.Sprintf("%.0f %% (%.0f to %.0f)", 100*e.Mean, 100*e.Low, 100*e.High)
	},
	"mean": func(sum, n int) string { return recording.Comma(sum / max(1, n)) },
}).Parse(pageText))

// page shows the conversations, the newest first.
func (f *figures) page(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	all, list := f.all, make([]row, 0, len(f.conversations))
	for _, r := range f.conversations {
		list = append(list, *r)
	}
	f.mu.Unlock()
	slices.SortFunc(list, func(a, b row) int { return b.Last.Compare(a.Last) })
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = pageTemplate.Execute(w, map[string]any{ // else the reader has gone
		"All": &all, "List": list, "Links": f.links, "Total": totalOf(list), "Shadow": f.shadow.page(),
	})
}

// inspect shows what winnow inspect says of a history.
func (f *figures) inspect(w http.ResponseWriter, r *http.Request, history []winnow.Message) {
	var of row
	f.mu.Lock()
	if known := f.conversations[r.PathValue("name")]; known != nil {
		of = *known
	}
	f.mu.Unlock()
	if of.Name == "" || history == nil {
		http.Error(w, "winnow: no such conversation is in memory", http.StatusNotFound)
		return
	}
	// Where a price is not known, as on the page in front of this, there are no dollars.
	model := cmp.Or(of.Bill.NoPrice, of.Bill.model, of.Model)
	s := &recording.Session{Messages: history, Facts: recording.Facts{Model: model}}
	var page bytes.Buffer
	if _, err := inspect.WritePage(&page, inspect.Input{Name: of.Name, Session: s, Now: f.now()}); err != nil {
		http.Error(w, "winnow: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page.Bytes()) // else the reader has gone
}

// counters are the metrics, all without labels.
var counters = []struct {
	of    *prometheus.Desc
	value func(r *row) int
}{
	{counter("requests", "Requests that were answered."), func(r *row) int { return r.Requests }},
	{counter("overflows_recovered", "Refusals that no client saw."), func(r *row) int { return r.Recovered }},
	{counter("recalls", "Requests that answered a call of the recall tool."), func(r *row) int { return r.Recalls }},
	{counter("history_tokens", "Estimated tokens of the messages of clients."), func(r *row) int { return r.History }},
	{counter("sent_tokens", "Estimated tokens of the messages that were sent."), func(r *row) int { return r.Sent }},
	{counter("prompt_tokens", "Tokens of prompts, as providers counted."), func(r *row) int { return r.Prompt }},
	{counter("cache_read_tokens", "Of these, tokens read from the cache."), func(r *row) int { return r.CacheRead }},
	{counter("passed", "Requests that were passed on as they came."), func(r *row) int { return r.Passed }},
	{counter("cache_expected_tokens", "Tokens that were expected to be read, of requests that were counted."),
		func(r *row) int { return r.Cache.Expected }},
	{counter("cache_missed_tokens", "Of these, tokens that were not read."),
		func(r *row) int { return r.Cache.Missed }},
	{counter("cache_rewritten_tokens", "Tokens of the request before that were not read because Winnow rewrote them."),
		func(r *row) int { return r.Cache.Rewritten }},
	{counter("cache_changed_tokens", "The same, because the client changed them or what stands before them."),
		func(r *row) int { return r.Cache.Changed }},
	{counter("cache_expired_tokens", "The same, because they were too old."),
		func(r *row) int { return r.Cache.Expired }},
	{counter("cache_lost_tokens", "The same, because the provider lost them."),
		func(r *row) int { return r.Cache.Lost }},
	{counter("output_tokens", "Tokens of answers, as providers counted."), func(r *row) int { return r.Output }},
}

// shadowCounters are those of the shadow, if there is one.
var shadowCounters = []struct {
	of    *prometheus.Desc
	value func(f *shadowFigures) int
}{
	{counter("shadow_compared", "Requests that were compared with the client's own history."),
		func(f *shadowFigures) int { return f.Compared }},
	{counter("shadow_same", "Of these, where the model took the same step."),
		func(f *shadowFigures) int { return f.Same }},
	{counter("shadow_again", "Of these, where the step asks for what was left out."),
		func(f *shadowFigures) int { return f.Again }},
	{counter("shadow_again_only", "Of these, where it does not with the client's own history."),
		func(f *shadowFigures) int { return f.Only }},
	{counter("shadow_prompt_tokens", "Tokens of the prompts that were compared, as providers counted."),
		func(f *shadowFigures) int { return f.Tokens }},
	{counter("shadow_own_prompt_tokens", "Tokens of their prompts with the client's own history."),
		func(f *shadowFigures) int { return f.Own }},
	{counter("shadow_repeated", "Requests that were sent again as they were."),
		func(f *shadowFigures) int { return f.Repeated }},
	{counter("shadow_itself", "Of these, where the model took the same step."),
		func(f *shadowFigures) int { return f.Itself }},
	{counter("shadow_failed", "Requests whose shadow was not answered."),
		func(f *shadowFigures) int { return f.Failed }},
	{counter("shadow_unpaid", "Requests without a shadow, because the day's budget was spent."),
		func(f *shadowFigures) int { return f.Unpaid }},
}

var shadowDollars = counter("shadow_dollars", "What the shadows cost at list prices.")

func counter(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("winnow_"+name+"_total", help, nil, nil)
}

// Describe implements [prometheus.Collector].
func (f *figures) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(f, to) }

// Collect implements [prometheus.Collector].
func (f *figures) Collect(to chan<- prometheus.Metric) {
	f.mu.Lock()
	all := f.all
	f.mu.Unlock()
	for _, c := range counters {
		to <- prometheus.MustNewConstMetric(c.of, prometheus.CounterValue, float64(c.value(&all)))
	}
	if f.shadow == nil {
		return
	}
	s := f.shadow.figures()
	for _, c := range shadowCounters {
		to <- prometheus.MustNewConstMetric(c.of, prometheus.CounterValue, float64(c.value(&s)))
	}
	to <- prometheus.MustNewConstMetric(shadowDollars, prometheus.CounterValue, s.Dollars)
}
