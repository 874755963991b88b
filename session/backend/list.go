package backend

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/jsonl"
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

// Check returns session.ErrQuery if the query is invalid.
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

// Status summarizes a session: a row of session.Store.List. It is derived from the session's newest log.
type Status struct {
	Key             string       `json:"key"`
	Log             string       `json:"log"`   // its newest log, by the backend's name
	Bytes           int64        `json:"bytes"` // length of that log, up to the last line that counts
	Created         time.Time    `json:"created,omitzero"`
	Updated         time.Time    `json:"updated,omitzero"`         // the newest entry
	LastInteraction time.Time    `json:"lastInteraction,omitzero"` // the newest message of a person
	Info            entry.Info   `json:"info,omitzero"`
	Counts          entry.Counts `json:"counts"`
	Damage          int          `json:"damage,omitempty"` // damaged places found so far; upkeep.Verify finds all

	// Open says that somebody has the turn. It is a hint: it may be false for a holder that has written nothing yet.
	Open bool `json:"open,omitempty"`
}

// Add updates the status with lines that were appended to its log. It is for a [Backend] that keeps the status of its
// sessions. When the backend creates a log, it begins with a Status that has only Key and Log; then it calls Add with
// the lines of each Append.
func (s *Status) Add(lines []byte) {
	for line := range bytes.Lines(lines) {
		s.Bytes += int64(len(line))
		text, _, hasNUL := jsonl.TrimLine(bytes.TrimSuffix(line, []byte("\n")))
		if len(text) == 0 && !hasNUL {
			continue
		}
		l, reason := jsonl.ParseLine(text)
		e, err := l.DecodeClear()
		if reason != "" || err != nil {
			s.Damage++
			continue
		}
		jsonl.CountEntry(&s.Counts, e)
		s.LastInteraction = s.Counts.LastTurn
		if e.Type == entry.TypeInfo {
			jsonl.MergeInfo(&s.Info, e.Info)
		}
		if e.Type == entry.TypeSession && s.Created.IsZero() {
			s.Created, s.Key = e.Time, e.Key
		}
		if !e.Time.IsZero() {
			s.Updated = e.Time
		}
	}
}

// ReadStatus returns the status of the log of a session: from its end if that is in order, else from all of it.
func ReadStatus(ctx context.Context, key string, log Log) (*Status, error) {
	l, err := jsonl.ReadTotals(ctx, log, nil)
	if err != nil {
		return nil, fmt.Errorf("session: the status of %q: %w", key, err)
	}
	if l.Size == 0 {
		return nil, errs.ErrNotFound
	}
	s := &Status{
		Key: key, Log: log.ID(), Bytes: l.Valid, Updated: l.Newest.Time, LastInteraction: l.Counts.LastTurn,
		Info: l.Info, Counts: jsonl.CloneCounts(l.Counts), Damage: len(l.Damage),
	}
	if l.Header != nil {
		s.Created = l.Header.Time
	}
	return s, nil
}
