package session_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

// tokens returns, by id, a text of each message that occurs in no other entry, except in those derived from the
// message.
func tokens(t testing.TB, store *session.Store, key string) map[string]string {
	found := map[string]string{}
	for e, err := range store.Entries(context.Background(), key) {
		require.NoError(t, err)
		if e.Type != entry.TypeMessage || e.Message == nil {
			continue
		}
		for _, p := range e.Message.Parts {
			if token, _, ok := strings.Cut(p.Text, ": "); ok && strings.HasPrefix(token, "message ") {
				found[e.ID] = token + ": "
			}
		}
	}
	return found
}

// someOf returns up to n ids.
func someOf(random *rand.Rand, found map[string]string, n int) []string {
	ids := slices.Sorted(maps.Keys(found))
	random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids[:min(n, len(ids))]
}

// TestCrashDuringErase: after a power loss each log is either as before or as after. Once the call is repeated, no byte
// of the text is left.
func TestCrashDuringErase(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	crashes := 0
	for seed := range maintenancePrograms(t) {
		fsys, p := randomStore(t, 1000+uint64(seed), 14)
		store, err := sessiontest.OpenFiles(fsys, p.options())
		require.NoError(t, err)
		if _, err := store.Read(ctx, "k"); err != nil {
			continue
		}
		found := tokens(t, store, "k")
		ids := someOf(p.random, found, 2)
		if len(ids) == 0 {
			continue
		}
		name := fmt.Sprintf("program %d, entries %v", seed, ids)
		before := logsOf(t, store, name)
		p.now = p.now.Add(time.Hour)
		at := p.now
		done := fsys.Crash(sessiontest.LossNone, p.random)
		ended, err := sessiontest.OpenFiles(done, p.options())
		require.NoError(t, err)
		_, err = upkeep.EraseEntries(ctx, ended, "k", "", ids...)
		require.NoError(t, err, name)
		after := logsOf(t, ended, name)
		p.now = at
		crashes += crashDuring(t, fsys, p, name, func(store *session.Store) error {
			_, err := upkeep.EraseEntries(ctx, store, "k", "", ids...)
			return err
		}, func(name string, fsys *sessiontest.CrashFS, store *session.Store) {
			for log, text := range logsOf(t, store, name) {
				require.True(t, text == before[log] || text == after[log], "%s: %s is neither as before nor as after", name, log)
			}
			require.Len(t, logsOf(t, store, name), len(before), name)
			_, err := upkeep.EraseEntries(ctx, store, "k", "", ids...)
			require.NoError(t, err, name)
			for _, id := range ids {
				requireNowhere(t, fsys, name, found[id])
			}
			goesOn(t, store, name)
		})
	}
	t.Log("crashes:", crashes)
}

// TestCrashDuringEraseOfASession: after a power loss the session is either unchanged or gone. Once the call is
// repeated, nothing of it is left.
func TestCrashDuringEraseOfASession(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for seed := range maintenancePrograms(t) {
		fsys, p := randomStore(t, 2000+uint64(seed), 14)
		name := fmt.Sprint("program ", seed)
		store, plan := toArchive(t, fsys, p)
		plan.Actions = plan.Actions[:len(plan.Actions)/2]
		_, err := upkeep.Apply(ctx, store, plan)
		require.NoError(t, err)
		all := logsOf(t, store, name)
		_, err = store.Changes(ctx, "") // somebody follows
		require.NoError(t, err, name)
		crashDuring(t, fsys, p, name, func(store *session.Store) error {
			_, err := upkeep.Erase(ctx, store, "k")
			return err
		}, func(name string, fsys *sessiontest.CrashFS, store *session.Store) {
			before := maps.Clone(all)
			found := logsOf(t, store, name)
			if isThere := requireVisible(t, store, "k", name); !isThere {
				maps.DeleteFunc(before, func(log, _ string) bool { return strings.HasPrefix(log, "k ") })
			}
			require.True(t, maps.Equal(before, found), name)
			_, err := upkeep.Erase(ctx, store, "k")
			require.NoError(t, err, name)
			for file := range filesOf(t, fsys) {
				require.NotContains(t, file, "/k-k/", name)
			}
			for log := range logsOf(t, store, name) {
				require.False(t, strings.HasPrefix(log, "k "), name)
			}
			goesOn(t, store, name)
		})
	}
}

// TestDeletionThatCannotEnd: nobody sees a session that is marked as deleted, although its files are still there. Once
// they can be removed, the first process that looks at the store removes them.
func TestDeletionThatCannotEnd(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	ask := map[string]func(*session.Store){
		"Read":   func(s *session.Store) { _, _ = s.Read(ctx, "k") },
		"Keys":   func(s *session.Store) { _, _ = s.Keys(ctx) },
		"List":   func(s *session.Store) { _, _ = s.List(ctx, session.Query{}) },
		"Parts":  func(s *session.Store) { _, _ = s.Parts(ctx, "k") },
		"Verify": func(s *session.Store) { _, _ = upkeep.Verify(ctx, s, "k") },
		"Erase":  func(s *session.Store) { _, _ = upkeep.Erase(ctx, s, "k") },
		"Plan":   func(s *session.Store) { _, _ = upkeep.MakePlan(ctx, s, upkeep.Maintenance{ArchiveAfter: oneDay}) },
	}
	for name, first := range ask {
		for _, isListed := range []bool{false, true} {
			name := fmt.Sprintf("%s, listed: %v", name, isListed)
			fsys := sessiontest.NewCrashFS()
			store, err := sessiontest.OpenFiles(fsys, nil)
			require.NoError(t, err, name)
			s, err := store.Open(ctx, "k")
			require.NoError(t, err, name)
			require.NoError(t, s.Append(ctx, session.User("old")), name)
			require.NoError(t, s.Reset(ctx, "test", nil), name)
			require.NoError(t, s.Append(ctx, session.User("new")), name)
			require.NoError(t, s.Close(), name)
			if isListed {
				_, err = store.List(ctx, session.Query{})
				require.NoError(t, err, name)
			}
			require.True(t, requireVisible(t, store, "k", name), name)
			parts, err := store.Parts(ctx, "k")
			require.NoError(t, err, name)

			fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
				if op.Name == "remove" && strings.Contains(op.Path, "/k-k/") {
					return sessiontest.Fault{Err: errBroken}
				}
				return sessiontest.Fault{}
			})
			require.ErrorIs(t, store.Delete(ctx, "k"), errBroken, name)
			for _, name := range []string{name, name + ", another time"} {
				require.False(t, requireVisible(t, store, "k", name), name)
				store, err = sessiontest.OpenFiles(fsys, nil) // as another process sees it
				require.NoError(t, err, name)
			}
			_, err = store.Backend().OpenPart(ctx, "k", parts[1])
			require.ErrorIs(t, err, session.ErrNotFound, name)

			fsys.Fail(nil)
			first(store)
			for file := range filesOf(t, fsys) {
				require.NotContains(t, file, "/k-k/", name)
			}
		}
	}
}

// requireVisible reports whether a session exists, and requires that all ways of asking agree.
func requireVisible(t *testing.T, store *session.Store, key, name string) bool {
	t.Helper()
	ctx := context.Background()
	_, err := store.Read(ctx, key)
	if err != nil {
		require.ErrorIs(t, err, session.ErrNotFound, name)
	}
	isThere := err == nil
	keys, err := store.Keys(ctx)
	require.NoError(t, err, name)
	require.Equal(t, isThere, slices.Contains(keys, key), "%s: Keys", name)
	listed := false
	for st, err := range store.All(ctx, session.Query{}) {
		require.NoError(t, err, name)
		listed = listed || st.Key == key
	}
	require.Equal(t, isThere, listed, "%s: All", name)
	parts, err := store.Parts(ctx, key)
	require.NoError(t, err, name)
	require.Equal(t, isThere, len(parts) > 0, "%s: Parts", name)
	return isThere
}

// TestEraseProperties: after a random program, erased entries are in no file, all other lines keep their bytes, and the
// conversation continues.
func TestEraseProperties(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	programs := max(20, *crashPrograms/4)
	if testing.Short() {
		programs = 20
	}
	erased, with, copies := 0, 0, 0
	for seed := range programs {
		fsys, p := randomStore(t, 5000+uint64(seed), 40)
		store, err := sessiontest.OpenFiles(fsys, p.options())
		require.NoError(t, err)
		if _, err := store.Read(ctx, "k"); err != nil {
			continue
		}
		found := tokens(t, store, "k")
		ids := someOf(p.random, found, 1+p.random.IntN(3))
		if len(ids) == 0 {
			continue
		}
		name := fmt.Sprintf("program %d, entries %v", seed, ids)
		before := logsOf(t, store, name)
		r, err := upkeep.EraseEntries(ctx, store, "k", "", ids...)
		require.NoError(t, err, name)
		require.ElementsMatch(t, ids, r.Entries, name)
		erased, with, copies = erased+len(r.Entries), with+len(r.With), copies+len(r.Copies)
		for _, id := range ids {
			requireNowhere(t, fsys, name, found[id])
		}
		changed := map[string][]string{"k " + logNamed(r.Log): append(r.Entries, r.With...)}
		for _, c := range r.Copies {
			changed[c.Key+" "+logNamed(c.Log)] = append(c.Entries, c.With...)
		}
		for log, text := range logsOf(t, store, name) {
			requireOnlyChanged(t, before[log], text, changed[log], name+", "+log)
		}
		s, err := store.Open(ctx, "k")
		require.NoError(t, err, name)
		require.NoError(t, s.Append(ctx, session.User("go on")), name)
		running, err := s.Prepare(ctx)
		require.NoError(t, err, name)
		requireAccepted(t, running.Messages, name)
		require.NoError(t, s.Close(), name)
		goesOn(t, store, name)
	}
	t.Logf("%d entries, %d that went with them, %d copies", erased, with, copies)
	require.Positive(t, copies)
	require.Positive(t, with)
}

// requireOnlyChanged requires that the lines of a log are unchanged, except those of some entries.
func requireOnlyChanged(t *testing.T, before, after string, ids []string, name string) {
	t.Helper()
	require.True(t, len(after) == len(before) || len(ids) > 0, name)
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	require.GreaterOrEqual(t, len(now), len(old), name)
	for i, line := range old[:len(old)-1] {
		isChanged := slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(line, `"id":"`+id+`"`) })
		require.Len(t, now[i], len(line), name)
		require.Equal(t, isChanged, line != now[i], "%s: %s", name, line)
	}
}

// TestRepeatedErasureIsDurable kills an erasure after each of its operations. Once the call is repeated, no byte of the
// text is left, even if the power is lost then.
func TestRepeatedErasureIsDurable(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User(secret)))
	require.NoError(t, s.Append(ctx, answer("two")))
	require.NoError(t, s.Close())
	title := secret
	require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title}))
	var ids []string // of the message and of the title
	for e, err := range store.Entries(ctx, "k") {
		require.NoError(t, err)
		isFirst := e.Message != nil && e.Message.Role == winnow.RoleUser
		if isFirst || e.Type == entry.TypeInfo {
			ids = append(ids, e.ID)
		}
	}
	require.Len(t, ids, 2)
	name := findLog(t, fsys, "k", readStored(t, fsys, store, "k").log)
	f, err := fsys.Open(name, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.Write([]byte(`{"seq":99,"` + secret)) // it becomes a file beside the log
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, inOneTurn(ctx, store, "three"))
	require.NoError(t, store.Fork(ctx, "k", "", "fork"))
	_, err = store.Changes(ctx, "") // somebody follows
	require.NoError(t, err)
	fsys = fsys.Crash(sessiontest.LossNone, nil) // all of it is on the disk
	store, err = sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)

	var killed []*sessiontest.CrashFS
	var last []sessiontest.Operation
	fsys.After(func(op sessiontest.Operation) {
		killed, last = append(killed, fsys.Kill()), append(last, op)
	})
	_, err = upkeep.EraseEntries(ctx, store, "k", "", ids...)
	require.NoError(t, err)
	require.NotEmpty(t, killed)
	for i, fsys := range killed {
		name := fmt.Sprintf("killed after operation %d of %d (%s %s)", i+1, len(killed), last[i].Name, last[i].Path)
		again, err := sessiontest.OpenFiles(fsys, nil)
		require.NoError(t, err, name)
		_, err = upkeep.EraseEntries(ctx, again, "k", "", ids...)
		require.NoError(t, err, name)
		for _, loss := range []sessiontest.Loss{sessiontest.LossAll, sessiontest.LossOrder} {
			for seed := range uint64(10) {
				crashed := fsys.Crash(loss, rand.New(rand.NewPCG(seed, 1)))
				requireNowhere(t, crashed, fmt.Sprintf("%s, %s", name, loss), secret)
			}
		}
	}
}

// TestDeletionFinishedByAnother kills a deletion before its mark is on the disk. Another process looks at the session
// and removes what is left. If the power is lost meanwhile, the session is unchanged or gone: an older log of it does
// not become the current one.
func TestDeletionFinishedByAnother(t *testing.T) {
	ctx := context.Background()
	for name, look := range map[string]func(store *session.Store) error{
		"reading": func(store *session.Store) error {
			_, err := store.Read(ctx, "k")
			return err
		},
		"deleting": func(store *session.Store) error { return store.Delete(ctx, "k") },
	} {
		fsys := sessiontest.NewCrashFS()
		store, err := sessiontest.OpenFiles(fsys, nil)
		require.NoError(t, err)
		say(t, store, "k", "old")
		s := open(t, store, "k")
		require.NoError(t, s.Reset(ctx, "x", nil))
		require.NoError(t, s.Append(ctx, session.User("new")))
		require.NoError(t, s.Close())
		var killed *sessiontest.CrashFS
		fsys.After(func(op sessiontest.Operation) {
			if op.Name == "write" && strings.HasSuffix(op.Path, "/log.lock") {
				killed = fsys.Kill()
			}
		})
		require.NoError(t, store.Delete(ctx, "k"))
		other, err := sessiontest.OpenFiles(killed, nil)
		require.NoError(t, err)
		crashes := 0
		killed.After(func(op sessiontest.Operation) {
			for seed := range uint64(100) {
				crashes++
				random := rand.New(rand.NewPCG(seed, 1))
				crashed := killed.Crash(sessiontest.LossOrder, random)
				// The disk may have the removals and not the mark, which is the text of a file.
				const lock = "s/82/k-k/log.lock"
				if synced, err := killed.Crash(sessiontest.LossAll, random).ReadFile(lock); err == nil {
					_ = crashed.WriteFile(lock, synced) // unless the lock is gone
				}
				after, err := sessiontest.OpenFiles(crashed, nil)
				require.NoError(t, err)
				v, err := after.Read(ctx, "k")
				if errors.Is(err, session.ErrNotFound) {
					continue
				}
				require.NoError(t, err)
				require.Equal(t, []string{"new"}, texts(v), "%s: power loss after %s %s", name, op.Name, op.Path)
			}
		})
		if err := look(other); err != nil {
			require.ErrorIs(t, err, session.ErrNotFound, name)
		}
		require.Positive(t, crashes, name)
	}
}
