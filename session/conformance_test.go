package session_test

import (
	"testing"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/sessiontest"
)

func TestDirectory(t *testing.T) {
	t.Parallel()
	sessiontest.Run(t, func(t *testing.T) sessiontest.Open {
		dir := t.TempDir()
		return func(opts *session.Options) (*session.Store, error) { return session.OpenDirectory(dir, opts) }
	})
}

func TestDirectoryOnTheCrashFileSystem(t *testing.T) {
	sessiontest.Run(t, func(*testing.T) sessiontest.Open {
		fsys := sessiontest.NewCrashFS()
		return func(opts *session.Options) (*session.Store, error) { return sessiontest.OpenFiles(fsys, opts) }
	})
}

func TestMemory(t *testing.T) {
	sessiontest.Run(t, func(*testing.T) sessiontest.Open {
		backend := session.NewMemory(nil).Backend()
		return func(opts *session.Options) (*session.Store, error) { return session.New(backend, opts), nil }
	})
}

// TestPlainBackend has a backend that keeps logs, and can do nothing else.
func TestPlainBackend(t *testing.T) {
	sessiontest.Run(t, func(*testing.T) sessiontest.Open {
		plain := struct{ backend.Backend }{session.NewMemory(nil).Backend()}
		return func(opts *session.Options) (*session.Store, error) { return session.New(plain, opts), nil }
	})
}
