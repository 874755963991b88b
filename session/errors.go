package session

import "github.com/winnowgo/winnow/session/internal/errs"

// Errors to branch on with [errors.Is].
var (
	// ErrBusy: somebody else had the turn of the session until the context ended. The error is a [*BusyError].
	ErrBusy = errs.ErrBusy

	// ErrConflict: somebody else wrote to the branch. Open the session again.
	ErrConflict = errs.ErrConflict

	// ErrExists: the session to be written has entries already. Fork and upkeep.Import begin a new session, and
	// upkeep.Copy only continues a copy of its own.
	ErrExists = errs.ErrExists

	// ErrDeleted: the session was deleted while it was open.
	ErrDeleted = errs.ErrDeleted

	// ErrNotFound: the session, log or entry does not exist.
	ErrNotFound = errs.ErrNotFound

	// ErrClosed: the session or store was closed, or an earlier error made it unusable.
	ErrClosed = errs.ErrClosed

	// ErrTooLarge: an entry would be longer than a line may be (64 MiB).
	ErrTooLarge = errs.ErrTooLarge

	// ErrKey: the key is empty, longer than 1 024 bytes, or not UTF-8.
	ErrKey = errs.ErrKey

	// ErrFormat: the directory or log has an unknown format.
	ErrFormat = errs.ErrFormat

	// ErrSync: the system reported that some data may not have reached the disk. Open the session again: opening copies
	// what is there.
	ErrSync = errs.ErrSync

	// ErrNetwork: the directory is on a network file system, whose locks and syncs may not hold.
	ErrNetwork = errs.ErrNetwork

	// ErrChanged: a part of a session has changed since it was listed.
	ErrChanged = errs.ErrChanged

	// ErrQuery: the query is invalid. Its After does not come from a page, its order is unknown, or its limit is
	// negative.
	ErrQuery = errs.ErrQuery

	// ErrSealed: an entry cannot be read without its key. The error is a [*entry.SealedError].
	ErrSealed = errs.ErrSealed
)
