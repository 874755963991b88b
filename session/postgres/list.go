package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/winnowgo/winnow/session"
)

// List implements [backend.Backend].
func (b *Backend) List(ctx context.Context, q session.Query) (*session.Page, error) {
	sql, args, err := b.listSQL(&q)
	if err != nil {
		return nil, err
	}
	found, err := b.statuses(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return q.Page(found), nil
}

// statuses runs a query for statusColumns.
func (b *Backend) statuses(ctx context.Context, sql string, args ...any) (found []session.Status, err error) {
	err = b.retry(ctx, func(ctx context.Context) error {
		rows, err := b.pool.Query(ctx, sql, append([]any{b.mode}, args...)...)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, scanStatus)
		return err
	})
	return found, err
}

func scanStatus(row pgx.CollectableRow) (st session.Status, err error) {
	var text, key []byte
	var isOpen bool
	var updated int64
	if err := row.Scan(&text, &isOpen, &updated, &key); err != nil {
		return st, err
	}
	if err := json.Unmarshal(text, &st); err != nil {
		return st, fmt.Errorf("postgres: the status of %q: %w", key, err)
	}
	st.Open = isOpen
	return st, nil
}

// conditions collects conditions on sessions, with their arguments.
type conditions struct {
	text strings.Builder
	args []any
}

// add adds a condition. ? stands for the argument.
func (c *conditions) add(condition string, arg any) {
	c.args = append(c.args, arg)
	c.text.WriteString(" AND " + strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(c.args))))
}

// listSQL returns the query for a page and one session more.
func (b *Backend) listSQL(q *session.Query) (sql string, args []any, err error) {
	updated, key, err := q.Start()
	if err != nil {
		return "", nil, err
	}
	var c conditions
	c.filter(q)
	if q.Order == session.Newest {
		return b.newestSQL(q, &c, updated, key)
	}
	if !q.Since.IsZero() {
		c.add("updated >= ? AND (listed >= ? OR listed IS NULL)", nanos(q.Since))
	}
	if !q.Until.IsZero() {
		c.add("updated < ? AND (listed < ? OR listed IS NULL)", nanos(q.Until))
	}
	c.add("key > ?", []byte(key))
	return fmt.Sprintf("%s%s ORDER BY key LIMIT %d", b.sql.list, c.text.String(), q.Size()+1), c.args, nil
}

// newestSQL lists the newest first. Sessions that nobody writes to come in the order of an index; the others are
// sorted.
func (b *Backend) newestSQL(q *session.Query, c *conditions, updated time.Time, key string) (string, []any, error) {
	filter := c.text.String()
	c.text.Reset()
	if !q.Since.IsZero() {
		c.add("{time} >= ?", nanos(q.Since))
	}
	if !q.Until.IsZero() {
		c.add("{time} < ?", nanos(q.Until))
	}
	at := nanos(updated)
	if q.After == "" {
		at = math.MaxInt64
	}
	c.add("{time} <= ?", at)
	n := len(c.args)
	c.add(fmt.Sprintf("({time} < $%d OR key > ?)", n), []byte(key))
	half := func(which, column string) string {
		times := strings.ReplaceAll(c.text.String(), "{time}", column)
		return fmt.Sprintf("(%s%s AND %s%s ORDER BY %s DESC, key LIMIT %d)",
			b.sql.list, filter, which, times, column, q.Size()+1)
	}
	left, inUse := half("listed IS NOT NULL", "listed"), half("listed IS NULL", "updated")
	const both = "SELECT * FROM (%s UNION ALL %s) AS found ORDER BY updated DESC, key LIMIT %d"
	return fmt.Sprintf(both, left, inUse, q.Size()+1), c.args, nil
}

// filter adds the conditions of the query, except those on times.
func (c *conditions) filter(q *session.Query) {
	if q.Prefix != "" {
		c.add("key >= ?", []byte(q.Prefix))
		c.add("key < ?", behindPrefix(q.Prefix))
	}
	switch types := q.Types; len(types) {
	case 0:
	case 1: // the index on it is in the order of keys
		c.add("type = ?", string(types[0]))
	default:
		names := make([]string, len(types))
		for i, t := range types {
			names[i] = string(t)
		}
		c.add("type = ANY(?)", names)
	}
	c.flag("is_pinned", q.Pinned)
	c.flag("is_archived", q.Archived)
}

// flag adds a condition on a boolean column, in the words of its index.
func (c *conditions) flag(column string, want *bool) {
	switch {
	case want == nil:
	case *want:
		c.text.WriteString(" AND " + column)
	default:
		c.text.WriteString(" AND NOT " + column)
	}
}

// behindPrefix returns the first key after all those with the prefix. The last byte of UTF-8 is never 0xff.
func behindPrefix(prefix string) []byte {
	b := []byte(prefix)
	b[len(b)-1]++
	return b
}
