// Package session stores conversations durably. An agent that is killed at any instruction continues where it was:
// everything that was acknowledged is there, and the next request has the bytes it would have had without the kill.
//
//	s, err := store.Open(ctx, key) // waits for its turn
//	…
//	defer s.Close()
//	err = s.Begin(ctx, session.User(text)) // on disk when it returns
//	…
//	answer, err := s.Do(ctx, ask) // prepare, write down, call, recover, append
//
//	log ─▶ entries ─▶ branch ─▶ history ─▶ request
//
// A session is a log that only grows: a tree of entries, one per line, each with a checksum. The history that the
// manager of package winnow gets is built from the log alone, by the same code in a running session and in one that was
// opened again. So is the manager's own state. Everything else can be derived.
//
// One writer at a time holds the turn of a session, across all processes. Reading takes no lock. Anybody may write
// titles, labels and usage at any time.
package session
