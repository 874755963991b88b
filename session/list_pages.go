package session

import (
	"cmp"
	"time"
)

// What a [Lister] has to know of a query that came through [Store.List].

// Start returns the session that the page begins behind, by what it is ordered by: its key, and Updated in the order
// [Newest]. Both are zero where After is "".
func (q *Query) Start() (updated time.Time, key string, err error) {
	at, err := q.after()
	return at.updated, at.key, err
}

// Size returns how many sessions the page has at most.
func (q *Query) Size() int { return cmp.Or(q.Limit, defaultPage) }

// Page returns the page of sessions that were found, in order. There is a next page if they are more than Size.
func (q *Query) Page(found []Status) *Page {
	size := q.Size()
	if len(found) <= size {
		return &Page{Sessions: found}
	}
	last := found[size-1].listed()
	return &Page{Sessions: found[:size], Next: q.next(&last)}
}
