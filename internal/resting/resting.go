// Package resting says which of several to ask while some of them rest.
package resting

import (
	"sync"
	"time"
)

// List holds until when each of several rests. It is safe for concurrent use.
type List struct {
	mu    sync.Mutex
	until []time.Time // zero: it does not rest
}

// New returns a list of n, of which none rests.
func New(n int) *List { return &List{until: make([]time.Time, n)} }

// Rest lets element i rest until a time. The zero time ends its rest.
func (l *List) Rest(i int, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until[i] = until
}

// Order returns which to ask: all that do not rest, in their order. If all rest, it is the one that is free soonest:
// one call that may fail is better than none.
func (l *List) Order(now time.Time) []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	ready, soonest := make([]int, 0, len(l.until)), 0
	for i, until := range l.until {
		if !now.Before(until) {
			ready = append(ready, i)
		}
		if until.Before(l.until[soonest]) {
			soonest = i
		}
	}
	if len(ready) == 0 && len(l.until) > 0 {
		return []int{soonest}
	}
	return ready
}
