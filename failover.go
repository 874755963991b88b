package winnow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// FirstOf returns a summarizer that asks each of s in turn until one answers. A summarizer that fails with a
// rate-limit, quota or auth error, as [ClassifyError] reads it, is skipped for cooldown; while all of them rest, the
// one that is free soonest is called. A cooldown of 0 or less means no rest. The error joins the errors of all that
// were asked; if ctx has ended, it is that of ctx alone. Without summarizers every call fails. If a [Digest] among s
// answers, the summary counts as Degraded.
func FirstOf(cooldown time.Duration, s ...Summarizer) Summarizer {
	list := slices.DeleteFunc(slices.Clone(s), func(one Summarizer) bool { return one == nil })
	return &failover{cooldown: max(0, cooldown), list: list, rests: make([]time.Time, len(list))}
}

// failover is the summarizer of [FirstOf].
type failover struct {
	cooldown time.Duration
	list     []Summarizer
	mu       sync.Mutex
	rests    []time.Time // until when each of list rests; zero: it does not
}

func (f *failover) Summarize(ctx context.Context, req SummaryRequest) (string, error) {
	a, err := f.summarize(ctx, req)
	return a.text, err
}

// summarize also says whether the text was made without an LLM.
func (f *failover) summarize(ctx context.Context, req SummaryRequest) (answer, error) {
	if len(f.list) == 0 {
		return answer{}, errors.New("winnow: FirstOf has no summarizer to ask")
	}
	var failed []error
	for _, i := range f.ready(time.Now()) {
		if err := ctx.Err(); err != nil {
			return answer{}, err
		}
		// Each summarizer gets a copy, so that one that writes to its request does not spoil the next one's.
		own := req
		own.Messages = copyMessages(req.Messages)
		a, err := safeSummarize(ctx, f.list[i], own)
		if err == nil {
			f.rest(i, time.Time{})
			return a, nil
		}
		// The host gave up. The summarizer is not to blame, so it does not rest.
		if ctx.Err() != nil {
			return answer{}, ctx.Err()
		}
		if restsAfter(err) {
			f.rest(i, time.Now().Add(f.cooldown))
		}
		failed = append(failed, fmt.Errorf("summarizer %d: %w", i+1, err))
	}
	return answer{}, errors.Join(failed...)
}

// ready returns which summarizers to ask: all that do not rest, or if all do, the one that is free soonest.
func (f *failover) ready(now time.Time) (ready []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	soonest := 0
	for i, until := range f.rests {
		if !now.Before(until) {
			ready = append(ready, i)
		}
		if until.Before(f.rests[soonest]) {
			soonest = i
		}
	}
	if len(ready) == 0 {
		return []int{soonest}
	}
	return ready
}

func (f *failover) rest(i int, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rests[i] = until
}
