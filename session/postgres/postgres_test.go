package postgres_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/postgres"
	"github.com/winnowgo/winnow/session/postgres/internal/pgtest"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// The tests need a server: the one at WINNOW_POSTGRES, a connection string of a role that may create schemas, or one
// that they start themselves. Without either they are skipped; with WINNOW_POSTGRES_REQUIRED they fail instead.
const (
	serverVariable   = "WINNOW_POSTGRES"
	requiredVariable = "WINNOW_POSTGRES_REQUIRED"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if childMain() {
		return
	}
	code := m.Run()
	if shared.cluster != nil {
		shared.cluster.Stop()
	}
	if shared.skipped.Load() {
		fmt.Fprintln(os.Stderr, "WARNING: there is no PostgreSQL here. The tests of the store were SKIPPED.")
	}
	os.Exit(code)
}

// shared is the server of all tests that do not change it.
var shared struct {
	once    sync.Once
	cluster *pgtest.Cluster
	url     string
	err     error
	skipped atomic.Bool
	schemas atomic.Int64
}

// serverURL returns a server, and skips the test if there is none.
func serverURL(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() {
		if shared.url = os.Getenv(serverVariable); shared.url != "" {
			return
		}
		if shared.cluster, shared.err = pgtest.Start("fsync=off"); shared.err == nil {
			shared.url = shared.cluster.URL()
		}
	})
	skipWithout(t, shared.err)
	return shared.url
}

// ownCluster starts a server for a test that kills it.
func ownCluster(t testing.TB, settings ...string) *pgtest.Cluster {
	t.Helper()
	c, err := pgtest.Start(settings...)
	skipWithout(t, err)
	t.Cleanup(c.Stop)
	return c
}

func skipWithout(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, pgtest.ErrNoServer) && os.Getenv(requiredVariable) == "" {
		shared.skipped.Store(true)
		t.Skip("SKIPPED, nothing was tested:", err)
	}
	require.NoError(t, err)
}

// newSchema makes the tables in a schema of the test's own, whose name has to be quoted.
func newSchema(t testing.TB, pool *pgxpool.Pool) string {
	t.Helper()
	schema := fmt.Sprintf(`Winnow "test" %d.%d`, os.Getpid(), shared.schemas.Add(1))
	require.NoError(t, postgres.Migrate(context.Background(), pool, schema))
	t.Cleanup(func() { dropSchema(t, pool, schema) })
	return schema
}

func newPool(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(context.Background(), url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// newBackend returns a backend on empty tables.
func newBackend(t testing.TB, pool *pgxpool.Pool, opts postgres.Options) *postgres.Backend {
	t.Helper()
	if opts.Schema == "" {
		opts.Schema = newSchema(t, pool)
	}
	b, err := postgres.New(context.Background(), pool, &opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func TestConformance(t *testing.T) {
	pool := newPool(t, serverURL(t))
	for name, opts := range map[string]postgres.Options{"default": {}, "prepared": {Prepare: true}} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && opts.Prepare {
				t.Skip("the default is tested")
			}
			sessiontest.Run(t, func(t *testing.T) sessiontest.Open {
				backend := newBackend(t, pool, opts)
				return func(opts *session.Options) (*session.Store, error) { return session.New(backend, opts), nil }
			})
		})
	}
}

// TestCopy copies sessions from a directory into the database and back.
func TestCopy(t *testing.T) {
	pool := newPool(t, serverURL(t))
	database := func() *session.Store { return session.New(newBackend(t, pool, postgres.Options{}), nil) }
	directory := func() *session.Store {
		store, err := session.OpenDirectory(t.TempDir(), nil)
		require.NoError(t, err)
		return store
	}
	sessiontest.RunCopy(t, directory(), database())
	sessiontest.RunCopy(t, database(), directory())
	sessiontest.RunCopy(t, database(), database())
}
