package session_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// TestDirectoriesAreSyncedOnce: a store that serves thousands of sessions in turn syncs directories only in the first
// turn of each.
func TestDirectoriesAreSyncedOnce(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := session.OpenFiles(fsys, nil)
	require.NoError(t, err)
	synced := 0
	fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
		if op.Name == "syncdir" {
			synced++
		}
		return sessiontest.Fault{}
	})
	const sessions = 3000
	for round := range 2 {
		synced = 0
		for i := range sessions {
			s := open(t, store, fmt.Sprint("k", i))
			require.NoError(t, s.Append(ctx, session.User("one")))
			require.NoError(t, s.Close())
		}
		if round == 0 {
			require.GreaterOrEqual(t, synced, sessions)
		}
	}
	require.Zero(t, synced)
}
