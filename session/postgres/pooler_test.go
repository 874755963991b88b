package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/postgres"
	"github.com/winnowgo/winnow/session/postgres/internal/pgtest"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// TestEachTransactionOnAnotherConnection: no transaction leaves state in a connection or depends on such state.
func TestEachTransactionOnAnotherConnection(t *testing.T) {
	url := serverURL(t)
	p := newPooler(t, url)
	pool := newPool(t, p.address())
	sessiontest.Run(t, func(t *testing.T) sessiontest.Open {
		backend := newBackend(t, pool, postgres.Options{})
		return func(opts *session.Options) (*session.Store, error) { return session.New(backend, opts), nil }
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	require.NotEmpty(t, p.idle)
	for _, f := range p.idle {
		left, err := leftIn(f)
		require.NoError(t, err)
		require.Equal(t, "0 statements, 0 locks, synchronous_commit on", left)
	}
}

// leftIn says what the transactions of others left in a connection.
func leftIn(f *pgproto3.Frontend) (left string, err error) {
	f.Send(&pgproto3.Query{String: `SELECT (SELECT count(*) FROM pg_prepared_statements) || ' statements, ' ||
		(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) || ' locks, ' ||
		'synchronous_commit ' || current_setting('synchronous_commit')`})
	if err := f.Flush(); err != nil {
		return "", err
	}
	for {
		m, err := f.Receive()
		if err != nil {
			return "", err
		}
		switch m := m.(type) {
		case *pgproto3.DataRow:
			left = string(m.Values[0])
		case *pgproto3.ErrorResponse:
			return "", errors.New(m.Message)
		case *pgproto3.ReadyForQuery:
			return left, nil
		}
	}
}

// TestPgBouncer is the same with PgBouncer itself, where it is installed.
func TestPgBouncer(t *testing.T) {
	if testing.Short() {
		t.Skip("TestEachTransactionOnAnotherConnection shows the same")
	}
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer"
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("there is no pgbouncer; TestEachTransactionOnAnotherConnection shows the same")
	}
	server, err := pgx.ParseConfig(serverURL(t))
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "winnow-pgbouncer-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	target := fmt.Sprintf("host=%s port=%d user=%s", server.Host, server.Port, server.User)
	if server.Password != "" {
		target += " password=" + server.Password
	}
	port, err := pgtest.FreePort()
	require.NoError(t, err)
	config := filepath.Join(dir, "pgbouncer.ini")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `[databases]
%s = %s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
auth_type = any
pool_mode = transaction
default_pool_size = 5
max_client_conn = 100
`, server.Database, target, port), 0o644))
	user, err := pgtest.Unprivileged()
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	cmd := exec.Command(program, config)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Log(out.String()) // its user, its port, its settings
		}
	})
	url := fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", server.User, port, server.Database)
	require.Eventually(t, func() bool {
		conn, err := pgx.Connect(t.Context(), url)
		return err == nil && conn.Close(t.Context()) == nil
	}, 10*time.Second, 20*time.Millisecond)
	pool := newPool(t, url)
	sessiontest.Run(t, func(t *testing.T) sessiontest.Open {
		backend := newBackend(t, pool, postgres.Options{})
		return func(opts *session.Options) (*session.Store, error) { return session.New(backend, opts), nil }
	})
}
