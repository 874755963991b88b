package session_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

func TestCopy(t *testing.T) {
	stores := map[string]func(*testing.T) *session.Store{
		"memory":    func(*testing.T) *session.Store { return session.NewMemory(nil) },
		"directory": func(t *testing.T) *session.Store { return directory(t) },
	}
	for from, source := range stores {
		for to, target := range stores {
			t.Run(from+" to "+to, func(t *testing.T) { sessiontest.RunCopy(t, source(t), target(t)) })
		}
	}
}

func directory(t *testing.T) *session.Store {
	t.Helper()
	store, err := session.OpenDirectory(t.TempDir(), nil)
	require.NoError(t, err)
	return store
}

// failingBackend fails after some appends, as a process that is killed.
type failingBackend struct {
	backend.Backend
	left *int
}

type failingTurn struct {
	backend.Turn
	left *int
}

type failingLog struct {
	backend.Log
	left *int
}

var errKilled = errors.New("killed")

func (b failingBackend) Turn(ctx context.Context, key string) (backend.Turn, error) {
	turn, err := b.Backend.Turn(ctx, key)
	return failingTurn{turn, b.left}, err
}

func (t failingTurn) Log(ctx context.Context) (backend.Log, error) {
	log, err := t.Turn.Log(ctx)
	return failingLog{log, t.left}, err
}

func (l failingLog) Append(ctx context.Context, end int64, lines []byte, durable bool) error {
	if *l.left--; *l.left < 0 {
		return errKilled
	}
	return l.Log.Append(ctx, end, lines, durable)
}

// TestCopyGoesOn interrupts a copy again and again, and finishes it.
func TestCopyGoesOn(t *testing.T) {
	ctx := context.Background()
	source := directory(t)
	s := open(t, source, "k")
	for range 12 {
		require.NoError(t, s.Append(ctx, session.User(strings.Repeat("x", 900_000))))
	}
	require.NoError(t, s.Close())
	target := directory(t)
	left, interrupted := 0, 0
	for {
		left = 2
		err := upkeep.Copy(ctx, source, session.New(failingBackend{target.Backend(), &left}, nil), "k")
		if err == nil {
			break
		}
		require.ErrorIs(t, err, errKilled)
		interrupted++
	}
	require.Greater(t, interrupted, 2)
	require.Equal(t, logText(t, source, "k"), logText(t, target, "k"))
	s = open(t, source, "k")
	require.NoError(t, s.Append(ctx, session.User("more")))
	require.NoError(t, s.Close())
	require.NoError(t, upkeep.Copy(ctx, source, target, "k"))
	require.Equal(t, logText(t, source, "k"), logText(t, target, "k"))

	s = open(t, target, "k")
	require.NoError(t, s.Append(ctx, session.User("only there")))
	require.NoError(t, s.Close())
	require.ErrorIs(t, upkeep.Copy(ctx, source, target, "k"), session.ErrExists)
	require.ErrorIs(t, upkeep.Copy(ctx, source, source, "k"), session.ErrExists)
	require.ErrorIs(t, upkeep.Copy(ctx, source, target, "nobody"), session.ErrNotFound)
	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	s = open(t, source, "k")
	require.ErrorIs(t, upkeep.Copy(short, source, target, "k"), session.ErrBusy)
	require.NoError(t, s.Close())
}

func logText(t *testing.T, store *session.Store, key string) string {
	t.Helper()
	log, err := store.Backend().Log(context.Background(), key, false)
	require.NoError(t, err)
	defer log.Close()
	size, err := log.Size()
	require.NoError(t, err)
	text, err := io.ReadAll(io.NewSectionReader(log, 0, size))
	require.NoError(t, err)
	return string(text)
}

// TestRepeatedCopyIsDurable kills a copy after each of its operations, or lets a sync fail. Once the copy is repeated,
// it survives a power loss.
func TestRepeatedCopyIsDurable(t *testing.T) {
	ctx := context.Background()
	source := session.NewMemory(nil)
	require.NoError(t, inOneTurn(ctx, source, "one"))
	fsys := sessiontest.NewCrashFS()
	target, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	for _, round := range []string{"new", "updated", "begun anew"} {
		var interrupted []*sessiontest.CrashFS
		fsys.After(func(sessiontest.Operation) { interrupted = append(interrupted, fsys.Kill()) })
		before := fsys.Kill()
		require.NoError(t, upkeep.Copy(ctx, source, target, "k"))
		fsys.After(nil)
		before.Fail(func(op sessiontest.Operation) sessiontest.Fault {
			if op.Name == "sync" && strings.HasSuffix(op.Path, ".jsonl") {
				return sessiontest.Fault{Err: syscall.EIO}
			}
			return sessiontest.Fault{}
		})
		failing, err := sessiontest.OpenFiles(before, nil)
		require.NoError(t, err)
		if err := upkeep.Copy(ctx, source, failing, "k"); round != "new" {
			require.ErrorIs(t, err, session.ErrSync)
		}
		before.Fail(nil)
		interrupted = append(interrupted, before)

		for i, fsys := range interrupted {
			name := fmt.Sprintf("%s, interrupted at %d of %d", round, i+1, len(interrupted))
			again, err := sessiontest.OpenFiles(fsys, nil)
			require.NoError(t, err, name)
			require.NoError(t, upkeep.Copy(ctx, source, again, "k"), name)
			crashed := fsys.Crash(sessiontest.LossAll, rand.New(rand.NewPCG(1, 1)))
			after, err := sessiontest.OpenFiles(crashed, nil)
			require.NoError(t, err, name)
			require.ElementsMatch(t, logTexts(t, source), logTexts(t, after), name)
		}
		require.NoError(t, inOneTurn(ctx, source, "more"))
		if round == "updated" {
			s := open(t, source, "k")
			require.NoError(t, s.Reset(ctx, "test", nil))
			require.NoError(t, s.Append(ctx, session.User("anew")))
			require.NoError(t, s.Close())
		}
	}
}

// logTexts returns the text of each log in a store.
func logTexts(t *testing.T, store *session.Store) []string {
	t.Helper()
	return slices.Collect(maps.Values(logsOf(t, store, "")))
}

// TestCopyIntoALessDurableStore: a copy is durable, with all its logs, although nothing else in the store is, and even
// if a sync fails at first.
func TestCopyIntoALessDurableStore(t *testing.T) {
	ctx := context.Background()
	source := directory(t)
	for _, text := range []string{"one", "two", "three"} {
		s := open(t, source, "k")
		require.NoError(t, s.Append(ctx, session.User(text)))
		require.NoError(t, s.Reset(ctx, "test", nil))
		require.NoError(t, s.Append(ctx, session.User("after "+text)))
		require.NoError(t, s.Close())
	}
	failed, failAt := 0, 0
	for isFailing := true; isFailing; failAt++ {
		name := fmt.Sprint("sync ", failAt, " fails")
		fsys := sessiontest.NewCrashFS()
		store, err := sessiontest.OpenFiles(fsys, &session.Options{Durability: session.OS})
		require.NoError(t, err, name)
		syncs := 0
		fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
			if op.Name != "sync" || !strings.Contains(op.Path, ".jsonl") {
				return sessiontest.Fault{}
			}
			if syncs++; syncs == failAt {
				return sessiontest.Fault{Err: syscall.EIO}
			}
			return sessiontest.Fault{}
		})
		err = upkeep.Copy(ctx, source, store, "k")
		if isFailing = failAt == 0 || syncs >= failAt; failAt > 0 && isFailing {
			require.ErrorIs(t, err, syscall.EIO, name)
			failed++
			err = upkeep.Copy(ctx, source, store, "k")
		}
		require.NoError(t, err, name)
		crashed := fsys.Crash(sessiontest.LossAll, rand.New(rand.NewPCG(1, 1)))
		after, err := sessiontest.OpenFiles(crashed, nil)
		require.NoError(t, err, name)
		require.ElementsMatch(t, logTexts(t, source), logTexts(t, after), name)
	}
	require.GreaterOrEqual(t, failed, 4, "one for each log")
}

// TestRepeatedCopyKeepsAnArchive: a copy that is archived and up to date stays archived.
func TestRepeatedCopyKeepsAnArchive(t *testing.T) {
	ctx := context.Background()
	source, target := directory(t), directory(t)
	require.NoError(t, inOneTurn(ctx, source, "one"))
	require.NoError(t, upkeep.Copy(ctx, source, target, "k"))
	plan, err := upkeep.MakePlan(ctx, target, upkeep.Maintenance{ArchiveAfter: time.Nanosecond})
	require.NoError(t, err)
	_, err = upkeep.Apply(ctx, target, plan)
	require.NoError(t, err)
	require.NoError(t, upkeep.Copy(ctx, source, target, "k"))
	parts, err := target.Parts(ctx, "k")
	require.NoError(t, err)
	require.Len(t, parts, 1)
	require.Equal(t, backend.PartArchive, parts[0].Kind)
}
