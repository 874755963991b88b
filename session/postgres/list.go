package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/winnowgo/winnow/session"
)

// Status implements [session.Lister].
func (b *Backend) Status(ctx context.Context, key string) (*session.Status, error) {
	found, err := b.statuses(ctx, b.sql.status, []byte(key))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, session.ErrNotFound
	}
	return &found[0], nil
}

// List implements [session.Lister].
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

// conditions collects what sessions have to be, with the arguments for it.
type conditions struct {
	text strings.Builder
	args []any
}

// add adds a condition, in which ? stands for the argument.
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
	filter := c.text.String()
	if q.Order == session.ByKey {
		c.add("key > ?", []byte(key))
		return fmt.Sprintf("%s%s ORDER BY key LIMIT %d", b.sql.list, c.text.String(), q.Size()+1), c.args, nil
	}
	at := nanos(updated)
	if q.After == "" {
		at = math.MaxInt64
	}
	c.args = append(c.args, at, []byte(key))
	n := len(c.args)
	// Those that nobody writes to are in the order of an index; the others are sorted.
	page := func(more, column string) string {
		return fmt.Sprintf("(%s%s%s AND %[4]s <= $%[5]d AND (%[4]s < $%[5]d OR key > $%[6]d) ORDER BY %[4]s DESC, key LIMIT %[7]d)",
			b.sql.list, filter, more, column, n-1, n, q.Size()+1)
	}
	return fmt.Sprintf("SELECT * FROM (%s UNION ALL %s) AS found ORDER BY updated DESC, key LIMIT %d",
		page(" AND listed IS NOT NULL", "listed"), page(" AND listed IS NULL", "updated"), q.Size()+1), c.args, nil
}

// filter adds what the query asks for.
func (c *conditions) filter(q *session.Query) {
	if q.Prefix != "" {
		c.add("key >= ?", []byte(q.Prefix))
		c.add("key < ?", behindPrefix(q.Prefix))
	}
	if len(q.Types) > 0 {
		types := make([]string, len(q.Types))
		for i, t := range q.Types {
			types[i] = string(t)
		}
		c.add("type = ANY(?)", types)
	}
	if !q.Since.IsZero() {
		c.add("updated >= ? AND (listed >= ? OR listed IS NULL)", nanos(q.Since))
	}
	if !q.Until.IsZero() {
		c.add("updated < ? AND (listed < ? OR listed IS NULL)", nanos(q.Until))
	}
	c.flag("is_pinned", q.Pinned)
	c.flag("is_archived", q.Archived)
}

// flag adds what a column has to be, in the words of its index.
func (c *conditions) flag(column string, want *bool) {
	switch {
	case want == nil:
	case *want:
		c.text.WriteString(" AND " + column)
	default:
		c.text.WriteString(" AND NOT " + column)
	}
}

// behindPrefix returns the first key behind those that begin so. The last byte of UTF-8 is never 0xff.
func behindPrefix(prefix string) []byte {
	b := []byte(prefix)
	b[len(b)-1]++
	return b
}
