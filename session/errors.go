package session

import (
	"errors"
	"fmt"
	"time"
)

// Errors to branch on with [errors.Is].
var (
	// ErrBusy: somebody else had the turn of the session until the context ended. The error is a [*BusyError].
	ErrBusy = errors.New("session: another turn is under way")

	// ErrConflict: somebody else wrote to the branch. Open the session again.
	ErrConflict = errors.New("session: somebody else wrote to the session")

	// ErrExists: the session to be written has entries already. Fork and Import begin a new session, and Copy only
	// continues a copy of its own.
	ErrExists = errors.New("session: the session has entries already")

	// ErrDeleted: the session was deleted while it was open.
	ErrDeleted = errors.New("session: the session was deleted")

	// ErrNotFound: the session, log or entry does not exist.
	ErrNotFound = errors.New("session: not found")

	// ErrClosed: the session or store was closed, or an earlier error made it unusable.
	ErrClosed = errors.New("session: closed")

	// ErrTooLarge: an entry would be longer than a line may be (64 MiB).
	ErrTooLarge = errors.New("session: an entry is larger than 64 MiB")

	// ErrKey: the key is empty, longer than 1 024 bytes, or not UTF-8.
	ErrKey = errors.New("session: a key is 1 to 1 024 bytes of UTF-8")

	// ErrFormat: the directory or log has an unknown format.
	ErrFormat = errors.New("session: unknown format")

	// ErrSync: the system reported that some data may not have reached the disk. Open the session again: opening copies
	// what is there.
	ErrSync = errors.New("session: the data could not be synced")

	// ErrNetwork: the directory is on a network file system, whose locks and syncs may not hold.
	ErrNetwork = errors.New("session: the directory is on a network file system")
)

// BusyError says who has the turn, as the holder's note in the lock file tells it. The note only informs: the lock
// itself decides.
type BusyError struct {
	PID   int // 0: unknown, or this process
	Host  string
	Since time.Time
	Cause error // the context's error
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
