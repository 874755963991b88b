package winnow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// FirstOf returns a summarizer that asks each of s in turn until one answers. A summarizer that fails with a
// rate-limit, quota or auth error, as [ClassifyError] reads it, is skipped for cooldown; while all of them rest, the
// one that is free soonest is called. A cooldown of 0 or less means no rest. The error joins those of all that were
// asked; once ctx has ended it is that of ctx alone. Without summarizers every call fails. The answer of a [Digest]
// among s counts as Degraded.
func FirstOf(cooldown time.Duration, s ...Summarizer) Summarizer {
	f := &failover{cooldown: max(0, cooldown), resting: make([]time.Time, 0, len(s))}
	for _, one := range s {
		if one != nil {
			f.list = append(f.list, one)
			f.resting = append(f.resting, time.Time{})
		}
	}
	return f
}

// failover is the summarizer of [FirstOf].
type failover struct {
	cooldown time.Duration
	list     []Summarizer

	mu      sync.Mutex
	resting []time.Time // until when; zero: never failed
}

func (f *failover) Summarize(ctx context.Context, req SummaryRequest) (string, error) {
	text, _, err := f.summarize(ctx, req)
	return text, err
}

// summarize also says whether the text was made without an LLM.
func (f *failover) summarize(ctx context.Context, req SummaryRequest) (text string, degraded bool, err error) {
	if len(f.list) == 0 {
		return "", false, errors.New("winnow: FirstOf has no summarizer to ask")
	}
	var failed []error
	for _, i := range f.order() {
		if err := ctx.Err(); err != nil {
			return "", false, err
		}
		// A copy for each: one that writes to its request must not spoil the next one's.
		own := req
		own.Messages = copyMessages(req.Messages)
		text, degraded, err := safeSummarize(ctx, f.list[i], own)
		if err == nil {
			f.rest(i, time.Time{})
			return text, degraded, nil
		}
		// The host gave up, so that the summarizer is not to blame: it does not rest.
		if ctx.Err() != nil {
			return "", false, ctx.Err()
		}
		if restsAfter(err) {
			f.rest(i, time.Now().Add(f.cooldown))
		}
		failed = append(failed, fmt.Errorf("summarizer %d: %w", i+1, err))
	}
	return "", false, errors.Join(failed...)
}

// order returns whom to ask: all that are not resting, or else all, the one that is free soonest first.
func (f *failover) order() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	ready := make([]int, 0, len(f.list))
	for i, until := range f.resting {
		if !now.Before(until) {
			ready = append(ready, i)
		}
	}
	if len(ready) > 0 {
		return ready
	}
	// All rest. One call that may fail is better than a compaction that fails without one.
	soonest := 0
	for i, until := range f.resting {
		if until.Before(f.resting[soonest]) {
			soonest = i
		}
	}
	return []int{soonest}
}

// rest passes a summarizer over until that time.
func (f *failover) rest(i int, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resting[i] = until
}

// restsAfter reports whether err will not go away by asking again soon.
func restsAfter(err error) bool {
	switch ClassifyError(err).Class {
	case ErrorRateLimit, ErrorQuota, ErrorAuth:
		return true
	}
	return false
}
