package session

import (
	"context"
	"time"

	"github.com/winnowgo/winnow/session/internal/files"
)

// How often a lock is tried that another process holds: first after firstTry, then less and less often. The lock of an
// append is held for microseconds, that of a turn for as long as a model takes.
const (
	firstTry        = 50 * time.Microsecond
	lastTryOfAppend = time.Millisecond
	lastTryOfTurn   = 5 * time.Millisecond
)

// waitLock takes the kernel's lock on f, or returns the cause of ctx. The kernel has no call that waits for both a lock
// and a context, so waitLock tries the lock repeatedly, with pauses of at most last.
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
