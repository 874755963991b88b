package trial

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/ask"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/questions"
)

// mostRefused questions in a row end a trial: something is wrong with all of them.
const mostRefused = 3

// Run asks the questions, as far as the budget goes, so many of them side by side. Those of one session are asked one
// after the other, and so are the forms of one question: what the provider has in its cache is what their order says.
// progress is told how many are done. Run returns what there is when it ends: with ctx, with the budget
// ([ask.ErrBudget]), or because the provider refuses everything.
func Run(ctx context.Context, list []*questions.Question, a *ask.Asker, sideBySide int, progress func(done int)) (
	[]*Result, error) {
	r := &runner{Asker: a, list: list, results: make([]*Result, len(list)), isTaken: make([]bool, len(list)),
		running: map[string]float64{}, progress: progress}
	r.changed = sync.NewCond(&r.mu)
	ctx, r.stop = context.WithCancel(ctx)
	defer r.stop()
	var workers sync.WaitGroup
	for range max(1, min(sideBySide, len(list))) {
		workers.Go(func() {
			for at := r.take(); at >= 0; at = r.take() {
				result, err := r.question(ctx, at, list[at])
				r.done(at, result, err)
			}
		})
	}
	workers.Wait()
	var results []*Result
	for _, result := range r.results {
		if result != nil {
			results = append(results, result)
		}
	}
	return results, r.err
}

// runner divides questions among those who ask them.
type runner struct {
	*ask.Asker
	list     []*questions.Question
	progress func(done int)

	mu      sync.Mutex
	changed *sync.Cond // a question is done
	results []*Result
	isTaken []bool
	running map[string]float64 // by session: what its question costs, in dollars
	count   int                // questions that are done
	refused int                // in a row of which nothing was answered
	err     error              // why no more are asked
	stop    func()             // ends those that are being asked, behind the answer that is on its way
}

// take returns the next question: the first one whose session is not being asked. It waits for one, and for what the
// budget has left when those that are being asked are paid. -1: there is none.
func (r *runner) take() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.err == nil {
		at := r.next()
		if at < 0 && len(r.running) == 0 {
			return -1
		}
		if at >= 0 {
			q := r.list[at]
			cost := 0.0
			if !Begun(r.Asker, q) {
				cost = Expected(r.Asker, q)
			}
			left := r.Left()
			for _, other := range r.running {
				left -= other
			}
			switch {
			case cost == 0 || cost <= left:
				r.isTaken[at], r.running[q.Session] = true, cost
				return at
			case len(r.running) == 0:
				r.err = ask.ErrBudget
				return -1
			}
		}
		r.changed.Wait()
	}
	return -1
}

// next returns the first question that is not taken and whose session is not being asked, or -1.
func (r *runner) next() int {
	for at, q := range r.list {
		if _, isRunning := r.running[q.Session]; !r.isTaken[at] && !isRunning {
			return at
		}
	}
	return -1
}

// done notes what became of a question.
func (r *runner) done(at int, result *Result, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.changed.Broadcast()
	delete(r.running, r.list[at].Session)
	r.results[at] = result
	if err != nil {
		if r.err == nil {
			r.err = err
		}
		if !errors.Is(err, ask.ErrBudget) { // what others need may be less
			r.stop()
		}
		return
	}
	r.refused++
	if len(result.Replies) > 0 {
		r.refused = 0
	}
	if r.refused == mostRefused && r.err == nil {
		r.err = fmt.Errorf("%d questions in a row were not answered; the last time: %s", mostRefused, result.Errors[0])
	}
	r.count++
	r.progress(r.count)
}
