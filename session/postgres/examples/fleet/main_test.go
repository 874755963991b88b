package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/postgres/internal/pgtest"
)

// TestMain lets the test binary be the processes that are killed.
func TestMain(m *testing.M) {
	if url := os.Getenv(workerVariable); url != "" {
		exitOn(work(context.Background(), url))
		return
	}
	os.Exit(m.Run())
}

func TestFleet(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), &out, os.Getenv("WINNOW_POSTGRES"), 8, 2500*time.Millisecond)
	if errors.Is(err, pgtest.ErrNoServer) && os.Getenv("WINNOW_POSTGRES_REQUIRED") == "" {
		t.Skip("SKIPPED, nothing was tested:", err)
	}
	require.NoError(t, err, out.String())
	t.Log(out.String())
	require.Contains(t, out.String(), "each once and in order")
	require.NotContains(t, out.String(), "of which 0 were killed")
}

// TestCheck: an answer that was given and is not in the database is an error, whatever else is in order.
func TestCheck(t *testing.T) {
	store := session.NewMemory(nil)
	s, err := store.Open(t.Context(), "fleet:0")
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), session.User(question(0))))
	_, err = s.Do(t.Context(), model)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, check(t.Context(), io.Discard, store, "fleet:", 1))
	require.Error(t, check(t.Context(), io.Discard, store, "fleet:", 2))
}
