package winnow

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// FirstOf returns a summarizer that asks each of s in turn until one answers. One that fails with a
// rate-limit, quota or auth error rests for cooldown and is passed over meanwhile; while all of them rest,
// the one that is free soonest is asked. A cooldown of 0 or less means no rest. The error joins those of
// all that were asked; once ctx has ended it is that of ctx alone. Without summarizers every call fails.
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

type failover struct {
	cooldown time.Duration
	list     []Summarizer

	mu      sync.Mutex
	resting []time.Time // until when; zero: never failed
}

func (f *failover) Summarize(ctx context.Context, req SummaryRequest) (string, error) {
	if len(f.list) == 0 {
		return "", errors.New("winnow: FirstOf has no summarizer to ask")
	}
	var failed []error
	for _, i := range f.order() {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		// A copy for each: one that writes to its request must not spoil the next one's.
		own := req
		own.Messages = copyMessages(req.Messages)
		text, err := safeSummarize(ctx, f.list[i], own)
		if err == nil {
			f.rest(i, time.Time{})
			return text, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if restsAfter(err) {
			f.rest(i, time.Now().Add(f.cooldown))
		}
		failed = append(failed, fmt.Errorf("summarizer %d: %w", i+1, err))
	}
	return "", errors.Join(failed...)
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
	soonest := 0
	for i, until := range f.resting {
		if until.Before(f.resting[soonest]) {
			soonest = i
		}
	}
	return []int{soonest}
}

func (f *failover) rest(i int, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resting[i] = until
}

// restsAfter says that err will not go away by asking again at once: rate limit, quota, auth.
func restsAfter(err error) bool {
	var coded interface{ StatusCode() int }
	if errors.As(err, &coded) {
		switch coded.StatusCode() {
		case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusTooManyRequests:
			return true
		}
	}
	text := strings.ToLower(err.Error())
	for _, mark := range []string{"rate limit", "rate_limit", "ratelimit", "too many requests", "429", "quota", "billing",
		"credit", "unauthorized", "401", "403", "forbidden", "invalid api key", "invalid_api_key", "authentication", "permission"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}
