package session

import (
	"cmp"
	"time"
)

// The methods of Query below are for a [Backend], which gets its queries from [Store.List].

// Start returns the session after which the page begins: its key and, in the order [Newest], its Updated. Both are zero
// if After is "".
func (q *Query) Start() (updated time.Time, key string, err error) {
	at, err := q.after()
	return at.updated, at.key, err
}

// Size returns the maximum number of sessions on the page.
func (q *Query) Size() int { return cmp.Or(q.Limit, defaultPage) }

// Page returns the page that begins with found, which is in order. If found has more than Size sessions, there is a
// next page.
func (q *Query) Page(found []Status) *Page {
	size := q.Size()
	if len(found) <= size {
		return &Page{Sessions: found}
	}
	last := found[size-1].listed()
	return &Page{Sessions: found[:size], Next: q.next(&last)}
}
