package session

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

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

// ErrQuery: the query is invalid. Its After does not come from a page, its order is unknown, or its limit is negative.
var ErrQuery = errors.New("session: bad query")

// List returns a page of the sessions that exist now. It includes everything that was acknowledged before the call.
func (s *Store) List(ctx context.Context, q Query) (*Page, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	p, err := s.backend.List(ctx, q)
	if err != nil {
		return nil, err
	}
	for i := range p.Sessions {
		if err := s.openTitle(ctx, &p.Sessions[i]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// All iterates over the sessions that a query selects, page by page. It ends with the first error.
func (s *Store) All(ctx context.Context, q Query) iter.Seq2[Status, error] {
	return func(yield func(Status, error) bool) {
		for {
			page, err := s.List(ctx, q)
			if err != nil {
				yield(Status{}, err)
				return
			}
			for _, st := range page.Sessions {
				if !yield(st, nil) {
					return
				}
			}
			if q.After = page.Next; page.Next == "" {
				return
			}
		}
	}
}

// Status returns the status of a session. The error is [ErrNotFound] if the session does not exist.
func (s *Store) Status(ctx context.Context, key string) (*Status, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	st, err := statusOf(ctx, s.backend, key)
	if err == nil {
		st.Open, err = s.backend.IsHeld(ctx, key)
	}
	if err == nil {
		err = s.openTitle(ctx, st)
	}
	if err != nil {
		return nil, err
	}
	return st, nil
}

// statusOf reads the status of a session from its log.
func statusOf(ctx context.Context, b Backend, key string) (*Status, error) {
	log, err := b.Log(ctx, key, false)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return readStatus(ctx, key, log)
}

func (q *Query) check() error {
	if q.Limit < 0 || q.Order != ByKey && q.Order != Newest {
		return fmt.Errorf("%w: order %q, limit %d", ErrQuery, q.Order, q.Limit)
	}
	_, err := q.after()
	return err
}

// listed is what ordering and filtering need to know about a session.
type listed struct {
	key              string
	updated          time.Time
	pinned, archived bool
}

func (s *Status) listed() listed {
	isSet := func(b *bool) bool { return b != nil && *b }
	return listed{s.Key, s.Updated, isSet(s.Info.Pinned), isSet(s.Info.Archived)}
}

// after returns the session after which the page begins; its key is "" on the first page.
func (q *Query) after() (listed, error) {
	if q.After == "" {
		return listed{}, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(q.After)
	order, rest, ok := strings.Cut(string(text), "\x00")
	stamp, key, ok2 := strings.Cut(rest, "\x00")
	if err != nil || !ok || !ok2 || Order(order) != q.Order {
		return listed{}, fmt.Errorf("%w: %q is not Next of a page in this order", ErrQuery, q.After)
	}
	at := listed{key: key}
	if q.Order == Newest {
		if at.updated, err = time.Parse(time.RFC3339Nano, stamp); err != nil {
			return listed{}, fmt.Errorf("%w: %w", ErrQuery, err)
		}
	}
	return at, nil
}

// next returns the Query.After of the page that begins after a session.
func (q *Query) next(l *listed) string {
	text := string(q.Order) + "\x00" + l.updated.UTC().Format(time.RFC3339Nano) + "\x00" + l.key
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

// compare orders sessions as the list has them.
func (q *Query) compare(a, b *listed) int {
	if q.Order == Newest {
		if c := b.updated.Compare(a.updated); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.key, b.key)
}

// finds reports whether the query selects a session.
func (q *Query) finds(l *listed) bool {
	switch {
	case !strings.HasPrefix(l.key, q.Prefix),
		len(q.Types) > 0 && !slices.Contains(q.Types, keys.TypeOf(l.key)),
		l.updated.Before(q.Since),
		!q.Until.IsZero() && !l.updated.Before(q.Until):
		return false
	}
	return (q.Pinned == nil || *q.Pinned == l.pinned) && (q.Archived == nil || *q.Archived == l.archived)
}

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
