package session

import (
	"context"
	"io"
)

// Backend is where logs are kept: a directory, memory, a database. A log is a sequence of bytes that only grows at its
// end; the backend does not interpret the bytes. A Backend is safe for concurrent use.
//
// Package sessiontest holds the tests that a backend must pass.
type Backend interface {
	// Turn waits until nobody else has the turn of key, and takes it. Callers within the process get it in the order in
	// which they called. If ctx ends first, the error is a [*BusyError].
	Turn(ctx context.Context, key string) (Turn, error)

	// Log opens the newest log of key without its turn. With write, entries beside the branch may be appended, a torn
	// end is cut off and kept aside, and the log need not exist yet: the first Append creates it. Without write, Log
	// changes nothing and locks nothing; the error is [ErrNotFound] if the key has no log.
	Log(ctx context.Context, key string, write bool) (Log, error)

	// Keys returns the keys that have a log, in any order.
	Keys(ctx context.Context) ([]string, error)

	// Delete removes all logs of key. Whoever has one open gets [ErrDeleted]. Deleting a key that has no log is not an
	// error.
	Delete(ctx context.Context, key string) error

	Close() error
}

// Turn is the right to write to the branch of a session. It ends with the process. A turn that is a lease may end
// earlier, while its holder is paused: its logs then refuse to append, with [ErrConflict].
type Turn interface {
	// Log opens the newest log of the session for the holder of the turn, as [Backend.Log] does with write.
	Log(ctx context.Context) (Log, error)

	// Next begins a new log with these first lines; it is the session's newest from then on. The lines are durable when
	// Next returns. The error is [ErrDeleted] if the session was deleted in the meantime: Next never brings it back.
	Next(ctx context.Context, lines []byte) (Log, error)

	// Check returns [ErrDeleted] if the session was deleted after the turn was taken.
	Check() error
	Release() error
}

// Flusher is a [Turn] that can make durable what was stored of its session before. [Copy] uses it to finish a copy that
// was written with less durability, or whose writer was killed. A backend needs it if any of its appends may be
// acknowledged, or visible, before they are durable.
type Flusher interface {
	Turn

	// Flush makes all logs of the session durable, whoever wrote them. The error is [ErrSync] if that fails.
	Flush(ctx context.Context) error
}

// Log is an open log of a [Backend].
type Log interface {
	io.ReaderAt

	// ID names the log among those of its key. It is "" before the log is created, and changes when the log is
	// rewritten.
	ID() string

	// Size returns the length in bytes, 0 before the log is created.
	Size() (int64, error)

	// Append adds lines, which end in a newline, to the log: all of them or none. The caller passes the offset at which
	// it expects the log to end. With durable, the lines and everything before them survive a power loss once Append
	// has returned. The error is a [*MovedError] if the log ends elsewhere, [ErrDeleted] if it was deleted,
	// [ErrConflict] if its turn has ended, and [ErrSync] if it is unknown what is durable. After any other error the
	// log is unchanged, or it returns [ErrClosed] from then on.
	Append(ctx context.Context, end int64, lines []byte, durable bool) error

	// Close releases the log's resources. It does not sync.
	Close() error
}

// MovedError says that somebody else appended to a log.
type MovedError struct {
	Size int64 // of the log, now
	Next bool  // there is a newer log
	// Written says that the lines were appended nevertheless, after those of a writer that ignores the store's locks.
	Written bool
}

func (e *MovedError) Error() string { return "session: the log has another end than expected" }
