// Package errs has the errors of package session, which documents them.
package errs

import "errors"

var (
	ErrBusy     = errors.New("session: another turn is under way")
	ErrConflict = errors.New("session: somebody else wrote to the session")
	ErrExists   = errors.New("session: the session has entries already")
	ErrDeleted  = errors.New("session: the session was deleted")
	ErrNotFound = errors.New("session: not found")
	ErrClosed   = errors.New("session: closed")
	ErrTooLarge = errors.New("session: an entry is larger than 64 MiB")
	ErrKey      = errors.New("session: a key is 1 to 1 024 bytes of UTF-8")
	ErrFormat   = errors.New("session: unknown format")
	ErrSync     = errors.New("session: the data could not be synced")
	ErrNetwork  = errors.New("session: the directory is on a network file system")
	ErrChanged  = errors.New("session: what is stored has changed since it was listed")
	ErrQuery    = errors.New("session: bad query")
	ErrSealed   = errors.New("session: the entry is sealed")
)
