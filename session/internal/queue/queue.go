// Package queue puts goroutines that wait for the same thing in order.
package queue

import (
	"context"
	"slices"
	"sync"
)

// Queues has a queue for each key: first come, first served. Unused keys take no memory. The zero value is ready for
// use.
type Queues struct {
	mu      sync.Mutex
	waiting map[string][]chan struct{} // by key; a key in the map is taken
}

// Enter waits for the turn of key. The error is the cause of ctx.
func (q *Queues) Enter(ctx context.Context, key string) error {
	q.mu.Lock()
	if q.waiting == nil {
		q.waiting = map[string][]chan struct{}{}
	}
	line, taken := q.waiting[key]
	if !taken {
		q.waiting[key] = nil
		q.mu.Unlock()
		return nil
	}
	mine := make(chan struct{})
	q.waiting[key] = append(line, mine)
	q.mu.Unlock()
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting[key], mine); i >= 0 {
		q.waiting[key] = slices.Delete(q.waiting[key], i, i+1)
	} else {
		q.pass(key) // the turn came at the same moment
	}
	return context.Cause(ctx)
}

// Leave gives the turn of key, which the caller has, to the next one.
func (q *Queues) Leave(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pass(key)
}

// pass gives the turn to the next one. The lock is held.
func (q *Queues) pass(key string) {
	line := q.waiting[key]
	if len(line) == 0 {
		delete(q.waiting, key)
		return
	}
	q.waiting[key] = line[1:]
	close(line[0])
}
