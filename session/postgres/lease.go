package postgres

import (
	"context"
	"sync"
	"time"
)

// leases renews the turns of a process: all with one statement, in one goroutine that ends with the last turn.
type leases struct {
	backend *Backend
	mu      sync.Mutex
	held    map[int64]*turn // by session
	wake    chan struct{}   // closed when nothing is left to renew; nil: no goroutine runs
}

// leaseShare: a lease is renewed after a third of its length, so that two renewals may fail.
const leaseShare = 3

func (l *leases) add(t *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[int64]*turn{}
	}
	l.held[t.head.id] = t
	if l.wake == nil {
		l.wake = make(chan struct{})
		go l.renewAll(l.wake)
	}
}

func (l *leases) remove(t *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[t.head.id] == t {
		delete(l.held, t.head.id)
	}
	if len(l.held) == 0 {
		l.end()
	}
}

// stop drops all turns without telling the database.
func (l *leases) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = nil
	l.end()
}

func (l *leases) end() {
	if l.wake != nil {
		close(l.wake)
		l.wake = nil
	}
}

// renewAll renews until done is closed.
func (l *leases) renewAll(done chan struct{}) {
	ticker := time.NewTicker(l.backend.opts.Lease / leaseShare)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			l.renew()
		}
	}
}

// renew renews once. A failure does not end the turns: the database may be back before a lease runs out, and each
// append checks its turn anyway.
func (l *leases) renew() {
	b := l.backend
	l.mu.Lock()
	ids, fences := make([]int64, 0, len(l.held)), make([]int64, 0, len(l.held))
	for id, t := range l.held {
		ids, fences = append(ids, id), append(fences, t.head.fence)
	}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), b.opts.Lease/leaseShare)
	defer cancel()
	_ = b.retry(ctx, func(ctx context.Context) error {
		_, err := b.pool.Exec(ctx, b.sql.renew, b.mode, ids, fences, b.opts.Lease.Microseconds())
		if err == nil {
			_, err = b.pool.Exec(ctx, b.sql.leave, b.mode)
		}
		return err
	})
}
