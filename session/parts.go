package session

import (
	"context"
	"errors"
	"time"
)

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

// Parts lists everything that is stored of a session: logs, archives, and the files beside them. It changes nothing.
func (s *Store) Parts(ctx context.Context, key string) ([]Part, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	return s.backend.Parts(ctx, key)
}
