package session_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/resets"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

// logNamed returns the name of a log, which stays when it is rewritten, by its ID.
func logNamed(id string) string {
	name, _, _ := strings.Cut(id, "-r")
	return name
}

// logsOf returns the text of every log of a store by key and name, archived or not.
func logsOf(t testing.TB, store *session.Store, name string) map[string]string {
	t.Helper()
	ctx := context.Background()
	m := store.Backend()
	keys, err := store.Keys(ctx)
	require.NoError(t, err, name)
	found := map[string]string{}
	for _, key := range keys {
		parts, err := store.Parts(ctx, key)
		require.NoError(t, err, name)
		for _, part := range parts {
			if part.Kind != backend.PartSide {
				found[key+" "+logNamed(part.Log)] = partText(t, m, key, part, name)
			}
		}
	}
	return found
}

func partText(t testing.TB, m backend.Backend, key string, part backend.Part, name string) string {
	log, err := m.OpenPart(context.Background(), key, part)
	require.NoError(t, err, name)
	defer log.Close()
	size, err := log.Size()
	require.NoError(t, err, name)
	text := make([]byte, size)
	n, _ := log.ReadAt(text, 0)
	require.EqualValues(t, size, n, name)
	return string(text)
}

// randomStore makes a store with what a random program wrote, on a file system that has all of it on the disk.
func randomStore(t *testing.T, seed uint64, steps int) (*sessiontest.CrashFS, *program) {
	fsys := sessiontest.NewCrashFS()
	p := &program{t: t, random: rand.New(rand.NewPCG(seed, 3)), key: "k", now: time.Unix(1_700_000_000, 0)}
	var err error
	p.store, err = sessiontest.OpenFiles(fsys, p.options())
	require.NoError(t, err)
	for range steps {
		require.NoError(t, p.step(context.Background()))
	}
	if p.s != nil {
		require.NoError(t, p.s.Close())
		p.s = nil
	}
	return fsys.Crash(sessiontest.LossNone, p.random), p
}

// archiveIdle archives every session that nobody has written to for a day.
var archiveIdle = upkeep.Maintenance{ArchiveAfter: oneDay}

// toArchive opens a store ten days later, and plans to archive its sessions.
func toArchive(t *testing.T, fsys *sessiontest.CrashFS, p *program) (*session.Store, *upkeep.Plan) {
	p.now = p.now.Add(10 * oneDay)
	store, err := sessiontest.OpenFiles(fsys, p.options())
	require.NoError(t, err)
	plan, err := upkeep.MakePlan(context.Background(), store, archiveIdle)
	require.NoError(t, err)
	return store, plan
}

// crashDuring runs a function on a store, and loses power after each of its file operations, in every way. check gets
// the store after the crash.
func crashDuring(t *testing.T, fsys *sessiontest.CrashFS, p *program, name string,
	do func(*session.Store) error, check func(name string, fsys *sessiontest.CrashFS, store *session.Store)) (crashes int) {
	store, err := sessiontest.OpenFiles(fsys, p.options())
	require.NoError(t, err, name)
	losses := rand.New(rand.NewPCG(7, 7))
	at := p.now
	fsys.After(func(op sessiontest.Operation) {
		for _, loss := range sessiontest.Losses() {
			crashed := fsys.Crash(loss, losses)
			name := fmt.Sprintf("%s, after operation %d (%s %s), loss %s", name, op.Index, op.Name, op.Path, loss)
			now := p.now
			store, err := sessiontest.OpenFiles(crashed, p.options())
			require.NoError(t, err, name)
			p.now = at // a repetition happens at the same time
			check(name, crashed, store)
			p.now = now
			crashes++
		}
	})
	require.NoError(t, do(store), name)
	fsys.After(nil)
	return crashes
}

// goesOn appends to every session, and requires that its old content is still there, without damage.
func goesOn(t *testing.T, store *session.Store, name string) {
	t.Helper()
	goesOnDamaged(t, store, name)
	keys, err := store.Keys(context.Background())
	require.NoError(t, err, name)
	for _, key := range keys {
		report, err := upkeep.Verify(context.Background(), store, key)
		require.NoError(t, err, name)
		require.Empty(t, report.Damage, name)
	}
}

// goesOnDamaged is goesOn for logs in which a power loss during an append left holes.
func goesOnDamaged(t *testing.T, store *session.Store, name string) {
	t.Helper()
	ctx := context.Background()
	keys, err := store.Keys(ctx)
	require.NoError(t, err, name)
	for _, key := range keys {
		v, err := store.Read(ctx, key)
		require.NoError(t, err, name)
		want := texts(v)
		s, err := store.Open(ctx, key)
		require.NoError(t, err, name)
		require.NoError(t, s.Append(ctx, session.User("after the crash")), name)
		require.NoError(t, s.Close(), name)
		v, err = store.Read(ctx, key)
		require.NoError(t, err, name)
		if got := texts(v); len(got) > 1 || len(want) == 0 { // an old log ends in a reset: its successor is empty
			require.Equal(t, append(want, "after the crash"), got, name)
		}
	}
}

// maintenancePrograms returns how many programs there are: each crash is followed by a whole run of maintenance.
func maintenancePrograms(t *testing.T) int {
	if testing.Short() {
		return 1
	}
	return max(1, *crashPrograms/50)
}

// TestCrashDuringApply: after a power loss each log has all its bytes, as a log or as an archive, unless the plan
// deletes it; and a plan can be made again.
func TestCrashDuringApply(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	crashes := 0
	for seed := range maintenancePrograms(t) {
		fsys, p := randomStore(t, uint64(seed), 14)
		policy := upkeep.Maintenance{ArchiveAfter: oneDay, ResetLogs: true, KeepArchives: oneDay}
		for round := range 2 { // archive, and then delete
			name := fmt.Sprintf("program %d, round %d", seed, round)
			p.now = p.now.Add(10 * oneDay)
			store, err := sessiontest.OpenFiles(fsys, p.options())
			require.NoError(t, err)
			before := logsOf(t, store, name)
			plan, err := upkeep.MakePlan(ctx, store, policy)
			require.NoError(t, err)
			require.NotEmpty(t, plan.Actions, name)
			deleted := map[string]bool{}
			for _, a := range plan.Actions {
				if a.Op == upkeep.OpDelete && a.Part.Kind == backend.PartArchive {
					deleted[a.Key+" "+a.Part.Log] = true
				}
			}
			require.Equal(t, round == 1, len(deleted) > 0, name)
			crashes += crashDuring(t, fsys, p, name, func(store *session.Store) error {
				done, err := upkeep.Apply(ctx, store, plan)
				require.Empty(t, done.Kept, name)
				return err
			}, func(name string, fsys *sessiontest.CrashFS, store *session.Store) {
				found := logsOf(t, store, name)
				for log, text := range before {
					if got, ok := found[log]; ok || !deleted[log] {
						require.True(t, ok, "%s: %s is gone", name, log)
						require.Equal(t, text, got, "%s: %s", name, log)
					}
				}
				require.LessOrEqual(t, len(found), len(before), name)
				again, err := upkeep.MakePlan(ctx, store, policy)
				require.NoError(t, err, name)
				_, err = upkeep.Apply(ctx, store, again)
				require.NoError(t, err, name)
				last, err := upkeep.MakePlan(ctx, store, policy)
				require.NoError(t, err, name)
				require.Empty(t, last.Actions, name)
				for log := range logsOf(t, store, name) {
					require.False(t, deleted[log], "%s: %s is still there", name, log)
				}
				goesOn(t, store, name)
			})
		}
	}
	t.Log("crashes:", crashes)
}

// TestCrashDuringUnpack: writing to an archived session loses nothing of it, even if the power fails during the write.
func TestCrashDuringUnpack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for seed := range maintenancePrograms(t) {
		fsys, p := randomStore(t, 3000+uint64(seed), 10)
		name := fmt.Sprint("program ", seed)
		store, plan := toArchive(t, fsys, p)
		_, err := upkeep.Apply(ctx, store, plan)
		require.NoError(t, err)
		before := logsOf(t, store, name)
		keys, err := store.Keys(ctx)
		require.NoError(t, err)
		acknowledged := 0
		crashDuring(t, fsys, p, name, func(store *session.Store) error {
			for _, key := range keys {
				s, err := store.Open(ctx, key)
				if err != nil {
					return err
				}
				if err := s.Append(ctx, session.User("acknowledged "+key)); err != nil {
					return err
				}
				acknowledged++
				if err := s.Close(); err != nil {
					return err
				}
			}
			return nil
		}, func(name string, fsys *sessiontest.CrashFS, store *session.Store) {
			found := logsOf(t, store, name)
			for log, text := range before {
				require.True(t, strings.HasPrefix(found[log], text), "%s: %s", name, log)
			}
			for _, key := range keys[:acknowledged] {
				v, err := store.Read(ctx, key)
				require.NoError(t, err, name)
				require.Contains(t, texts(v), "acknowledged "+key, name)
			}
			goesOnDamaged(t, store, name)
		})
	}
}

// failing runs do on copies of a file system, with a different failing operation in each, and then check.
func failing(t *testing.T, fsys *sessiontest.CrashFS, p *program, name string,
	do func(*session.Store) error, check func(name string, fsys *sessiontest.CrashFS, store *session.Store)) (faults int) {
	at := p.now
	for k, ops := 1, 1; k <= ops; k++ {
		faults++
		copied := fsys.Crash(sessiontest.LossNone, p.random)
		p.now = at
		store, err := sessiontest.OpenFiles(copied, p.options())
		require.NoError(t, err)
		before := copied.Operations()
		copied.Fail(func(op sessiontest.Operation) sessiontest.Fault {
			if op.Index == before+k {
				return sessiontest.Fault{Err: errBroken, Short: -1}
			}
			return sessiontest.Fault{}
		})
		failed := do(store)
		ops = copied.Operations() - before
		copied.Fail(nil)
		check(fmt.Sprintf("%s, operation %d of %d failed (%v)", name, k, ops, failed), copied, store)
	}
	return faults
}

var errBroken = errors.New("broken")

// TestFaultsDuringMaintenance lets each file operation fail once while the process continues: sessions outside of the
// plan are there, and once the fault is gone everything is done.
func TestFaultsDuringMaintenance(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	faults := 0
	for seed := range maintenancePrograms(t) {
		fsys, p := randomStore(t, 4000+uint64(seed), 14)
		name := fmt.Sprint("program ", seed)
		store, plan := toArchive(t, fsys, p)
		before := logsOf(t, store, name)
		faults += failing(t, fsys, p, name, func(store *session.Store) error {
			_, err := upkeep.Apply(ctx, store, plan)
			return err
		}, func(name string, fsys *sessiontest.CrashFS, store *session.Store) {
			require.Equal(t, before, logsOf(t, store, name), name)
			again, err := upkeep.MakePlan(ctx, store, archiveIdle)
			require.NoError(t, err, name)
			_, err = upkeep.Apply(ctx, store, again)
			require.NoError(t, err, name)
			require.Equal(t, before, logsOf(t, store, name), name)
			goesOn(t, store, name)
		})

		found := tokens(t, store, "k")
		ids := someOf(p.random, found, 2)
		if len(ids) == 0 {
			continue
		}
		faults += failing(t, fsys, p, name, func(store *session.Store) error {
			_, err := upkeep.EraseEntries(ctx, store, "k", "", ids...)
			return err
		}, func(name string, fsys *sessiontest.CrashFS, store *session.Store) {
			require.Len(t, logsOf(t, store, name), len(before), name)
			_, err := upkeep.EraseEntries(ctx, store, "k", "", ids...)
			require.NoError(t, err, name)
			for _, id := range ids {
				requireNowhere(t, fsys, name, found[id])
			}
			goesOn(t, store, name)
		})
	}
	t.Log("faults:", faults)
}

// TestCrashDuringResetByRule: the conversation is unchanged, or has begun anew. The old log is whole either way, and
// the next opening finishes the reset.
func TestCrashDuringResetByRule(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	crashes := 0
	for seed := range 4 * maintenancePrograms(t) {
		fsys, p := randomStore(t, 6000+uint64(seed), 14)
		name := fmt.Sprint("program ", seed)
		store, err := sessiontest.OpenFiles(fsys, p.options())
		require.NoError(t, err)
		v, err := store.Read(ctx, "k")
		if err != nil || v.Counts.Turns == 0 {
			continue
		}
		before, history := logsOf(t, store, name), texts(v)
		p.now = p.now.Add(oneDay)
		byRule := func(store *session.Store) *session.Store {
			opts := p.options()
			opts.ResetRule = func(string) resets.Rule { return resets.Rule{Mode: resets.Idle} }
			return session.New(store.Backend(), opts)
		}
		crashes += crashDuring(t, fsys, p, name, func(store *session.Store) error {
			s, err := byRule(store).Open(ctx, "k")
			if err != nil {
				return err
			}
			require.True(t, s.FreshStart().Due, name)
			return s.Close()
		}, func(name string, fsys *sessiontest.CrashFS, store *session.Store) {
			found := logsOf(t, store, name)
			for log, text := range before {
				require.True(t, strings.HasPrefix(found[log], text), "%s: %s", name, log)
			}
			v, err := store.Read(ctx, "k")
			require.NoError(t, err, name)
			if len(v.History) > 0 {
				require.Equal(t, history, texts(v), name)
			}
			s, err := byRule(store).Open(ctx, "k")
			require.NoError(t, err, name)
			require.Empty(t, s.View().History, name)
			require.NoError(t, s.Append(ctx, session.User("anew")), name)
			require.NoError(t, s.Close(), name)
			for log, text := range logsOf(t, store, name) {
				require.True(t, strings.HasPrefix(text, before[log]), "%s: %s", name, log)
			}
		})
	}
	t.Log("crashes:", crashes)
	require.Positive(t, crashes)
}
