package session

import "context"

// A [Backend] may implement the interfaces below: a directory from a file beside the logs, a database from an index. If
// it does, [Store] asks it; otherwise [Store] reads the logs. The answers are derived from the lines of the logs, as
// [Status.Add] does it. Package sessiontest tests both interfaces.

// Lister is a [Backend] that can list its sessions with their status.
type Lister interface {
	// List answers [Store.List]. The query is valid. The answer includes everything that was acknowledged before the
	// call.
	List(ctx context.Context, q Query) (*Page, error)

	// Status answers [Store.Status].
	Status(ctx context.Context, key string) (*Status, error)
}

// Feeder is a [Backend] that can say what changed.
type Feeder interface {
	// Changes answers [Store.Changes]. With wait it waits until there is something, or until ctx ends.
	Changes(ctx context.Context, cursor string, wait bool) (*Changes, error)
}
