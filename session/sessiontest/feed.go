package sessiontest

import (
	"context"
	"fmt"

	"github.com/winnowgo/winnow/session"
)

// FeedReader is a reader of the feed that remembers how much of which log it has been told about. It can be stored as
// JSON.
type FeedReader struct {
	Cursor string
	Known  map[string]session.Change // by key
}

// Take processes changes. It returns an error if some were never delivered.
func (r *FeedReader) Take(c *session.Changes) error {
	if c.Resync || r.Known == nil {
		r.Known = map[string]session.Change{}
	}
	for _, change := range c.Changes {
		was, ok := r.Known[change.Key]
		isSame := ok && was.Log == change.Log
		switch {
		case change.Deleted:
			delete(r.Known, change.Key)
			continue
		case isSame && change.From > was.To || !isSame && change.From > 0:
			return fmt.Errorf("%+v comes behind %+v: what is between was never told", change, was)
		case isSame && change.To < was.To: // delivered again
			continue
		}
		r.Known[change.Key] = change
	}
	r.Cursor = c.Cursor
	return nil
}

// Check returns an error unless the reader knows exactly the sessions that exist.
func (r *FeedReader) Check(ctx context.Context, store *session.Store) error {
	left := len(r.Known)
	for st, err := range store.All(ctx, session.Query{}) {
		if err != nil {
			return err
		}
		if k := r.Known[st.Key]; k.Log != st.Log || k.To != st.Bytes {
			return fmt.Errorf("the reader of the feed knows %+v of %q, whose log %s has %d bytes", k, st.Key, st.Log,
				st.Bytes)
		}
		left--
	}
	if left != 0 {
		return fmt.Errorf("the reader of the feed knows %d sessions that there are not", left)
	}
	return nil
}
