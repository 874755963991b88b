package session

import (
	"context"
	"io"
)

// Backend is where logs are kept: a directory, memory, a database. A log is a sequence of bytes that grows; the backend
// does not look at what the bytes mean. It is safe for concurrent use.
//
// Package sessiontest has the tests that a backend must pass.
type Backend interface {
	// Turn waits until nobody else has the turn of key, in the order of the calls within the process, and takes it.
	// When ctx ends first the error is a [*BusyError].
	Turn(ctx context.Context, key string) (Turn, error)

	// Log opens the newest log of key without its turn. With write, entries beside the branch may be appended to it,
	// its torn end is cut off and kept aside, and there need not be one yet: it is made by the first Append. Without,
	// nothing is changed and nothing is locked; the error is [ErrNotFound] if there is none.
	Log(ctx context.Context, key string, write bool) (Log, error)

	// Keys returns the keys that have a log, in any order.
	Keys(ctx context.Context) ([]string, error)

	// Delete removes all logs of key. Those who have one open get [ErrDeleted]. It is not an error if there is none.
	Delete(ctx context.Context, key string) error

	Close() error
}

// Turn is the right to write to the branch of a session. It ends with the process. A turn that is a lease may end
// earlier, while its holder is paused: what the logs of such a turn are then asked to append is refused with
// [ErrConflict].
type Turn interface {
	// Log opens the newest log of the session for the holder of the turn, as [Backend.Log] does with write.
	Log(ctx context.Context) (Log, error)

	// Next begins a new log of the session, which is newer than all others of it, with its first lines. They are
	// durable when it returns. The error is [ErrDeleted] if the session was deleted since: nothing of it comes back.
	Next(ctx context.Context, lines []byte) (Log, error)

	// Check returns [ErrDeleted] if the session was deleted since: the turn is of something that is gone.
	Check() error
	Release() error
}

// Log is an open log of a [Backend].
type Log interface {
	io.ReaderAt

	// ID names the log among those of its key. "" if it was not made yet. One that is rewritten gets another ID.
	ID() string

	// Size returns the length in bytes, 0 if the log was not made yet.
	Size() (int64, error)

	// Append puts lines, which end in a newline, at the end, which the caller believes to be at offset end: all of them
	// or none. With durable they survive a power loss when it returns, and all that was appended before them too.
	// The error is a [*MovedError] if the end is elsewhere, [ErrDeleted] if the log was deleted, [ErrConflict] if the
	// turn of the log has ended, [ErrSync] if it is not known what is durable. After any other error the log is as it
	// was, or [ErrClosed] from then on.
	Append(ctx context.Context, end int64, lines []byte, durable bool) error

	// Close releases what the log holds. It does not sync.
	Close() error
}

// MovedError says that somebody else appended to a log.
type MovedError struct {
	Size int64 // of the log now
	Next bool  // there is a newer log
	// Written says that the lines were appended nevertheless, behind those of somebody who writes without the
	// store's locks.
	Written bool
}

func (e *MovedError) Error() string { return "session: the log has another end than expected" }
