package session

import "github.com/winnowgo/winnow/session/internal/errs"

// Errors to branch on with [errors.Is]. [errors.As] finds a [*BusyError] in ErrBusy, and an [*entry.SealedError] in
// ErrSealed.
var (
	ErrBusy     = errs.ErrBusy     // somebody else had the turn of the session until the context ended
	ErrConflict = errs.ErrConflict // somebody else wrote to the branch: open the session again
	ErrExists   = errs.ErrExists   // the session that was to be begun has entries already
	ErrDeleted  = errs.ErrDeleted  // the session was deleted while it was open
	ErrNotFound = errs.ErrNotFound // the session, log or entry does not exist
	ErrClosed   = errs.ErrClosed   // the session or store was closed, or an earlier error made it unusable
	ErrTooLarge = errs.ErrTooLarge // an entry would be longer than a line may be (64 MiB)
	ErrKey      = errs.ErrKey      // a key is 1 to 1 024 bytes of UTF-8
	ErrFormat   = errs.ErrFormat   // the directory or log has an unknown format
	ErrSync     = errs.ErrSync     // what was written may not be on the disk: open the session again, which copies it
	ErrNetwork  = errs.ErrNetwork  // the directory is on a network file system, whose locks and syncs may not hold
	ErrChanged  = errs.ErrChanged  // a part of a session has changed since it was listed
	ErrQuery    = errs.ErrQuery    // After does not come from a page, the order is unknown, or the limit negative
	ErrSealed   = errs.ErrSealed   // an entry cannot be read without its key
)
