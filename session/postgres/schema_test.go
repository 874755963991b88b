package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/postgres"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// TestMigrateAtOnce has many processes migrate the same schema.
func TestMigrateAtOnce(t *testing.T) {
	pool := newPool(t, serverURL(t))
	schema := fmt.Sprintf("at once %d", os.Getpid())
	t.Cleanup(func() { dropSchema(t, pool, schema) })
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if err := postgres.Migrate(context.Background(), pool, schema); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	newBackend(t, pool, postgres.Options{Schema: schema})
}

// TestSchemaNames: a schema may have any name.
func TestSchemaNames(t *testing.T) {
	pool := newPool(t, serverURL(t))
	for _, name := range []string{"{schema}", "{time} {tell}", `"; DROP TABLE x; --`, "%s $1 ?"} {
		schema := fmt.Sprint(name, " ", os.Getpid())
		require.NoError(t, postgres.Migrate(t.Context(), pool, schema), name)
		t.Cleanup(func() { dropSchema(t, pool, schema) })
		store := session.New(newBackend(t, pool, postgres.Options{Schema: schema}), nil)
		say(t, store, "k")
		page, err := store.List(t.Context(), session.Query{Order: session.Newest})
		require.NoError(t, err, name)
		require.Len(t, page.Sessions, 1, name)
	}
}

// TestSchemaNameTooLong: PostgreSQL would cut the name.
func TestSchemaNameTooLong(t *testing.T) {
	pool := newPool(t, serverURL(t))
	for _, name := range []string{strings.Repeat("x", 64), strings.Repeat("ä", 32)} {
		require.ErrorContains(t, postgres.Migrate(t.Context(), pool, name), "64 bytes, more than 63")
		_, err := postgres.New(t.Context(), pool, &postgres.Options{Schema: name})
		require.ErrorContains(t, err, "64 bytes, more than 63")
	}
	longest := strings.Repeat("x", 63)
	require.NoError(t, postgres.Migrate(t.Context(), pool, longest))
	t.Cleanup(func() { dropSchema(t, pool, longest) })
	newBackend(t, pool, postgres.Options{Schema: longest})
}

func dropSchema(t testing.TB, pool *pgxpool.Pool, schema string) {
	_, err := pool.Exec(context.Background(), "DROP SCHEMA "+pgx.Identifier{schema}.Sanitize()+" CASCADE")
	require.NoError(t, err)
}

func TestVersion(t *testing.T) {
	pool := newPool(t, serverURL(t))
	_, err := postgres.New(t.Context(), pool, &postgres.Options{Schema: "there is none"})
	require.ErrorIs(t, err, postgres.ErrVersion)
	schema := newSchema(t, pool)
	_, err = pool.Exec(t.Context(), "INSERT INTO "+pgx.Identifier{schema}.Sanitize()+".migrations VALUES (1000)")
	require.NoError(t, err)
	_, err = postgres.New(t.Context(), pool, &postgres.Options{Schema: schema})
	require.ErrorIs(t, err, postgres.ErrVersion)
}

// TestRoleWithoutCreate: the host applies the migrations with another role, and the store's may only read and write.
func TestRoleWithoutCreate(t *testing.T) {
	owner := newPool(t, serverURL(t))
	schema := fmt.Sprintf("by the host %d", os.Getpid())
	role := fmt.Sprintf("writer %d", os.Getpid())
	quoted, quotedRole := pgx.Identifier{schema}.Sanitize(), pgx.Identifier{role}.Sanitize()
	run := func(sql string) {
		t.Helper()
		_, err := owner.Exec(context.Background(), sql, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
	}
	run("CREATE SCHEMA " + quoted)
	run("CREATE TABLE " + quoted + ".migrations (number integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())")
	for _, m := range postgres.Migrations(schema) {
		run(m.SQL)
		run(fmt.Sprintf("INSERT INTO %s.migrations VALUES (%d)", quoted, m.Number))
	}
	run("CREATE ROLE " + quotedRole)
	run("GRANT USAGE ON SCHEMA " + quoted + " TO " + quotedRole)
	run("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA " + quoted + " TO " + quotedRole)
	t.Cleanup(func() {
		run("DROP SCHEMA " + quoted + " CASCADE")
		run("DROP ROLE " + quotedRole)
	})
	config := owner.Config()
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SET ROLE "+quotedRole)
		return err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), "CREATE TABLE "+quoted+".t (i int)")
	require.ErrorContains(t, err, "permission denied")
	backend := newBackend(t, pool, postgres.Options{Schema: schema})
	sessiontest.Run(t, func(t *testing.T) sessiontest.Open {
		run("TRUNCATE " + strings.Join([]string{quoted + ".sessions", quoted + ".logs", quoted + ".chunks"}, ", "))
		return func(opts *session.Options) (*session.Store, error) { return session.New(backend, opts), nil }
	})
}
