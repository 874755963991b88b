package session

import "context"

// A [Backend] may answer for its sessions itself: a directory by a file that it keeps beside the logs, a database by
// an index. [Store] asks one that has the methods below; of any other it reads the logs. What they answer is derived:
// [Status.Add] says how from the lines of a log. Package sessiontest tests both.

// Lister is a [Backend] that knows the status of its sessions.
type Lister interface {
	// List answers [Store.List]. The query was checked. Whatever was acknowledged before the call is in the answer.
	List(ctx context.Context, q Query) (*Page, error)

	// Status answers [Store.Status].
	Status(ctx context.Context, key string) (*Status, error)
}

// Feeder is a [Backend] that knows what changed.
type Feeder interface {
	// Changes answers [Store.Changes]. It does not wait.
	Changes(ctx context.Context, cursor string) (*Changes, error)

	// Wait waits until Changes may have something behind cursor, or until ctx ends. It may return early.
	Wait(ctx context.Context, cursor string) error
}
