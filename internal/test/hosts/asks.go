package hosts

import (
	"bytes"
	"context"
	"errors"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
)

// The calls that a host makes to its manager. Every answer is checked.

// question is a call of the manager with everything that is needed to check its answer.
type question struct {
	in     []winnow.Message // what was passed
	before []winnow.Message // a copy of it, with the memory after its end
	state  []byte           // the manager's state before the call
}

// ask returns a question with the history, in a list with guards after its end.
func (w *world) ask() *question {
	w.tick()
	w.isUsed, w.provider.calls = false, 0
	in := w.list()
	if w.setting.Host != "" { // the host's own list, because a copy would be in other memory each time
		room := append(append(make([]winnow.Message, 0, len(in)+2), in...), histories.User("guard"),
			histories.User("guard"))
		in = room[:len(in)]
	}
	q := &question{in: in, before: histories.Copy(in[:cap(in)]), state: w.snapshot()}
	w.states = append(w.states[max(0, len(w.states)-3):], q.state)
	return q
}

// snapshot returns the manager's state.
func (w *world) snapshot() []byte {
	b, err := w.manager.Snapshot()
	if err != nil {
		w.fail("a snapshot is always to be had", "%v", err)
	}
	return b
}

// twin returns a manager restored from the snapshot, with a summarizer in the same mood.
func (w *world) twin(state []byte) (*winnow.Manager, *summarizer) {
	s := &summarizer{world: w, mood: w.summarizer.mood, seed: w.summarizer.seed}
	m := w.newManager(s)
	if err := m.Restore(state); err != nil {
		w.fail("a snapshot can be restored", "%v", err)
	}
	return m, s
}

// prepare gets the next request from the manager and from a restored one, and compares both with the plan.
func (w *world) prepare(s *Step) {
	q := w.ask()
	plan := w.manager.Plan(q.in)
	if w.failed() {
		return
	}
	w.checkWritten(q, "Plan")
	ctx, cancel := w.context(s)
	defer cancel()
	var want *winnow.Request
	var wantErr error
	same := !w.options.Background && !w.unsettled && w.summarizer.mood != "uses"
	if same {
		twin, _ := w.twin(q.state)
		want, wantErr = twin.Prepare(ctx, deepCopy(q.in))
		twin.Close()
	}
	w.summarizer.calls.Store(0)
	got, err := w.manager.Prepare(ctx, q.in)
	w.checkWritten(q, "Prepare")
	if (w.summarizer.calls.Load() > 0 || ctx.Err() != nil) && (err != nil || got.Compaction == nil) {
		w.unsettled = true
	}
	// A restored manager in another window, whose first request this is, does not yet know that nothing can fit. One
	// that was restored just now ignores counts of the process before it where nothing fits with them.
	// What is damaged in a state may be kept in memory otherwise than in the next snapshot.
	mayDiffer := w.damaged || errors.Is(wantErr, winnow.ErrOverflow) || w.usage && errors.Is(err, winnow.ErrOverflow)
	if same && ctx.Err() == nil && !mayDiffer && !errors.Is(err, errDisk) {
		w.checkSame("a restored manager is the one that goes on", want, got, wantErr, err)
	}
	if err != nil {
		w.checkError(q, err)
		return
	}
	w.checkPlan(plan, got)
	w.checkJournal()
	w.checkRequest(q, got)
	w.accept(got)
}

func (w *world) plan(s *Step) {
	q := w.ask()
	switch {
	case s.is("part"):
		w.manager.Plan(q.in[:len(q.in)-min(len(q.in), s.N)])
	case s.is("other"):
		w.manager.Plan([]winnow.Message{histories.User("Another conversation.")})
	default:
		w.manager.Plan(q.in)
	}
	w.checkWritten(q, "Plan")
	w.checkState(q, "Plan")
}

func (w *world) compact(s *Step) {
	q := w.ask()
	ctx, cancel := w.context(s)
	defer cancel()
	instructions := ""
	if s.is("hostile") {
		instructions = hostileText(s.Seed)
	}
	w.summarizer.calls.Store(0)
	r, err := w.manager.Compact(ctx, q.in, instructions)
	w.checkWritten(q, "Compact")
	if err != nil {
		w.unsettled = true
		if !errors.Is(err, winnow.ErrCompaction) && !errors.Is(err, winnow.ErrOverflow) &&
			!errors.Is(err, errDisk) && ctx.Err() == nil {
			w.fail("an error is one to branch on", "Compact: %v", err)
		}
		w.checkState(q, "a Compact that failed")
		return
	}
	if r.Compaction == nil {
		w.fail("Compact compacts", "Request.Compaction is nil")
		return
	}
	w.unsettled = false
	w.checkJournal()
	w.checkRequest(q, r)
	w.accept(r)
}

// recover refuses the last request and lets the manager recover.
func (w *world) recover(s *Step) {
	q := w.ask()
	ctx, cancel := w.context(s)
	defer cancel()
	isLast := w.sentAt == w.version
	if !isLast { // the refused request is not the manager's last one
		w.provider.tokens, w.provider.body = w.provider.count(q.in), body(q.in)
	}
	cause := w.cause(s)
	w.summarizer.calls.Store(0)
	r, err := w.manager.Recover(ctx, q.in, cause)
	if r != nil {
		w.seen["rung "+r.Rung]++
	}
	w.unsettled = w.unsettled || w.summarizer.calls.Load() > 0
	w.checkWritten(q, "Recover")
	w.usage = true // a refusal names counts and limits
	if err != nil {
		if !errors.Is(err, cause) && !errors.Is(err, errDisk) {
			w.fail("an error is one to branch on", "Recover: %v does not wrap its cause", err)
		}
		return
	}
	w.checkJournal()
	if r.Rung == "" {
		w.fail("Recover names its rung", "it is empty")
	}
	w.checkRequest(q, r)
	// the manager counts differently
	if n := body(r.Messages); isLast && s.is("bytes") && s.N >= 200 && n > s.N+s.N/8 {
		w.fail("what a provider said of its limit is held", "a body of %d bytes where %d are allowed", n, s.N)
	}
	if isLast && s.is("tokens") && s.N > 0 && r.Tokens > s.N {
		w.fail("what a provider said of its limit is held", "%d tokens where %d are allowed", r.Tokens, s.N)
	}
	w.accept(r)
}

// cause returns a refusal of the last request in the words of one of the providers. Its counts are true.
func (w *world) cause(s *Step) error {
	switch {
	case s.is("bytes"):
		return errTooLarge(max(w.provider.body, s.N+1), s.N)
	case s.is("tokens") && s.N > 0:
		return refusal(0, max(w.provider.tokens, s.N+1), s.N)
	case s.is("outage"):
		return errWeather
	}
	return errTooLong
}

// maxRetries is how often one request is tried again.
const maxRetries = 3

// do plays a whole run: the request, the call, and smaller requests.
func (w *world) do(s *Step) {
	q := w.ask()
	ctx, cancel := w.context(s)
	defer cancel()
	w.provider.calls, w.provider.refused = 0, map[uint64]bool{}
	w.summarizer.calls.Store(0)
	_, r, err := winnow.Do(ctx, w.manager, q.in, func(_ context.Context, messages []winnow.Message) (int, error) {
		w.checkWire(q.in, messages, "what Do sends")
		return w.provider.call(w, messages)
	})
	w.unsettled = w.unsettled || w.summarizer.calls.Load() > 0 || ctx.Err() != nil
	w.checkWritten(q, "Do")
	if len(w.provider.refused) > 0 {
		w.usage = true
	}
	if err != nil && w.isUsed { // the last request is perhaps the one that a summarizer asked for, and not r
		defer func() { w.unknown = true }()
	}
	if w.provider.calls > 1+maxRetries && !w.isUsed { // else each Prepare that a summarizer asked for began anew
		w.fail("at most three retries", "%d calls of the provider in one run", w.provider.calls)
	}
	if r == nil {
		if err == nil {
			w.fail("Do returns what was sent", "neither a request nor an error")
			return
		}
		w.checkError(q, err)
		return
	}
	if w.provider.calls > 1 || w.isUsed {
		w.sent, w.unknown = nil, true // FirstChanged compares with a request that nobody saw
	}
	w.checkRequest(q, r)
	w.accept(r)
}

// restart plays a new process, perhaps with other options.
func (w *world) restart(s *Step) {
	state := w.snapshot()
	old := w.options
	switch {
	case s.is("wider"):
		w.options.Window = 2 * w.window()
	case s.is("narrower"):
		w.options.Window = max(400, w.window()/2)
	case s.is("turns"):
		w.options.Turns = 1 + abs(s.Seed)%4
	case s.is("cache"):
		w.options.NoCache = !old.NoCache
	case s.is("estimator"):
		w.options.Estimator, w.recount = 1-old.Estimator, true
	case s.is("cuts"):
		w.options.Truncate, w.options.Tools = old.Truncate+1, old.Tools+1
	case s.is("off"):
		w.options.Off = !old.Off
	case s.is("fold"):
		w.options.FoldAbove = []float64{0, -1, 0.05, 0.2, 1}[abs(s.Seed)%5]
	case s.is("minify"):
		w.options.Minify = old.Minify + 1
	case s.is("model"):
		w.options.Model = abs(s.Seed) % len(modelNames)
		w.isOther, w.usage = true, true
		clear(w.bound)
	case s.is("recall"):
		w.options.Recall = !old.Recall
	}
	m := w.newManager(w.summarizer)
	if err := m.Restore(state); err != nil {
		w.fail("a snapshot can be restored", "%v", err)
		return
	}
	again, err := m.Snapshot()
	// In another window, limits and failures of the old one are forgotten.
	if err != nil || w.options.Window == old.Window && w.options.Model == old.Model && !bytes.Equal(state, again) {
		w.fail("a restored state is the state", "%v\n%s\n%s", err, clip(string(state)), clip(string(again)))
	}
	w.goOnWith(m, state)
}

// lose plays a new process without the state.
func (w *world) lose(*Step) {
	w.goOnWith(w.newManager(w.summarizer), nil)
	w.sent, w.sentAt, w.unsettled = nil, -1, false
	clear(w.bound)
}
