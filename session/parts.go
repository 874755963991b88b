package session

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Maintainer is a [Backend] whose sessions can be archived, thinned out and erased. In a store without one, the methods
// that need it return [errors.ErrUnsupported].
//
// Methods that change something take the turn of the session, and the part as [Maintainer.Parts] listed it. If that
// part, or one of those in while, is gone or has another size by now, the error is [ErrChanged] and nothing has
// happened. So a decision that was based on a list is carried out only while the list is true, even if somebody writes
// beside the branch. After an error, or if the process ends at any moment, the session is either as before the call or
// as after it.
type Maintainer interface {
	Backend

	// IsHeld reports whether somebody has the turn of key now. It takes no lock and changes nothing.
	IsHeld(ctx context.Context, key string) (bool, error)

	// Parts lists everything that is stored under key: its logs from the oldest to the newest, each with what belongs
	// to it. It changes nothing. A session that does not exist has no parts.
	Parts(ctx context.Context, key string) ([]Part, error)

	// OpenPart opens a log or an archive of a log for reading. Both give the lines of the log. The error is
	// [ErrNotFound] if the part is gone.
	OpenPart(ctx context.Context, key string, part Part) (Log, error)

	// Archive replaces a log by an archive, and returns that: a compressed copy that was read back and compared. now is
	// the time of the archive. The session stays usable: if the newest log is archived, [Backend.Log] reads the
	// archive, and opening it for writing restores the log.
	Archive(ctx context.Context, turn Turn, log Part, now time.Time, while ...Part) (Part, error)

	// Remove deletes an archive, or a file beside a log. It refuses logs: archive them first. With its last part the
	// session is gone.
	Remove(ctx context.Context, turn Turn, part Part, while ...Part) error

	// Rewrite atomically replaces bytes of a log, archived or not, and appends lines, which end in a newline.
	// Afterwards no part that was made from this one holds the replaced bytes. Whoever has the log open gets a
	// [*MovedError] with Next and has to open it again. The log gets another [Log.ID], since whatever was derived from
	// it is out of date.
	Rewrite(ctx context.Context, turn Turn, part Part, patches []Patch, lines []byte) error
}

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

// Patch replaces bytes of a log by the same number of bytes.
type Patch struct {
	Offset int64
	Text   []byte
}

// ErrChanged: a part of a session has changed since it was listed.
var ErrChanged = errors.New("session: what is stored has changed since it was listed")

// maintainer returns the backend of the store as one that can maintain sessions.
func (s *Store) maintainer() (Maintainer, error) {
	m, ok := s.backend.(Maintainer)
	if !ok {
		return nil, fmt.Errorf("session: the backend keeps all it has: %w", errors.ErrUnsupported)
	}
	return m, nil
}

// Parts lists everything that is stored of a session: logs, archives, and the files beside them. It changes nothing.
func (s *Store) Parts(ctx context.Context, key string) ([]Part, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	m, err := s.maintainer()
	if err != nil {
		return nil, err
	}
	return m.Parts(ctx, key)
}
