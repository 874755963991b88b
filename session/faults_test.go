package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

// TestEveryOperationFails runs random programs in which one file operation fails. Afterwards, even after a power loss,
// what was acknowledged is there, other sessions are unchanged, and no sync of a file was repeated.
func TestEveryOperationFails(t *testing.T) {
	faults := map[string]func(sessiontest.Operation) sessiontest.Fault{
		"disk full": func(op sessiontest.Operation) sessiontest.Fault {
			if op.Name == "sync" || op.Name == "syncdir" || op.Name == "truncate" || op.Name == "remove" {
				return sessiontest.Fault{}
			}
			return sessiontest.Fault{Err: syscall.ENOSPC}
		},
		"input/output error": func(sessiontest.Operation) sessiontest.Fault { return sessiontest.Fault{Err: syscall.EIO} },
		"short write": func(op sessiontest.Operation) sessiontest.Fault {
			if op.Name != "write" {
				return sessiontest.Fault{}
			}
			return sessiontest.Fault{Err: syscall.ENOSPC, Short: -1}
		},
		"failed sync": func(op sessiontest.Operation) sessiontest.Fault {
			if op.Name != "sync" && op.Name != "syncdir" {
				return sessiontest.Fault{}
			}
			return sessiontest.Fault{Err: syscall.EIO}
		},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failures := 0
			for seed := range times.Of(uint64(2)) {
				for k := 1; ; k++ {
					done, failed := failProgram(t, seed, k, fault, fmt.Sprintf("%s at operation %d of program %d", name, k, seed))
					if failed {
						failures++
					}
					if done {
						break
					}
				}
			}
			require.Positive(t, failures)
			t.Log("failures:", failures)
		})
	}
}

// failProgram runs a program whose k-th operation fails. done says that it has fewer operations.
func failProgram(t *testing.T, seed uint64, k int, fault func(sessiontest.Operation) sessiontest.Fault, name string) (done, failed bool) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	p := &program{t: t, random: rand.New(rand.NewPCG(seed, 1)), key: "k", now: time.Unix(1_700_000_000, 0)}
	store, err := sessiontest.OpenFiles(fsys, p.options())
	require.NoError(t, err)
	p.store = store
	other := open(t, store, "other")
	require.NoError(t, other.Append(ctx, session.User("untouched")))
	require.NoError(t, other.Close())

	count, synced := 0, 0 // operations, and syncs of the session
	lastFailed, failedSync := "", ""
	fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
		count++
		if op.Name == "sync" && op.Path == failedSync {
			t.Errorf("%s: the sync of %s is tried again", name, op.Path)
		}
		if op.Name == "rename" && op.Path == failedSync { // another file takes the name
			failedSync = ""
		}
		f := sessiontest.Fault{}
		if count == k {
			f = fault(op)
		}
		if f.Err == nil && op.Name == "sync" && strings.Contains(op.Path, "/k-"+p.key+"/") {
			synced++
		}
		if f.Err != nil {
			lastFailed = op.Name + " " + op.Path
			if op.Name == "sync" {
				failedSync = op.Path
			}
		}
		return f
	})
	var ack stored
	for range 10 {
		before, opens, syncs := lastFailed, p.s == nil, synced
		err := p.step(ctx)
		if err == nil {
			if !opens && synced > syncs { // else nothing new is acknowledged
				ack = readStored(t, fsys, store, p.key)
				ack.dropVolatileEnd()
			}
			continue
		}
		require.NotEqual(t, before, lastFailed, "%s: %v", name, err) // for no other reason
		require.True(t, isTyped(err), "%s: %v", name, err)
		if p.s != nil {
			p.s.Close()
			p.s = nil
		}
	}
	if p.s != nil {
		p.s.Close()
	}
	fsys.Fail(nil)
	for _, crashed := range []*sessiontest.CrashFS{fsys, fsys.Crash(sessiontest.LossAll, p.random)} {
		checkAfterFault(t, crashed, p.key, ack, name+" ("+lastFailed+")")
	}
	return count < k, lastFailed != ""
}

// isTyped reports whether a caller can branch on err.
func isTyped(err error) bool {
	for _, target := range []error{session.ErrSync, session.ErrClosed, syscall.ENOSPC, syscall.EIO} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

func checkAfterFault(t *testing.T, fsys *sessiontest.CrashFS, key string, ack stored, name string) {
	ctx := context.Background()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err, name)
	v, err := store.Read(ctx, "other")
	require.NoError(t, err, name)
	require.Equal(t, []string{"untouched"}, texts(v), name)
	s, err := store.Open(ctx, key)
	require.NoError(t, err, name)
	got := readStored(t, fsys, store, key)
	requireWholeBatches(t, got.entries, name)
	switch {
	case findLog(t, fsys, key, ack.log) != "": // the same, or one that ended in a reset
		require.True(t, bytes.HasPrefix(readLog(t, fsys, key, ack.log), ack.raw), "%s: what was acknowledged is missing", name)
	case ack.log != "": // a sync of it failed, and it was copied; the copy may have ended in a reset
		require.NotEmpty(t, got.log, name)
		require.True(t, anyLogHas(t, fsys, key, ack.entries), "%s: what was acknowledged is missing", name)
	}
	require.NoError(t, s.Append(ctx, session.User("afterwards")), name)
	want := s.View()
	require.NoError(t, s.Close(), name)
	v, err = store.Read(ctx, key)
	require.NoError(t, err, name)
	require.Equal(t, want.History, v.History, name)
}

// anyLogHas reports whether one of the logs of a session has all the entries in order.
func anyLogHas(t *testing.T, fsys *sessiontest.CrashFS, key string, entries []string) bool {
	parents, err := fsys.List("s")
	require.NoError(t, err)
	for _, parent := range parents {
		dir := "s/" + parent + "/k-" + key
		names, err := fsys.List(dir)
		if err != nil {
			continue
		}
		for _, name := range names {
			if !strings.HasSuffix(name, ".jsonl") {
				continue
			}
			data, err := fsys.ReadFile(dir + "/" + name)
			require.NoError(t, err)
			lines, _, err := session.CountedLines(data)
			require.NoError(t, err)
			at := 0
			for _, line := range lines {
				if at < len(entries) && line == entries[at] {
					at++
				}
			}
			if at == len(entries) {
				return true
			}
		}
	}
	return false
}

// TestTornTailWhoseSyncFails: the sync after a torn end was cut off is not tried again either. The next opening copies
// the log, and what is appended to the copy survives a power loss.
func TestTornTailWhoseSyncFails(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	require.NoError(t, inOneTurn(ctx, store, "one"))
	name := findLog(t, fsys, "k", readStored(t, fsys, store, "k").log)
	f, err := fsys.Open(name, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.Write([]byte(`{"seq":`))
	require.NoError(t, err)
	require.NoError(t, f.Close())

	syncs, isReplaced := 0, false
	fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
		isReplaced = isReplaced || op.Name == "rename" && op.Path == name
		if op.Name != "sync" || op.Path != name || isReplaced {
			return sessiontest.Fault{}
		}
		if syncs++; syncs > 1 {
			t.Error("the sync is tried again")
		}
		return sessiontest.Fault{Err: syscall.EIO}
	})
	_, err = store.Open(ctx, "k")
	require.ErrorIs(t, err, session.ErrSync)
	require.NoError(t, inOneTurn(ctx, store, "two"))
	require.Equal(t, 1, syncs)
	crashed := fsys.Crash(sessiontest.LossAll, rand.New(rand.NewPCG(1, 1)))
	after, err := sessiontest.OpenFiles(crashed, nil)
	require.NoError(t, err)
	v, err := after.Read(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two"}, texts(v))
}

// TestAFullDiskIsSaidOnce: a call that writes a whole file reports the error of the disk once, although its buffer
// repeats the error at each use.
func TestAFullDiskIsSaidOnce(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User(strings.Repeat("long ", 1<<20))))
	id := s.View().IDs[0]
	require.NoError(t, s.Close())
	plan, err := upkeep.MakePlan(ctx, store, upkeep.Maintenance{MaxBytes: 1})
	require.NoError(t, err)
	require.Len(t, plan.Actions, 1)
	fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
		if op.Name == "write" && strings.HasSuffix(op.Path, ".tmp") {
			return sessiontest.Fault{Err: syscall.ENOSPC}
		}
		return sessiontest.Fault{}
	})
	for name, call := range map[string]func() error{
		"fork":    func() error { return store.Fork(ctx, "k", "", "fork") },
		"erase":   func() error { _, err := upkeep.EraseEntries(ctx, store, "k", "", id); return err },
		"archive": func() error { _, err := upkeep.Apply(ctx, store, plan); return err },
	} {
		err := call()
		require.ErrorIs(t, err, syscall.ENOSPC, name)
		require.Equal(t, 1, strings.Count(err.Error(), syscall.ENOSPC.Error()), "%s: %v", name, err)
	}
}
