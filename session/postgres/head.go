package postgres

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/winnowgo/winnow/session"
)

// head is the row of a session in the database.
type head struct {
	id         int64
	fence      int64 // raised when its turn is taken, and when it is released
	log        int32 // number of the newest log
	made       int32 // the highest number of any log so far
	compressed bool  // the newest log is an archive
	size       int64 // of the newest log
	status     []byte
}

// scan reads headColumns, and then more columns.
func (h *head) scan(row pgx.Row, more ...any) error {
	return row.Scan(append([]any{&h.id, &h.fence, &h.log, &h.made, &h.compressed, &h.size, &h.status}, more...)...)
}

// statusOf returns the stored status of a log, or an empty one if it cannot be read.
func (h *head) statusOf(key string) *session.Status {
	st := &session.Status{}
	if json.Unmarshal(h.status, st) != nil {
		*st = session.Status{}
	}
	st.Key, st.Log = key, logID(h.log)
	return st
}

// logID returns the name of a log.
func logID(number int32) string {
	if number == 0 {
		return ""
	}
	return strconv.Itoa(int(number))
}

// nanos returns a time as the database stores it: times have to sort as in Go, to the nanosecond.
func nanos(t time.Time) int64 {
	switch year := t.Year(); {
	case year < 1700:
		return math.MinInt64
	case year > 2200:
		return math.MaxInt64
	}
	return t.UnixNano()
}

// listing is what is stored of a session for lists.
type listing struct {
	status               []byte
	updated              int64
	isPinned, isArchived bool
}

func newListing(st *session.Status) (listing, error) {
	text, err := json.Marshal(st)
	return listing{text, nanos(st.Updated), isSet(st.Info.Pinned), isSet(st.Info.Archived)}, err
}

func isSet(b *bool) bool { return b != nil && *b }
