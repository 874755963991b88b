package session

import (
	"errors"
	"fmt"
	"time"
)

// Errors to branch on with [errors.Is].
var (
	// ErrBusy: somebody else has the turn of the session, and the context ended while it was waited for. The error is
	// a [*BusyError].
	ErrBusy = errors.New("session: another turn is under way")

	// ErrConflict: somebody else wrote to the branch. The session has to be opened again.
	ErrConflict = errors.New("session: somebody else wrote to the session")

	// ErrDeleted: the session was deleted while it was open.
	ErrDeleted = errors.New("session: the session was deleted")

	// ErrNotFound: there is no such session or entry.
	ErrNotFound = errors.New("session: not found")

	// ErrClosed: the session or store was closed, or an earlier error made its handle useless.
	ErrClosed = errors.New("session: closed")

	// ErrTooLarge: an entry would be longer than a line may be (64 MiB).
	ErrTooLarge = errors.New("session: an entry is larger than 64 MiB")

	// ErrKey: the key is empty, longer than 1 024 bytes, or not UTF-8.
	ErrKey = errors.New("session: a key is 1 to 1 024 bytes of UTF-8")

	// ErrFormat: the directory or log is of another format.
	ErrFormat = errors.New("session: unknown format")

	// ErrSync: the system reported that data may not have reached the disk. It is not known what did; the session has
	// to be opened again, which copies what is there.
	ErrSync = errors.New("session: the data could not be synced")

	// ErrNetwork: the directory is on a network file system, whose locks and syncs may not hold.
	ErrNetwork = errors.New("session: the directory is on a network file system")
)

// BusyError says who has the turn. What it knows is what the other left in the lock file: it informs, and decides
// nothing.
type BusyError struct {
	PID   int // 0: not known, or this process
	Host  string
	Since time.Time
	Cause error // of the context
}

func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%v: %v", ErrBusy, e.Cause)
	}
	since := e.Since.Format(time.RFC3339)
	return fmt.Sprintf("%v: process %d on %s since %s: %v", ErrBusy, e.PID, e.Host, since, e.Cause)
}

// Unwrap returns ErrBusy and the context's error.
func (e *BusyError) Unwrap() []error { return []error{ErrBusy, e.Cause} }
