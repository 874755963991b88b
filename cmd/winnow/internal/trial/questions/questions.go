// Package questions chooses requests of recorded sessions at which Winnow's differs from the history, and makes what a
// model is asked: the whole history, Winnow's request, with and without the recall tool, and probes. It asks nobody.
package questions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/judge"
	"github.com/winnowgo/winnow/internal/recall"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// Options say what is chosen.
type Options struct {
	Model  string // that is asked
	Window int    // its context window, in tokens
	System string // a system prompt that the recordings lack ("": none)
	Count  int    // of questions
	Probes int    // of each question, at most
	Seed   uint64

	Looked func(sessions int) // is told how many have been looked at (nil: nobody is)

	// Keeps reports whether the model can be sent a thinking part of a session that another model, or the same one,
	// has answered. nil: none is sent.
	Keeps func(recordedWith string, thinking *winnow.Part) bool
}

// Question is a request of a session, in the forms in which a model is asked what comes next.
type Question struct {
	ID      string // the session and the number of the request
	Session string
	System  string
	Tools   []winnow.Tool

	Whole  []winnow.Message // the history (A)
	Short  []winnow.Message // Winnow's request (B)
	Recall []winnow.Message // Winnow's request that says how to recall what it leaves out

	WholeTokens, ShortTokens int // estimates, with System and Tools
	Next                     winnow.Message
	LeftOut                  []judge.Shown
	Edits                    []winnow.Edit
	History                  []winnow.Message // that the edits count in
	Probes                   []judge.Probe

	recaller func() (*winnow.Manager, error)
}

// Found says what there was to choose from.
type Found struct {
	Sessions int // that have a question
	Without  int // that were looked at and have none
	Unread   int // files that are no session, or without an answer
	Requests int // of all sessions that were looked at
	Same     int // of these, where Winnow's request leaves out no old work
	TooLarge int // where the whole history does not fit into the window
	Left     Left
}

// Choose returns questions of the sessions, which open reads by their names. The same files and options give the same
// questions: sessions are drawn by the seed until there are as many as questions, or all. Of each session as many are
// taken as of any other, spread over its length.
func Choose(ctx context.Context, names []string, open func(name string) (*recording.Session, error), o Options) (
	list []*Question, f Found, err error) {
	r := rand.New(rand.NewPCG(o.Seed, 1))
	names = slices.Clone(names)
	slices.Sort(names)
	r.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	var with []*session
	for i, name := range names {
		if ctx.Err() != nil {
			return nil, f, ctx.Err()
		}
		if o.Looked != nil {
			o.Looked(i)
		}
		if len(with) == o.Count {
			break
		}
		s, err := newSession(name, open, &o)
		if err != nil {
			f.Unread++
			continue
		}
		if err := s.look(ctx, &f); err != nil {
			return nil, f, err
		}
		if len(s.candidates) > 0 {
			with = append(with, s)
		} else {
			f.Without++
		}
	}
	f.Sessions = len(with)
	kinds := map[string]int{}
	for i, n := range shares(with, o.Count) {
		made, err := with[i].make(ctx, spread(with[i].candidates, n, r))
		if err != nil {
			return nil, f, err
		}
		f.Left.add(with[i].left)
		for _, q := range made {
			q.Probes = fewest(q.Probes, o.Probes, kinds)
		}
		list = append(list, made...)
	}
	r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] }) // a trial that stops has some of each
	return list, f, nil
}

// shares says how many questions each session has: one more each, as long as it has candidates.
func shares(with []*session, count int) []int {
	n := make([]int, len(with))
	for isFull := false; !isFull; {
		isFull = true
		for i, s := range with {
			if count > 0 && n[i] < len(s.candidates) {
				n[i]++
				count--
				isFull = false
			}
		}
	}
	return n
}

// spread draws n of the candidates, one of each nth of them.
func spread(candidates []int, n int, r *rand.Rand) (drawn []int) {
	for i := range n {
		from, to := i*len(candidates)/n, (i+1)*len(candidates)/n
		drawn = append(drawn, candidates[from+r.IntN(to-from)])
	}
	return drawn
}

// fewest takes most of the probes, of the kinds that were taken least so far.
func fewest(probes []judge.Probe, most int, kinds map[string]int) []judge.Probe {
	slices.SortStableFunc(probes, func(a, b judge.Probe) int { return cmp.Compare(kinds[a.Kind], kinds[b.Kind]) })
	probes = probes[:min(len(probes), max(0, most))]
	for _, p := range probes {
		kinds[p.Kind]++
	}
	return probes
}

// session is a recording whose requests are made again.
type session struct {
	*Options
	name       string
	history    []winnow.Message
	requests   []recording.Request
	tools      []winnow.Tool
	estimator  winnow.Estimator
	overhead   int // tokens of the system prompt and the tools
	left       Left
	candidates []int // of requests
}

func newSession(name string, open func(string) (*recording.Session, error), o *Options) (*session, error) {
	recorded, err := open(name)
	if err != nil {
		return nil, err
	}
	c := cleaner{keeps: func(p *winnow.Part) bool { return o.Keeps != nil && o.Keeps(recorded.Model, p) }}
	s := &session{Options: o, name: name, history: c.clean(recorded.Messages)}
	s.left, s.tools = c.left, toolsOf(s.history)
	if s.requests, err = recording.Requests(s.history); err != nil {
		return nil, err
	}
	if s.estimator, err = winnow.NewEstimator(winnow.FamilyForModel(o.Model)); err != nil {
		return nil, err
	}
	text := o.System
	for _, t := range s.tools {
		text += t.Name + t.Description + string(t.Schema)
	}
	s.overhead = s.estimator.Estimate(winnow.Message{Role: winnow.RoleSystem, Parts: []winnow.Part{{Text: text}}})
	return s, nil
}

// manager returns a manager for the requests of the session, and its clock.
func (s *session) manager(recall bool) (*winnow.Manager, *time.Time, error) {
	clock := new(time.Time)
	m, err := winnow.New(s.Window, &winnow.Options{Model: s.Model, Estimator: s.estimator, Overhead: s.overhead,
		Recall: recall, Now: func() time.Time { return *clock }})
	return m, clock, err
}

// look finds the requests that can be questions.
func (s *session) look(ctx context.Context, f *Found) error {
	m, clock, err := s.manager(false)
	if err != nil {
		return err
	}
	tokens, known := s.overhead, 0
	for n, q := range s.requests {
		for i := range q.History[known:] {
			tokens += s.estimator.Estimate(q.History[known+i])
		}
		known = len(q.History)
		*clock = q.At
		f.Requests++
		sent, err := m.Prepare(ctx, q.History)
		switch {
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil: // it does not fit, even shortened: nobody can be asked
			f.TooLarge++
		case !leavesOut(sent.Edits), !canBeAsked(q.History):
			f.Same++
		case tokens > sent.Budget:
			f.TooLarge++
		default:
			s.candidates = append(s.candidates, n)
		}
	}
	return nil
}

// leavesOut reports whether something of the history is not sent. What is only mended or minified has all of it.
func leavesOut(edits []winnow.Edit) bool {
	return slices.ContainsFunc(edits, func(e winnow.Edit) bool {
		return e.Op != winnow.OpRepair && e.Op != winnow.OpMinify
	})
}

// canBeAsked reports whether the model is next, with no call that waits for its result.
func canBeAsked(history []winnow.Message) bool {
	repaired, _ := winnow.RepairToolPairing(history)
	if len(repaired) == 0 || repaired[len(repaired)-1].Role == winnow.RoleAssistant {
		return false
	}
	last := len(repaired) - 1
	answered := map[string]bool{}
	for ; last >= 0 && repaired[last].Role == winnow.RoleTool; last-- {
		answered[repaired[last].ToolCallID] = true
	}
	return last < 0 || !slices.ContainsFunc(repaired[last].Parts, func(p winnow.Part) bool {
		return p.Kind == winnow.KindToolCall && !answered[p.ID]
	})
}

// make makes the questions of the chosen requests, in the order of the session.
func (s *session) make(ctx context.Context, chosen []int) (list []*Question, err error) {
	short, clock, err := s.manager(false)
	if err != nil {
		return nil, err
	}
	offers, itsClock, err := s.manager(true)
	if err != nil {
		return nil, err
	}
	for n := 0; len(chosen) > 0; n++ {
		q := s.requests[n]
		*clock, *itsClock = q.At, q.At
		var before []byte
		if n == chosen[0] {
			if before, err = offers.Snapshot(); err != nil {
				return nil, err
			}
		}
		sent, err := short.Prepare(ctx, q.History)
		withRecall, err2 := offers.Prepare(ctx, q.History)
		if n != chosen[0] {
			continue
		}
		chosen = chosen[1:]
		if err := cmp.Or(err, err2); err != nil {
			return nil, fmt.Errorf("%s, request %d: %w", s.name, n+1, err)
		}
		list = append(list, s.question(n, sent, withRecall, before))
	}
	return list, nil
}

// question makes the question of one request. before is the manager with recall as it was in front of it.
func (s *session) question(n int, short, withRecall *winnow.Request, before []byte) *Question {
	history := s.requests[n].History
	whole, _ := winnow.RepairToolPairing(history)
	q := &Question{
		ID: fmt.Sprintf("%s:%d", s.name, n+1), Session: s.name, System: s.System, Tools: s.tools,
		Whole: whole, Short: short.Messages, Recall: withRecall.Messages, ShortTokens: short.Tokens,
		WholeTokens: s.overhead,
		Next:        s.history[len(history)], Edits: short.Edits, History: history,
		LeftOut: judge.LeftOut(history, short.Edits), Probes: probesOf(history),
	}
	for i := range whole {
		q.WholeTokens += s.estimator.Estimate(whole[i])
	}
	q.recaller = func() (*winnow.Manager, error) {
		m, clock, err := s.manager(true)
		if err != nil {
			return nil, err
		}
		*clock = s.requests[n].At
		if err := m.Restore(before); err != nil {
			return nil, err
		}
		_, err = m.Prepare(context.Background(), history)
		return m, err
	}
	return q
}

// AnswerRecall answers the calls of the recall tool in an answer. found says how many were shown something.
func (q *Question) AnswerRecall(ctx context.Context, answer winnow.Message) (results []winnow.Message, found int,
	err error) {
	m, err := q.recaller()
	if err != nil {
		return nil, 0, err
	}
	history := append(slices.Clip(q.History), answer)
	for _, p := range answer.Parts {
		if p.Kind != winnow.KindToolCall || p.Name != winnow.RecallTool().Name {
			continue
		}
		result, err := m.Recall(ctx, history, p.Arguments)
		if err != nil {
			return nil, 0, err
		}
		if !result.IsError && !recall.IsRefusal(recording.Text(&result)) {
			found++
		}
		result.ToolCallID, result.ToolName = p.ID, p.Name
		results = append(results, result)
	}
	return results, found, nil
}

// Recallable reports whether the recall tool shows what a step asks for again, when it is asked with words.
func (q *Question) Recallable(ctx context.Context, shown *judge.Shown) bool {
	line := ""
	for l := range strings.Lines(shown.Text) {
		if l = strings.TrimSpace(l); len(l) > len(line) && len(l) < 200 {
			line = l
		}
	}
	m, err := q.recaller()
	if err != nil || line == "" {
		return false
	}
	arguments, _ := json.Marshal(map[string]string{"pattern": regexp.QuoteMeta(line)})
	answer, err := m.Recall(ctx, q.History, arguments)
	_, quoted, _ := strings.Cut(recording.Text(&answer), "\n") // its first line repeats the question
	return err == nil && !answer.IsError && strings.Contains(html.UnescapeString(quoted), line)
}
