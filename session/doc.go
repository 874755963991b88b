// Package session keeps conversations, so that an agent that is killed at any instruction goes on where it was:
// nothing that was acknowledged is missing, and the next request has the bytes that it would have had.
//
//	s, err := store.Open(ctx, key) // waits for its turn
//	…
//	defer s.Close()
//	err = s.Append(ctx, session.User(text)) // on disk when it returns
//	…
//	answer, err := s.Do(ctx, ask) // prepare, write down, call, recover, append
//
// A session is a log that only grows: a tree of entries, one a line, each with a checksum. What the manager of package
// winnow gets is made from the log alone, by the same code in a running session and in one that was opened again. So
// is the manager's own state. Everything else can be derived.
//
// One writer at a time has the turn of a session, across processes; reading locks nothing. Titles, labels and usage
// may be written by anybody at any time.
package session
