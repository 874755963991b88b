package session

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Maintainer is a [Backend] whose sessions can be archived, thinned out and erased. A store without one keeps all it
// has, and what asks for more returns [errors.ErrUnsupported].
//
// What changes something takes the turn of the session, and the part as [Maintainer.Parts] listed it: the error is
// [ErrChanged], and nothing happened, if that part, or one of those in while, is gone or has another size by now. So
// what was decided from a list is done only as long as the list is true, whoever writes beside the branch meanwhile. After any error, and after the end of the process at any moment, the session is
// as it was before the call or as it is after it.
type Maintainer interface {
	Backend

	// IsHeld says whether somebody has the turn of key now. It takes nothing and changes nothing.
	IsHeld(ctx context.Context, key string) (bool, error)

	// Parts lists what is stored of key: its logs from the oldest to the newest, each with what belongs to it. It
	// changes nothing. There are no parts of a session that does not exist.
	Parts(ctx context.Context, key string) ([]Part, error)

	// OpenPart opens a log or an archive of a log for reading. Both give the lines of the log. The error is
	// [ErrNotFound] if the part is gone.
	OpenPart(ctx context.Context, key string, part Part) (Log, error)

	// Archive puts an archive in the place of a log, and returns it: a compressed copy that was read back and compared.
	// now is the time that the archive has. The session is there as before: [Backend.Log] reads the archive where it
	// is of the newest log, and opening that for writing puts the log back.
	Archive(ctx context.Context, turn Turn, log Part, now time.Time, while ...Part) (Part, error)

	// Remove deletes an archive, or something that lies beside a log. Logs it refuses: they are archived first. The
	// session is gone with its last part.
	Remove(ctx context.Context, turn Turn, part Part, while ...Part) error

	// Rewrite replaces bytes of a log or of an archived log, and appends lines, which end in a newline, all at once. The
	// bytes that were replaced are in no part afterwards that was made from this one. Those who have the log open have
	// to open it again: they get a [*MovedError] with Next. The log gets another [Log.ID]: what
	// somebody knows of it by the old one is out of date.
	Rewrite(ctx context.Context, turn Turn, part Part, patches []Patch, lines []byte) error
}

// PartKind says what a [Part] is.
type PartKind string

const (
	PartLog     PartKind = "log"     // as it is written and read
	PartArchive PartKind = "archive" // a log that was compressed
	PartSide    PartKind = "side"    // what lies beside a log and is never read: a torn tail, a copy that was replaced
)

// Part is one thing that a backend keeps of a session.
type Part struct {
	Name  string    `json:"name"` // within the session, as the backend names it: of a file, its name
	Kind  PartKind  `json:"kind"`
	Log   string    `json:"log"`            // the [Log.ID] of the log that it is or belongs to
	Bytes int64     `json:"bytes"`          // that it takes
	Time  time.Time `json:"time,omitzero"`  // when an archive was made, and when the log of any other part was begun
	Open  bool      `json:"open,omitempty"` // the newest log or its archive: what the next opening goes on with
}

// Patch replaces bytes of a log by as many others.
type Patch struct {
	Offset int64
	Text   []byte
}

// ErrChanged: a part of a session is not as it was when it was listed.
var ErrChanged = errors.New("session: what is stored has changed since it was listed")

// maintainer returns the backend of the store as one that can maintain sessions.
func (s *Store) maintainer() (Maintainer, error) {
	m, ok := s.backend.(Maintainer)
	if !ok {
		return nil, fmt.Errorf("session: the backend keeps all it has: %w", errors.ErrUnsupported)
	}
	return m, nil
}

// Parts lists what is stored of a session: logs, archives, and what lies beside them. It changes nothing.
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
