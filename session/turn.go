package session

import (
	"context"
	"slices"
	"sync"
)

// queues puts those of one process who want the same turn in order. Keys that nobody wants take no memory.
type queues struct {
	mu      sync.Mutex
	waiting map[string][]chan struct{} // by key; a key that is there is taken
}

// enter waits for its turn, first come, first served.
func (q *queues) enter(ctx context.Context, key string) error {
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
		q.pass(key) // it came at the same moment
	}
	return context.Cause(ctx)
}

func (q *queues) leave(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pass(key)
}

// pass gives the turn to the next one.
func (q *queues) pass(key string) {
	line := q.waiting[key]
	if len(line) == 0 {
		delete(q.waiting, key)
		return
	}
	q.waiting[key] = line[1:]
	close(line[0])
}
