// Package backend says what a store of sessions has to do: it is for those who write one. Package sessiontest has the
// tests that it must pass, and session.New makes a store of it.
package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Backend is where logs are kept: a directory, memory, a database. A log is a sequence of bytes that only grows at its
// end; the backend does not interpret the bytes, except that it derives lists from them as [Status.Add] does. A Backend
// is safe for concurrent use. A method that a backend cannot offer returns [errors.ErrUnsupported].
//
// Package sessiontest holds the tests that a backend must pass.
type Backend interface {
	// Turn waits until nobody else has the turn of key, and takes it. Callers within the process get it in the order in
	// which they called. If ctx ends first, the error is a [*BusyError].
	Turn(ctx context.Context, key string) (Turn, error)

	// Log opens the newest log of key without its turn. With write, entries beside the branch may be appended, a torn
	// end is cut off and kept aside, and the log need not exist yet: the first Append creates it. Without write, Log
	// changes nothing and locks nothing; the error is session.ErrNotFound if the key has no log.
	Log(ctx context.Context, key string, write bool) (Log, error)

	// Delete removes all logs of key. Whoever has one open gets session.ErrDeleted. Deleting a key that has no log is
	// not an error.
	Delete(ctx context.Context, key string) error

	// IsHeld reports whether somebody has the turn of key now. It takes no lock and changes nothing.
	IsHeld(ctx context.Context, key string) (bool, error)

	// Keys returns the keys that have a log, in any order.
	Keys(ctx context.Context) ([]string, error)

	// List answers session.Store.List. The query is valid. The answer includes everything that was acknowledged before
	// the call.
	List(ctx context.Context, q Query) (*Page, error)

	// Changes answers session.Store.Changes. With wait it waits until there is something, or until ctx ends.
	Changes(ctx context.Context, cursor string, wait bool) (*Changes, error)

	// Parts lists everything that is stored under key: its logs from the oldest to the newest, each with what belongs
	// to it. It changes nothing. A session that does not exist has no parts.
	Parts(ctx context.Context, key string) ([]Part, error)

	// OpenPart opens a log or an archive of a log for reading. Both give the lines of the log. The error is
	// session.ErrNotFound if the part is gone.
	OpenPart(ctx context.Context, key string, part Part) (Log, error)

	// The next three methods take the turn of the session, and the part as Parts listed it. If that part, or one of
	// those in while, is gone or has another size by now, the error is session.ErrChanged and nothing has happened. So
	// a decision that was based on a list is carried out only while the list is true, even if somebody writes beside
	// the branch. After an error, or if the process ends at any moment, the session is either as before the call or as
	// after it.

	// Archive replaces a log by an archive, and returns that: a compressed copy that was read back and compared. now is
	// the time of the archive. The session stays usable: if the newest log is archived, Log reads the archive, and
	// opening it for writing restores the log.
	Archive(ctx context.Context, turn Turn, log Part, now time.Time, while ...Part) (Part, error)

	// Remove deletes an archive, or a file beside a log. It refuses logs: archive them first. With its last part the
	// session is gone.
	Remove(ctx context.Context, turn Turn, part Part, while ...Part) error

	// Rewrite atomically replaces bytes of a log, archived or not, and appends lines, which end in a newline.
	// Afterwards no part that was made from this one holds the replaced bytes. Whoever has the log open gets a
	// [*MovedError] with Next and has to open it again. The log gets another [Log.ID], since whatever was derived from
	// it is out of date.
	Rewrite(ctx context.Context, turn Turn, part Part, patches []Patch, lines []byte) error

	// Sweep removes what interrupted calls left anywhere: it may repeat what was erased. It also makes durable what
	// earlier calls, which may have been killed, erased in the sessions of these keys.
	Sweep(ctx context.Context, keys ...string) error

	Close() error
}

// Turn is the right to write to the branch of a session. It ends with the process. A turn that is a lease may end
// earlier, while its holder is paused: its logs then refuse to append, with session.ErrConflict.
type Turn interface {
	// Log opens the newest log of the session for the holder of the turn, as [Backend.Log] does with write.
	Log(ctx context.Context) (Log, error)

	// Next begins a new log with these first lines; it is the session's newest from then on. The lines are durable when
	// Next returns. The error is session.ErrDeleted if the session was deleted in the meantime: Next never brings it
	// back.
	Next(ctx context.Context, lines []byte) (Log, error)

	// Flush makes the newest log of the session durable, whoever wrote it. The error is session.ErrSync if that fails.
	Flush(ctx context.Context) error

	// Check returns session.ErrDeleted if the session was deleted after the turn was taken.
	Check() error
	Release() error
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
	// has returned. The error is a [*MovedError] if the log ends elsewhere, session.ErrDeleted if it was deleted,
	// session.ErrConflict if its turn has ended, and session.ErrSync if it is unknown what is durable. After any other
	// error the log is unchanged, or it returns session.ErrClosed from then on.
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

// PartKind is the kind of a [Part].
type PartKind string

const (
	PartLog     PartKind = "log"     // a log that is written and read
	PartArchive PartKind = "archive" // a log that was compressed
	PartSide    PartKind = "side"    // beside a log and never read: a torn tail, a replaced copy
)

// Part is one thing that a backend keeps of a session.
type Part struct {
	Name  string    `json:"name"` // the backend's name for it within the session, such as a file name
	Kind  PartKind  `json:"kind"`
	Log   string    `json:"log"`            // the [Log.ID] of the log that it is or belongs to
	Bytes int64     `json:"bytes"`          // size
	Time  time.Time `json:"time,omitzero"`  // when an archive was made; for other parts, when their log was begun
	Open  bool      `json:"open,omitempty"` // the newest log or its archive, which the next opening uses
}

// LogsUpTo returns the logs of a session up to that of a change, archived or not, the oldest first. There are none if
// that is gone, or if the backend lists no parts.
func LogsUpTo(ctx context.Context, b Backend, c Change) ([]Part, error) {
	parts, err := b.Parts(ctx, c.Key)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	logs := slices.DeleteFunc(parts, func(p Part) bool { return p.Kind == PartSide })
	at := slices.IndexFunc(logs, func(p Part) bool { return p.Log == c.Log })
	return logs[:at+1], err
}

// Patch replaces bytes of a log by the same number of bytes.
type Patch struct {
	Offset int64
	Text   []byte
}

// CheckPatches returns an error if patches are out of order or reach beyond a log of size bytes. It is for backends.
func CheckPatches(size int64, patches []Patch) error {
	at := int64(0)
	for _, p := range patches {
		if p.Offset < at || p.Offset+int64(len(p.Text)) > size {
			return errors.New("session: patches overlap, or lie outside of the log")
		}
		at = p.Offset + int64(len(p.Text))
	}
	return nil
}

// CheckKey returns session.ErrKey if key is not a valid key. It is for backends.
func CheckKey(key string) error {
	if key == "" || len(key) > jsonl.MaxKey || !utf8.ValidString(key) {
		return errs.ErrKey
	}
	return nil
}

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

// Change says that a session changed.
type Change struct {
	Key string `json:"key"`

	// Log is the log that changed, as in [Status]. A reset or a rewrite of the log gives the session another one, and
	// Cause says which.
	Log string `json:"log,omitempty"`

	From    int64 `json:"from"`              // offset in Log; earlier changes covered what lies before it
	To      int64 `json:"to"`                // offset after the new bytes
	Deleted bool  `json:"deleted,omitempty"` // the session is gone; Log, From and To are empty
	Cause   Cause `json:"cause,omitempty"`   // why Log is another one than before, or none
}

// Cause says why a session has another log than before. It is "" if the session is new, if its log only grew, and with
// [Changes].Resync.
type Cause string

// Changes is a piece of the feed.
type Changes struct {
	Changes []Change // in order within each session
	Cursor  string   // where to go on; keep it once the changes are processed

	// Resync says that the feed cannot continue from the given cursor, which is empty, too old, or from another store.
	// Changes then lists every session there is, from offset 0; forget all others.
	Resync bool
}

const (
	CauseReset     Cause = "reset"     // it was begun anew; older logs stay and can still be read
	CauseRewritten Cause = "rewritten" // entries were erased: forget what was read of the log
	CauseDeleted   Cause = "deleted"   // session.Store.Delete, or upkeep.Erase: forget the session
)
