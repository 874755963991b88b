package session_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

// TestPowerLossBehindAKilledMaintainer: a store that has long had a session in use, and knows that its log is durable,
// goes on with it after another process was killed while it put another file in the place of the log. What the store
// then acknowledges survives a power loss, even if an operation of the store on the session's directory failed before.
func TestPowerLossBehindAKilledMaintainer(t *testing.T) {
	ctx := context.Background()
	for name, maintain := range map[string]func(store *session.Store, first string) error{
		"erases an entry": func(store *session.Store, first string) error {
			_, err := upkeep.EraseEntries(ctx, store, "k", "", first)
			return err
		},
		"archives the session and puts it back": func(store *session.Store, _ string) error {
			plan, err := upkeep.MakePlan(ctx, store, upkeep.Maintenance{ArchiveAfter: time.Nanosecond})
			if err == nil {
				_, err = upkeep.Apply(ctx, store, plan)
			}
			if err != nil {
				return err
			}
			s, err := store.Open(ctx, "k")
			if err != nil {
				return err
			}
			return s.Close()
		},
	} {
		for _, fault := range []string{"", "remove", "syncdir"} {
			t.Run(strings.TrimSpace(name+" "+fault), func(t *testing.T) {
				random := rand.New(rand.NewPCG(1, 1))
				for k := 1; killedAt(t, random, k, fault, maintain); k++ {
				}
			})
		}
	}
}

// killedAt kills the maintainer at its k-th operation, and returns false if it has fewer. Then the first operation of
// the given name fails in the session's directory; "": none does.
func killedAt(
	t *testing.T, random *rand.Rand, k int, fault string, maintain func(store *session.Store, first string) error,
) (killed bool) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("one")))
	require.NoError(t, s.Append(ctx, answer("two")))
	first := s.View().IDs[0]
	require.NoError(t, s.Close())

	maintainer, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	count := 0
	fsys.Fail(func(sessiontest.Operation) sessiontest.Fault {
		if count++; count < k {
			return sessiontest.Fault{}
		}
		killed = true
		return sessiontest.Fault{Err: syscall.EIO} // as all that comes after it
	})
	err = maintain(maintainer, first)
	fsys.Fail(nil)
	if !killed {
		require.NoError(t, err)
	}

	failed := false
	fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
		if failed || op.Name != fault || !strings.Contains(op.Path, "/k-k") {
			return sessiontest.Fault{}
		}
		failed = true
		return sessiontest.Fault{Err: syscall.EIO}
	})
	if err := inOneTurn(ctx, store, "three"); err != nil {
		require.True(t, failed, "%v", err)
		require.NoError(t, inOneTurn(ctx, store, "three"))
	}
	fsys.Fail(nil)
	want := readStored(t, fsys, store, "k")
	for _, loss := range []sessiontest.Loss{sessiontest.LossAll, sessiontest.LossOrder} {
		crashed := fsys.Crash(loss, random)
		after, err := sessiontest.OpenFiles(crashed, nil)
		require.NoError(t, err)
		got := readStored(t, crashed, after, "k")
		require.True(t, bytes.HasPrefix(got.raw, want.raw), "killed at %d: something is missing", k)
	}
	return killed
}

// inOneTurn opens a session, appends a message, and closes it.
func inOneTurn(ctx context.Context, store *session.Store, text string) error {
	s, err := store.Open(ctx, "k")
	if err != nil {
		return err
	}
	return errors.Join(s.Append(ctx, session.User(text)), s.Close())
}
