package session

import (
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
)

// What lists and the feed consist of. Package backend has it too, and says what it means.
type (
	Query   = backend.Query   // selects and orders sessions
	Order   = backend.Order   // of a list
	Page    = backend.Page    // of a list
	Status  = backend.Status  // a row of a list
	Changes = backend.Changes // a piece of the feed
	Change  = backend.Change  // says that a session changed

	BusyError = backend.BusyError // says who has the turn
)

const (
	ByKey  = backend.ByKey  // by the bytes of the key: paging visits every session once
	Newest = backend.Newest // the newest Updated first, then by key; paging may miss a session that is updated
)

// Info is the title of a session, and whether it is pinned or archived. nil means unknown or, in a change, as it was.
type Info = entry.Info

// Counts counts what a session holds, on all branches: messages, turns, tokens.
type Counts = entry.Counts
