package postgres_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/keys"
	"github.com/winnowgo/winnow/session/postgres"
)

var listSessions = flag.Int("list-sessions", 100_000, "how many sessions a page is taken from")

// fillSQL makes sessions as they are after one message each: some of them in use, some pinned, some of groups.
const fillSQL = `
INSERT INTO {schema}.sessions
	(key, type, log, made, size, fence, status, updated, listed, is_pinned, is_archived, lease_until)
SELECT convert_to(s.key, 'UTF8'), CASE WHEN n % 50 = 7 THEN 'group' ELSE 'direct' END, 1, 1, 4000, 1,
	convert_to(json_build_object('key', s.key, 'log', '1', 'bytes', 4000, 'updated', to_char(
		to_timestamp(1700000000 + n) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'counts', json_build_object(
		'entries', 12, 'turns', 4, 'messages', json_build_object('user', 4, 'assistant', 7)))::text, 'UTF8'),
	(1700000000 + n) * 1000000000, CASE WHEN n % 100 <> 5 THEN (1700000000 + n) * 1000000000 END,
	n % 1000 = 3, n % 500 = 9,
	CASE WHEN n % 100 = 5 THEN now() + interval '1 hour' END
FROM generate_series(1::bigint, $1) AS n,
LATERAL (SELECT 'agent:a' || n % 10 || ':' || md5(n::text) ||
	CASE WHEN n % 50 = 7 THEN ':group:g' ELSE ':direct:d' END AS key) AS s`

func fill(t testing.TB, pool *pgxpool.Pool, schema string, sessions int) {
	t.Helper()
	for _, sql := range []string{fillSQL, "ANALYZE {schema}.sessions"} {
		args := []any{}
		if strings.Contains(sql, "$1") {
			args = append(args, sessions)
		}
		sql = strings.ReplaceAll(sql, "{schema}", pgx.Identifier{schema}.Sanitize())
		_, err := pool.Exec(context.Background(), sql, args...)
		require.NoError(t, err)
	}
}

// TestListUsesIndexes: a page of many sessions is found by an index, for any query and any beginning.
func TestListUsesIndexes(t *testing.T) {
	t.Parallel()
	sessions := *listSessions
	if testing.Short() {
		sessions = min(sessions, 20_000)
	}
	pool := newPool(t, serverURL(t))
	schema := newSchema(t, pool)
	b := newBackend(t, pool, postgres.Options{Schema: schema})
	fill(t, pool, schema, sessions)
	yes := true
	middle := time.Unix(1_700_000_000+int64(sessions)/2, 0)
	for name, q := range map[string]session.Query{
		"all":                  {},
		"the newest":           {Order: session.Newest},
		"of a prefix":          {Prefix: "agent:a3:"},
		"pinned":               {Pinned: &yes},
		"archived, the newest": {Archived: &yes, Order: session.Newest},
		"groups":               {Types: []keys.Type{keys.Group}},
		"groups, the newest":   {Types: []keys.Type{keys.Group}, Order: session.Newest},
		"of an hour":           {Since: middle, Until: middle.Add(time.Hour), Order: session.Newest},
		"before a time":        {Until: middle, Order: session.Newest},
	} {
		t.Run(name, func(t *testing.T) {
			var took, server []time.Duration
			for range 10 { // pages
				plan, err := postgres.ExplainList(t.Context(), b, q)
				require.NoError(t, err)
				require.NotContains(t, plan, "Seq Scan", plan)
				server = append(server, executionTime(t, plan))
				began := time.Now()
				page, err := b.List(t.Context(), q)
				require.NoError(t, err)
				took = append(took, time.Since(began))
				require.NotEmpty(t, page.Sessions)
				if q.After = page.Next; page.Next == "" {
					break
				}
			}
			slices.Sort(took)
			slices.Sort(server)
			t.Logf("%d pages of %d sessions: median %s, of which %s in the server; longest %s",
				len(took), sessions, took[len(took)/2], server[len(server)/2], took[len(took)-1])
		})
	}
}

// executionTime reads from a plan how long it took.
func executionTime(t *testing.T, plan string) time.Duration {
	_, text, ok := strings.Cut(plan, "Execution Time: ")
	require.True(t, ok)
	d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
	require.NoError(t, err)
	return d
}

// TestListOfLargeStore compares all pages of a list with the sessions that were created.
func TestListOfLargeStore(t *testing.T) {
	const sessions = 1_000
	pool := newPool(t, serverURL(t))
	schema := newSchema(t, pool)
	store := session.New(newBackend(t, pool, postgres.Options{Schema: schema}), nil)
	fill(t, pool, schema, sessions)
	var newest []time.Time
	open := 0
	for st, err := range store.All(t.Context(), session.Query{Order: session.Newest, Limit: 7}) {
		require.NoError(t, err)
		newest = append(newest, st.Updated)
		if st.Open {
			open++
		}
	}
	require.Len(t, newest, sessions)
	require.True(t, slices.IsSortedFunc(newest, func(a, b time.Time) int { return b.Compare(a) }))
	require.Equal(t, sessions/100, open)
	seen := map[string]bool{}
	for st, err := range store.All(t.Context(), session.Query{Prefix: "agent:a4:", Limit: 3}) {
		require.NoError(t, err)
		require.False(t, seen[st.Key], fmt.Sprint(st.Key, " comes twice"))
		seen[st.Key] = true
	}
	require.Len(t, seen, sessions/10)
}
