package session

import (
	"context"
	"time"

	"github.com/winnowgo/winnow/session/internal/files"
)

// How often the lock of another process is tried: first after firstTry, then ever less often. The lock of an append is
// held for microseconds, that of a turn as long as a model takes.
const (
	firstTry        = 50 * time.Microsecond
	lastTryOfAppend = time.Millisecond
	lastTryOfTurn   = 5 * time.Millisecond
)

// waitLock takes the kernel's lock on f, or returns the cause of ctx. The kernel has no call that waits for a lock and
// for a context, so the lock is tried, at least once in each last.
func waitLock(ctx context.Context, f files.File, last time.Duration) error {
	for pause := firstTry; ; pause = min(2*pause, last) {
		ok, err := f.TryLock()
		if ok || err != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
