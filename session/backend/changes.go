package backend

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
	CauseDeleted   Cause = "deleted"   // Store.Delete, or upkeep.Erase: forget the session
)
