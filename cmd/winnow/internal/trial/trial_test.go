package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/ask"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/questions"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/stats"
	"github.com/winnowgo/winnow/internal/test/provider"
)

var aNote = regexp.MustCompile(`note (\d+)`)

// steady is a model that needs only what records hold: it goes on behind the last note.
func steady(r *provider.Request) provider.Answer {
	last := 0
	for _, m := range aNote.FindAllStringSubmatch(shown(r), -1) {
		n, _ := strconv.Atoi(m[1])
		last = max(last, n)
	}
	return fetches(fmt.Sprint("behind note ", last))
}

// needy is a model that needs a line which records leave out: it fetches the first page again if its word is missing.
func needy(r *provider.Request) provider.Answer {
	if !strings.Contains(shown(r), "-0 indeed") {
		return fetches(firstPage(r))
	}
	return steady(r)
}

// project is the number of the session.
func project(r *provider.Request) string {
	_, behind, _ := strings.Cut(shown(r), "notes of project ")
	number, _, _ := strings.Cut(behind, ",")
	return number
}

// firstPage is the page that the agent fetched first.
func firstPage(r *provider.Request) string { return "p" + project(r) + "-0" }

// TestModels: a model that needs only what records hold passes, and one that needs what they leave out is found, with
// as many questions as the tool states.
func TestModels(t *testing.T) {
	list := choose(t, 50, options(50))
	r, err := newTrial(t, "messages", provider.Options{Model: steady}).run(t.Context(), list)
	require.NoError(t, err)
	assert.Equal(t, 50, r.Questions)
	assert.Equal(t, "not worse", r.Worse.Verdict(), r.Worse.Sentence(0))
	assert.Equal(t, "not worse", r.WithTool.Verdict())
	assert.Zero(t, r.Again.Short)
	assert.Empty(t, r.Apart)
	assert.LessOrEqual(t, r.Worse.Needed, r.Questions)

	r, err = newTrial(t, "chat", provider.Options{Model: needy}).run(t.Context(), list[:r.Worse.Needed])
	require.NoError(t, err)
	assert.Equal(t, "worse", r.Worse.Verdict(), r.Worse.Sentence(0))
	assert.Equal(t, Again{Short: 45, Only: 45, Recallable: 45, WithTool: 45}, r.Again, "each asks for the page again, and the tool has it")
	assert.Len(t, r.Apart, r.Questions)
}

// calls is a model that calls the recall tool with arguments, as often as it may, wherever it is offered.
func calls(arguments func(r *provider.Request) string) func(*provider.Request) provider.Answer {
	return func(r *provider.Request) provider.Answer {
		if slices.Contains(r.Tools, "recall") && !strings.Contains(shown(r), "-0 indeed") {
			return provider.Answer{Calls: []provider.ToolCall{{Name: "recall", Arguments: json.RawMessage(arguments(r))}}}
		}
		return needy(r)
	}
}

// TestRecall: a model that recalls what it needs takes the same step as with the whole history; one that recalls
// nonsense takes no step, which counts.
func TestRecall(t *testing.T) {
	list := choose(t, 12, options(12))
	word := func(r *provider.Request) string {
		return fmt.Sprintf(`{"pattern":"the word is word-%s-0 indeed"}`, project(r))
	}
	for _, tt := range []struct {
		name     string
		model    func(*provider.Request) provider.Answer
		verdict  string
		recalled Again
	}{
		{"never", needy, "worse", Again{Short: 12, Only: 12, Recallable: 12, WithTool: 12}},
		{"wrongly", calls(func(*provider.Request) string { return `{"handle":"99999999"}` }), "worse",
			Again{Short: 12, Only: 12, Recallable: 12, Recalled: 12, Calls: 36}},
		{"when it needs it", calls(func(r *provider.Request) string { return word(r) }), "not decided",
			Again{Short: 12, Only: 12, Recallable: 12, Recalled: 12, Calls: 12, Found: 12}},
	} {
		r, err := newTrial(t, "messages", provider.Options{Model: tt.model}).run(t.Context(), list)
		require.NoError(t, err, tt.name)
		assert.Equal(t, tt.verdict, r.WithTool.Verdict(), "%s: %s", tt.name, r.WithTool.Sentence(0))
		assert.Equal(t, tt.recalled, r.Again, tt.name)
	}
}

// TestProbes: what code knows is compared with what the model says, with each request.
func TestProbes(t *testing.T) {
	o := options(10)
	o.Probes = 5
	list := choose(t, 10, o)
	x := newTrial(t, "messages", provider.Options{Model: func(r *provider.Request) provider.Answer {
		if strings.Contains(r.Last().Text, "How does the first message begin") {
			if strings.Contains(shown(r), "-0 indeed") { // it has the whole history
				return provider.Answer{Text: "It begins: “READ the notes of project " + project(r) + ", all"}
			}
			return provider.Answer{Text: "It begins: Read something."}
		}
		return steady(r)
	}})
	r, err := x.run(t.Context(), list)
	require.NoError(t, err)
	for _, k := range r.Kinds {
		assert.Equal(t, questions.ProbePerson, k.Name)
		assert.Zero(t, k.Short)
	}
	assert.NotEqual(t, "not worse", r.Probes.Verdict())
}

// TestBalance: with a provider that caches, requests with the same bytes cost the same in each form, whichever is asked
// first: the order evens out what one finds in the cache because of another.
func TestBalance(t *testing.T) {
	list := choose(t, 12, options(12))
	for _, q := range list {
		q.Short, q.Recall, q.ShortTokens = q.Whole, q.Whole, q.WholeTokens
	}
	x := newTrial(t, "chat", provider.Options{Model: steady})
	var whole, short float64
	results, err := Run(t.Context(), list, x.Asker, 1, func(int) {})
	require.NoError(t, err)
	for i, r := range results {
		order := orders[i%len(orders)]
		first := order[min(slices.Index(order, Whole), slices.Index(order, WholeAgain))]
		whole += r.Replies[first].Prompt / float64(r.WholeTokens) // so that it does not matter which question is larger
		short += r.Replies[Short].Prompt / float64(r.WholeTokens)
	}
	assert.InEpsilon(t, whole, short, 0.01)
	var sum [2]float64
	report := NewReport(t.Context(), results, 0, 1)
	for i, form := range []string{Whole, Short} {
		for _, p := range report.Prices {
			if p.Form == form {
				sum[i] = p.Cold
			}
		}
	}
	assert.InDelta(t, sum[0], sum[1], sum[0]/20, "cold is cold in each form")
}

// TestOrders: each form is asked as often in front of each other one as behind it.
func TestOrders(t *testing.T) {
	for _, a := range orders[0] {
		for _, b := range orders[0] {
			before := 0
			for _, o := range orders {
				if slices.Index(o, a) < slices.Index(o, b) {
					before++
				}
			}
			if a != b {
				assert.Equal(t, len(orders)/2, before, "%s in front of %s", a, b)
			}
		}
	}
}

// TestKilled: a trial that is killed anywhere goes on where it was, asks nothing twice, and comes to the same figures
// but for what was on its way.
func TestKilled(t *testing.T) {
	o := options(6)
	o.Probes = 1
	list := choose(t, 6, o)
	var killAt, asked atomic.Int64
	var stop context.CancelFunc
	model := func(r *provider.Request) provider.Answer {
		if asked.Add(1) == killAt.Load() {
			stop()
		}
		return steady(r)
	}
	x := newTrial(t, "messages", provider.Options{Model: model})
	for _, at := range []int64{3, 9, 20} { // a signal: the answer on its way is taken
		ctx, cancel := context.WithCancel(t.Context())
		stop = cancel
		killAt.Store(at)
		_, err := x.run(ctx, list)
		assert.ErrorIs(t, err, context.Canceled)
		x.open(t)
	}
	// A kill: the log has that a request was sent, and half a line.
	data, err := os.ReadFile(x.log)
	require.NoError(t, err)
	lines := strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
	last := lines[len(lines)-1]
	require.Contains(t, last, `"answered"`)
	require.NoError(t, os.WriteFile(x.log, []byte(strings.TrimSuffix(string(data), last+"\n")+last[:len(last)/2]), 0o600))
	x.open(t)
	r, err := x.run(t.Context(), list)
	require.NoError(t, err)
	assert.Equal(t, len(list)-1, r.Questions)
	assert.Equal(t, 1, r.Missing, "the question whose answer was lost")
	bodies := map[string]int{}
	for _, e := range x.provider.Exchanges() {
		bodies[string(e.Body)]++
	}
	for body, n := range bodies { // the whole history is asked twice on purpose
		assert.LessOrEqual(t, n, 2, "%.100s", body)
	}
	paid := len(x.provider.Exchanges())
	again, err := x.run(t.Context(), list)
	require.NoError(t, err)
	assert.Equal(t, r, again, "the log is the evidence: the figures come from it alone")
	assert.Len(t, x.provider.Exchanges(), paid)
}

// TestBudget: never more than the budget and one answer, and a larger budget goes on.
func TestBudget(t *testing.T) {
	list := choose(t, 8, options(8))
	x := newTrial(t, "messages", provider.Options{Model: steady})
	for _, budget := range []float64{0.01, 0.2, 0.5} {
		x.Budget = budget
		_, err := x.run(t.Context(), list)
		assert.ErrorIs(t, err, ask.ErrBudget)
		assert.LessOrEqual(t, x.Log.Spent(), budget)
	}
	billed := 0.0
	for _, e := range x.provider.Exchanges() {
		billed += x.Price(winnow.Usage{Input: e.Usage.Input, CacheRead: e.Usage.CacheRead, CacheWrite: e.Usage.CacheWrite,
			Output: e.Usage.Output})
	}
	assert.InDelta(t, billed, x.Log.Spent(), 1e-9, "what the provider billed")
	assert.Greater(t, billed, 0.2, "a larger budget goes on")
}

// TestSideBySide: sessions are asked side by side, and nothing else: the requests of one session come one after the other,
// in the order of the forms, so that the figures are those of a trial that asks one after the other. The budget holds.
func TestSideBySide(t *testing.T) {
	list := choose(t, 6, options(12))
	var mu sync.Mutex
	asked, most := map[string]int{}, 0
	slow := func(r *provider.Request) provider.Answer {
		mu.Lock()
		asked[project(r)]++
		assert.Equal(t, 1, asked[project(r)], "one request of a session at a time")
		most = max(most, len(asked))
		mu.Unlock()
		time.Sleep(10 * time.Millisecond)
		mu.Lock()
		delete(asked, project(r))
		mu.Unlock()
		return needy(r)
	}
	var reports []*Report
	for _, n := range []int{1, 4} {
		x := newTrial(t, "messages", provider.Options{Model: slow})
		x.sideBySide = n
		r, err := x.run(t.Context(), list)
		require.NoError(t, err)
		assert.LessOrEqual(t, most, n)
		assert.Equal(t, n > 1, most > 1, "side by side")
		for _, d := range r.Apart {
			d.Result = nil
		}
		reports = append(reports, r)
		require.NoError(t, x.Log.Close())
		x.open(t)
		again, err := x.run(t.Context(), list)
		require.NoError(t, err)
		assert.Equal(t, r.Rows, again.Rows, "the log has all of it")
		assert.Equal(t, 12*len(orders[0]), len(x.provider.Exchanges()))
	}
	reports[1].Spent = reports[0].Spent // but for the last digits: it is a sum in another order
	assert.Equal(t, reports[0], reports[1])

	x := newTrial(t, "messages", provider.Options{Model: func(r *provider.Request) provider.Answer {
		a := slow(r)
		a.Text = strings.Repeat("I think aloud. ", 900) // six times as long as expected
		return a
	}})
	x.sideBySide, x.Budget = 4, 1
	_, err := x.run(t.Context(), list)
	assert.ErrorIs(t, err, ask.ErrBudget)
	assert.LessOrEqual(t, x.Log.Spent(), 1+x.Price(winnow.Usage{Output: MaxTokens}), "the budget, and one answer")
	assert.Greater(t, x.Log.Spent(), 0.8)
}

// TestProviders: what a provider does that is not well.
func TestProviders(t *testing.T) {
	list := choose(t, 6, options(6))
	n := 0
	for _, tt := range []struct {
		name      string
		model     func(*provider.Request) provider.Answer
		questions int
		err       string
	}{
		{"busy at first", func(r *provider.Request) provider.Answer {
			if n++; n%3 == 0 {
				return provider.Answer{Error: &provider.Error{Status: 429, Message: "wait a moment"}}
			}
			return steady(r)
		}, 6, ""},
		{"busy for good", func(*provider.Request) provider.Answer {
			return provider.Answer{Error: &provider.Error{Status: 529, Message: "overloaded"}}
		}, 0, "refused with status 529"},
		{"refuses one request", func(r *provider.Request) provider.Answer {
			if strings.Contains(shown(r), "notes of project 3,") {
				return provider.Answer{Error: &provider.Error{Status: 400, Message: "against the rules"}}
			}
			return steady(r)
		}, 5, ""},
		{"refuses the key", func(*provider.Request) provider.Answer {
			return provider.Answer{Error: &provider.Error{Status: 401, Message: "no such key: sk-secret-of-the-test"}}
		}, 0, `no such key: \(key\)`},
		{"refuses everything", func(*provider.Request) provider.Answer {
			return provider.Answer{Error: &provider.Error{Status: 400, Message: "unknown tool type"}}
		}, 0, "3 questions in a row were not answered; the last time: .*unknown tool type"},
		{"dies in the middle of an answer", func(r *provider.Request) provider.Answer {
			a := steady(r)
			a.Cut = strings.Contains(shown(r), "notes of project 4,")
			return a
		}, 5, ""},
		{"is slow", func(r *provider.Request) provider.Answer {
			a := steady(r)
			a.Delay = 5 * time.Millisecond
			return a
		}, 6, ""},
	} {
		n = 0
		x := newTrial(t, "messages", provider.Options{Model: tt.model})
		x.Client.Wait = func(context.Context, time.Duration) error { return nil }
		r, err := x.run(t.Context(), list)
		if tt.err == "" {
			assert.NoError(t, err, tt.name)
		} else if assert.Error(t, err, tt.name) {
			assert.Regexp(t, tt.err, err.Error(), tt.name)
		}
		assert.Equal(t, tt.questions, r.Questions, tt.name)
		data, err := os.ReadFile(x.log)
		require.NoError(t, err)
		assert.NotContains(t, string(data), "sk-secret", "%s: the key is written nowhere", tt.name)
	}
}

// TestUnreached: a provider that cannot be reached is paid nothing.
func TestUnreached(t *testing.T) {
	list := choose(t, 1, options(1))
	x := newTrial(t, "messages", provider.Options{})
	x.server.Close()
	x.Client.Wait = func(context.Context, time.Duration) error { return nil }
	_, err := x.run(t.Context(), list)
	assert.False(t, err == nil || errors.Is(err, ask.ErrLost), "%v", err)
	assert.Zero(t, x.Log.Spent(), "nothing was reached")
}

// Few questions say nothing: a model that differs from itself at random is "worse" in one of four trials of one question.
func TestFewQuestionsSayNothing(t *testing.T) {
	t.Parallel()
	scores := func(n int, value float64) (list []stats.Score) {
		for range n {
			list = append(list, stats.Score{Session: "s", Value: value})
		}
		return list
	}
	few := NewDifference(scores(9, 1), scores(9, 1), 1)
	assert.Equal(t, "not decided", few.Verdict())
	assert.Equal(t, "9 questions: too few to say anything; 10 are the least.", few.Sentence(0))
	enough := NewDifference(scores(10, 1), scores(10, 1), 1)
	assert.Equal(t, "worse", enough.Verdict())
}
