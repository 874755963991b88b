package backend

import (
	"fmt"
	"time"

	"github.com/winnowgo/winnow/session/internal/errs"
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
		return fmt.Sprintf("%v: %v", errs.ErrBusy, e.Cause)
	}
	since := e.Since.Format(time.RFC3339)
	return fmt.Sprintf("%v: process %d on %s since %s: %v", errs.ErrBusy, e.PID, e.Host, since, e.Cause)
}

// Unwrap returns ErrBusy and the context's error.
func (e *BusyError) Unwrap() []error { return []error{errs.ErrBusy, e.Cause} }
