package backend

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/keys"
)

// Order is the order of a list.
type Order string

const (
	ByKey  Order = ""       // by the bytes of the key: paging visits every session once
	Newest Order = "newest" // the newest Updated first, then by key; paging may miss a session that is updated
)

// Query selects the sessions of a list. The zero value selects all of them, in pages of 100.
type Query struct {
	Prefix   string      // of the key
	Types    []keys.Type // of the key (any type)
	Since    time.Time   // Updated is not before it
	Until    time.Time   // Updated is before it; zero: no limit
	Pinned   *bool       // what Info must say (either)
	Archived *bool       // likewise
	Order    Order
	Limit    int    // maximum number of sessions on a page (100)
	After    string // Next of the previous page
}

// Page is one page of a list.
type Page struct {
	Sessions []Status
	Next     string // Query.After for the next page; "" after the last one
}

const defaultPage = 100

// Check returns [ErrQuery] if the query is invalid.
func (q *Query) Check() error {
	if q.Limit < 0 || q.Order != ByKey && q.Order != Newest {
		return fmt.Errorf("%w: order %q, limit %d", errs.ErrQuery, q.Order, q.Limit)
	}
	_, _, err := q.Start()
	return err
}

// Start returns the session after which the page begins: its key and, in the order [Newest], its Updated. Both are zero
// if After is "".
func (q *Query) Start() (updated time.Time, key string, err error) {
	if q.After == "" {
		return time.Time{}, "", nil
	}
	text, err := base64.RawURLEncoding.DecodeString(q.After)
	order, rest, ok := strings.Cut(string(text), "\x00")
	stamp, key, ok2 := strings.Cut(rest, "\x00")
	if err != nil || !ok || !ok2 || Order(order) != q.Order {
		return time.Time{}, "", fmt.Errorf("%w: %q is not Next of a page in this order", errs.ErrQuery, q.After)
	}
	if q.Order == Newest {
		if updated, err = time.Parse(time.RFC3339Nano, stamp); err != nil {
			return time.Time{}, "", fmt.Errorf("%w: %w", errs.ErrQuery, err)
		}
	}
	return updated, key, nil
}

// Next returns the After of the page that begins after a session.
func (q *Query) Next(updated time.Time, key string) string {
	text := string(q.Order) + "\x00" + updated.UTC().Format(time.RFC3339Nano) + "\x00" + key
	return base64.RawURLEncoding.EncodeToString([]byte(text))
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
	last := &found[size-1]
	return &Page{Sessions: found[:size], Next: q.Next(last.Updated, last.Key)}
}
