package dir

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/keys"
)

// listed is what ordering and filtering need to know about a session.
type listed struct {
	key              string
	updated          time.Time
	pinned, archived bool
}

func listedOf(s *backend.Status) listed {
	isSet := func(b *bool) bool { return b != nil && *b }
	return listed{s.Key, s.Updated, isSet(s.Info.Pinned), isSet(s.Info.Archived)}
}

// compare orders sessions as the list has them.
func compare(q *backend.Query, a, b *listed) int {
	if q.Order == backend.Newest {
		if c := b.updated.Compare(a.updated); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.key, b.key)
}

// finds reports whether the query selects a session.
func finds(q *backend.Query, l *listed) bool {
	switch {
	case !strings.HasPrefix(l.key, q.Prefix),
		len(q.Types) > 0 && !slices.Contains(q.Types, keys.TypeOf(l.key)),
		l.updated.Before(q.Since),
		!q.Until.IsZero() && !l.updated.Before(q.Until):
		return false
	}
	return (q.Pinned == nil || *q.Pinned == l.pinned) && (q.Archived == nil || *q.Archived == l.archived)
}
