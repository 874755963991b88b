// Package trial asks a model what comes next in recorded sessions, with the whole history and with Winnow's request,
// and says how much the answers differ from each other, beside how much the model differs from itself.
package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/ask"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/judge"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/questions"
)

// The forms in which a question is asked. They are the names in the log.
const (
	Whole      = "whole history"
	WholeAgain = "whole history, again"
	Short      = "winnow"
	Recall     = "winnow with recall"
)

// MaxTokens is how long an answer may be. Models that think before they answer need room for it.
const MaxTokens = 4096

// mostRecalls are answered before a model has to take a step.
const mostRecalls = 3

// expectedOutput is how long an answer is expected to be, in tokens, and one to a probe.
const expectedOutput, expectedProbe = 500, 60

// Reply is what a model did in one form of a question.
type Reply struct {
	Answer  ask.Answer
	Prompt  float64 // dollars, of what was sent; recalls are sent too
	Tokens  int     // of that
	IsWarm  bool    // the provider read most of the first prompt from its cache
	Recalls int
	Found   int  // recalls that were answered with what they asked for
	IsStuck bool // it recalled again and again, and took no step
}

// Step is what the model did next.
func (r *Reply) Step() judge.Step {
	if r.IsStuck {
		return judge.Step{{Does: winnow.RecallTool().Name}}
	}
	return judge.StepOf(&r.Answer.Message)
}

// Probed is a probe with the answers to it; nil: there is none.
type Probed struct {
	judge.Probe
	Whole, Short *Reply
}

// Result is what became of a question. Forms without an answer are missing.
type Result struct {
	*questions.Question
	Replies map[string]*Reply
	Probes  []Probed
	Errors  []string
}

// IsWhole reports whether the question counts: the history and Winnow's request were answered.
func (r *Result) IsWhole() bool {
	return r.Replies[Whole] != nil && r.Replies[WholeAgain] != nil && r.Replies[Short] != nil
}

// Expected is what a question costs if nothing of it has been asked, in dollars: the history and Winnow's two requests
// are sent once with a cold cache, and what comes behind them with a warm one.
func Expected(a *ask.Asker, q *questions.Question) float64 {
	cost := a.Expect(q.WholeTokens, expectedOutput, false) + a.Expect(q.WholeTokens, expectedOutput, true) +
		2*a.Expect(q.ShortTokens, expectedOutput, false)
	for range q.Probes {
		cost += a.Expect(q.WholeTokens, expectedProbe, true) + a.Expect(q.ShortTokens, expectedProbe, true)
	}
	return cost
}

// Uncached returns what a question costs at a provider whose cache has nothing of it.
func Uncached(a *ask.Asker, q *questions.Question) float64 {
	cost := 2 * (a.Expect(q.WholeTokens, expectedOutput, false) + a.Expect(q.ShortTokens, expectedOutput, false))
	for range q.Probes {
		cost += a.Expect(q.WholeTokens, expectedProbe, false) + a.Expect(q.ShortTokens, expectedProbe, false)
	}
	return cost
}

// orders are those in which the forms of a question are asked. Each is as often in front of each other one as behind
// it, so that what one finds in the cache because of another evens out; the two with the same bytes stay together, the
// first of them being the cold one.
var orders = [...][]string{
	{Whole, WholeAgain, Short, Recall}, {Recall, Short, WholeAgain, Whole}, {Short, WholeAgain, Whole, Recall},
	{Recall, Whole, WholeAgain, Short}, {Short, Recall, Whole, WholeAgain}, {WholeAgain, Whole, Recall, Short},
}

// question asks one question in all its forms, and then its probes. The order depends on its place in the trial.
func (r *runner) question(ctx context.Context, at int, q *questions.Question) (*Result, error) {
	result := &Result{Question: q, Replies: map[string]*Reply{}}
	for _, form := range orders[at%len(orders)] {
		reply, err := r.form(ctx, q, form)
		if err = result.note(form, err); err != nil {
			return result, err
		}
		if reply != nil {
			result.Replies[form] = reply
		}
	}
	if len(result.Replies) == 0 {
		return result, nil
	}
	for i := range q.Probes {
		p := Probed{Probe: q.Probes[i]}
		of := []struct {
			form string
			to   **Reply
		}{{Whole, &p.Whole}, {Short, &p.Short}}
		if (at+i)%2 == 1 {
			slices.Reverse(of)
		}
		for _, x := range of {
			reply, err := r.probe(ctx, q, x.form, &p.Probe)
			if err = result.note(p.Kind, err); err != nil {
				return result, err
			}
			*x.to = reply
		}
		result.Probes = append(result.Probes, p)
	}
	return result, nil
}

// Begun reports whether the log has that a question was asked.
func Begun(a *ask.Asker, q *questions.Question) bool {
	for _, form := range orders[0] {
		body, err := ask.Body(a.Client.API, a.Client.Model, request(q, form))
		if err == nil && a.Has(q.ID, form, body) {
			return true
		}
	}
	return false
}

// note keeps an error of one request, and returns those that end the trial.
func (r *Result) note(form string, err error) error {
	var refused *ask.RefusedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && !refused.EndsTrial(), errors.Is(err, ask.ErrLost):
		r.Errors = append(r.Errors, form+": "+err.Error())
		return nil
	}
	return err
}

// request is a question in one form.
func request(q *questions.Question, form string) *ask.Request {
	r := &ask.Request{System: q.System, Messages: q.Whole, Tools: q.Tools, MaxTokens: MaxTokens}
	switch form {
	case Short:
		r.Messages = q.Short
	case Recall:
		r.Messages, r.Tools = q.Recall, append(slices.Clip(q.Tools), winnow.RecallTool())
	}
	r.Shared = len(r.Messages)
	return r
}

// tokens estimates the prompt of a form.
func tokens(q *questions.Question, form string) int {
	if form == Whole || form == WholeAgain {
		return q.WholeTokens
	}
	return q.ShortTokens
}

// form asks a question in one form. With the recall tool its calls are answered; no other call is executed.
func (r *runner) form(ctx context.Context, q *questions.Question, form string) (*Reply, error) {
	req, reply, name := request(q, form), &Reply{}, form
	for {
		answer, err := r.Ask(ctx, q.ID, name, req, r.Expect(tokens(q, form), expectedOutput, reply.Recalls > 0))
		if err != nil {
			return nil, err
		}
		reply.take(r, answer)
		if form != Recall || len(judge.StepOf(&answer.Message)) > 0 {
			break
		}
		results, found, err := q.AnswerRecall(ctx, answer.Message)
		if err != nil {
			return nil, err
		}
		if len(results) == 0 {
			break
		}
		reply.Recalls += len(results)
		reply.Found += found
		if reply.Recalls >= mostRecalls {
			reply.IsStuck = true
			break
		}
		req.Messages = append(append(slices.Clip(req.Messages), answer.Message), results...)
		name = fmt.Sprintf("%s, behind %d", form, reply.Recalls)
	}
	if len(reply.Answer.Parts) == 0 && reply.Answer.IsCut {
		return nil, fmt.Errorf("%w: it was cut before it began, at %d tokens", ask.ErrLost, MaxTokens)
	}
	return reply, nil
}

// take adds an answer to what the model did in one form. The first one says whether the cache was warm.
func (r *Reply) take(of *runner, answer ask.Answer) {
	if r.Answer.Usage == nil {
		r.IsWarm = 2*answer.Usage.CacheRead > answer.Usage.Prompt()
	}
	r.Answer = answer
	r.Tokens += answer.Usage.Prompt()
	sent := *answer.Usage
	sent.Output = 0
	r.Prompt += of.Price(sent)
}

// probe asks a probe behind one form.
func (r *runner) probe(ctx context.Context, q *questions.Question, form string, p *judge.Probe) (*Reply, error) {
	answer, err := r.Ask(ctx, q.ID, "probe: "+p.Kind+", "+form, probeRequest(q, form, p),
		r.Expect(tokens(q, form), expectedProbe, true))
	if err != nil {
		return nil, err
	}
	reply := &Reply{}
	reply.take(r, answer)
	return reply, nil
}

// probeRequest puts a probe behind what was sent before, so that the cache has that.
func probeRequest(q *questions.Question, form string, p *judge.Probe) *ask.Request {
	r := request(q, form)
	r.Messages = append(slices.Clip(r.Messages), winnow.Message{Role: winnow.RoleUser,
		Parts: []winnow.Part{{Text: p.Ask}}})
	return r
}
