package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// yard is a store with a clock that tests move.
type yard struct {
	*testing.T
	fs    *sessiontest.CrashFS
	store *session.Store
	now   time.Time
}

var noon = time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC)

const oneDay = 24 * time.Hour

func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{T: t, fs: sessiontest.NewCrashFS(), now: noon}
	var err error
	y.store, err = session.OpenFiles(y.fs, &session.Options{Now: func() time.Time { return y.now }})
	require.NoError(t, err)
	return y
}

// at runs f as if it were some time ago.
func (y *yard) at(ago time.Duration, f func()) {
	now := y.now
	y.now = now.Add(-ago)
	f()
	y.now = now
}

// lies makes a session that nobody has written to for some time.
func (y *yard) lies(key string, ago time.Duration, texts ...string) {
	y.Helper()
	y.at(ago, func() {
		for _, text := range append(texts, "last") {
			say(y.T, y.store, key, text)
		}
	})
}

func (y *yard) archives(key string, ago time.Duration) {
	y.Helper()
	y.at(ago, func() {
		p := y.plan(session.Maintenance{ArchiveAfter: time.Nanosecond})
		for i := 0; i < len(p.Actions); {
			if p.Actions[i].Key != key {
				p.Actions = append(p.Actions[:i], p.Actions[i+1:]...)
				continue
			}
			i++
		}
		a := y.apply(p)
		require.NotEmpty(y, a.Done)
	})
}

func (y *yard) info(key string, info session.Info) {
	y.Helper()
	require.NoError(y, y.store.SetInfo(context.Background(), key, info))
}

// resets begins a session anew, as if it were some time ago.
func (y *yard) resets(key string, ago time.Duration) {
	y.Helper()
	y.at(ago, func() {
		s := open(y.T, y.store, key)
		require.NoError(y, s.Reset(context.Background(), "test", nil))
		require.NoError(y, s.Close())
	})
}

func (y *yard) plan(policy session.Maintenance) *session.Plan {
	y.Helper()
	before := filesOf(y, y.fs)
	p, err := y.store.Plan(context.Background(), policy)
	require.NoError(y, err)
	require.Equal(y, before, filesOf(y, y.fs), "a plan changes nothing")
	return p
}

// apply applies a plan, and requires that everything it names is gone and everything else is left.
func (y *yard) apply(p *session.Plan) *session.Applied {
	y.Helper()
	before := filesOf(y, y.fs)
	a, err := y.store.Apply(context.Background(), p)
	require.NoError(y, err)
	after := filesOf(y, y.fs)
	archived, deleted := map[string]bool{}, map[string]bool{}
	for _, action := range a.Done {
		if action.Op == session.OpArchive {
			archived[action.Part.Name] = true
		} else {
			deleted[action.Part.Name] = true
		}
	}
	for path, text := range before {
		name := path[strings.LastIndexByte(path, '/')+1:]
		if strings.HasSuffix(name, " unpacked") || strings.HasSuffix(name, ".lock") {
			continue
		}
		switch now, is := after[path]; {
		case archived[name]:
			require.False(y, is, "%s is still there", name)
			require.Equal(y, text, after[path+".gz unpacked"], "the archive of %s", name)
		case deleted[name]:
			require.False(y, is, "%s is still there", name)
		default:
			require.True(y, is, "%s is gone, and no action names it", name)
			require.Equal(y, text, now, "%s has changed", name)
		}
	}
	return a
}

// says returns the actions of a plan as lines.
func says(p *session.Plan) []string {
	out := []string{}
	for _, a := range p.Actions {
		part := string(a.Part.Kind)
		if !a.Part.Open {
			part = "old " + part
		}
		out = append(out, fmt.Sprintf("%s %s %s: %s", a.Op, a.Key, part, a.Reason))
	}
	return out
}

func saysKept(kept []session.Kept) []string {
	out := []string{}
	for _, k := range kept {
		out = append(out, fmt.Sprintf("%s: %s: %s", k.Key, k.Reason, k.Why))
	}
	return out
}

// TestMaintenance: each rule, with sessions that it names and sessions that it does not. Each row is planned, applied,
// and planned again: then nothing is left to do.
func TestMaintenance(t *testing.T) {
	yes, no := true, false
	reference := *session.ReferenceMaintenance()
	reference.CronRuns = 0
	for _, tt := range []struct {
		why    string
		policy session.Maintenance
		begin  func(y *yard)
		want   []string
		kept   []string
		again  []string // what the next plan says; nil: nothing
	}{
		{"the zero policy does nothing, however old and large the store is", session.Maintenance{}, func(y *yard) {
			y.lies("a", 10_000*oneDay)
			y.resets("a", 9_000*oneDay)
		}, nil, nil, nil},

		{"age: who was written to longer ago is archived", session.Maintenance{ArchiveAfter: 30 * oneDay}, func(y *yard) {
			y.lies("old", 30*oneDay+time.Second)
			y.lies("on the day", 30*oneDay)
			y.lies("new", time.Hour)
		}, []string{"archive old log: age"}, nil, nil},
		{"age: the newest entry counts, not the oldest", session.Maintenance{ArchiveAfter: 30 * oneDay}, func(y *yard) {
			y.lies("a", 90*oneDay)
			y.lies("a", oneDay)
		}, nil, nil, nil},
		{"age: a title is an entry too", session.Maintenance{ArchiveAfter: 30 * oneDay}, func(y *yard) {
			y.lies("a", 90*oneDay)
			y.at(oneDay, func() { y.info("a", session.Info{Archived: &no}) })
		}, nil, nil, nil},
		{"age: a clock that went back makes nobody old", session.Maintenance{ArchiveAfter: 30 * oneDay}, func(y *yard) {
			y.lies("a", -90*oneDay)
		}, nil, nil, nil},
		{"age: what is archived stays so", session.Maintenance{ArchiveAfter: 30 * oneDay}, func(y *yard) {
			y.lies("a", 90*oneDay)
			y.archives("a", 50*oneDay)
		}, nil, nil, nil},
		{"age: all logs of the session go, the oldest first", session.Maintenance{ArchiveAfter: 30 * oneDay}, func(y *yard) {
			y.lies("a", 90*oneDay)
			y.resets("a", 80*oneDay)
			y.lies("a", 70*oneDay)
		}, []string{"archive a old log: age", "archive a log: age"}, nil, nil},

		{"cron: runs of jobs after a day", session.Maintenance{CronRuns: oneDay}, func(y *yard) {
			y.lies("agent:a:cron:job:run:1", oneDay+time.Second)
			y.lies("agent:a:cron:job:run:2", oneDay)
			y.lies("agent:a:cron:job", 90*oneDay)
			y.lies("agent:a:main", 90*oneDay)
		}, []string{"archive agent:a:cron:job:run:1 log: cron"}, nil, nil},
		{"cron: without a number of its own a run is as any session", session.Maintenance{ArchiveAfter: 30 * oneDay}, func(y *yard) {
			y.lies("agent:a:cron:job:run:1", 2*oneDay)
		}, nil, nil, nil},

		{"count: those that were written to longest ago", session.Maintenance{MaxSessions: 2}, func(y *yard) {
			y.lies("b", 2*time.Hour)
			y.lies("a", 3*time.Hour)
			y.lies("c", 4*time.Hour)
			y.lies("d", time.Hour)
		}, []string{"archive c log: count", "archive a log: count"}, nil, nil},
		{"count: of the same age, by key", session.Maintenance{MaxSessions: 1}, func(y *yard) {
			y.lies("b", time.Hour)
			y.lies("a", time.Hour)
		}, []string{"archive a log: count"}, nil, nil},
		{"count: archived sessions do not count", session.Maintenance{MaxSessions: 1}, func(y *yard) {
			y.lies("a", 2*time.Hour)
			y.lies("b", time.Hour)
			y.archives("a", 0)
		}, nil, nil, nil},
		{"count: what is archived for its age makes room", session.Maintenance{MaxSessions: 1, ArchiveAfter: oneDay}, func(y *yard) {
			y.lies("a", 2*oneDay)
			y.lies("b", time.Hour)
		}, []string{"archive a log: age"}, nil, nil},
		{"count: a protected session counts, and the next one goes", session.Maintenance{MaxSessions: 1}, func(y *yard) {
			y.lies("a", 3*time.Hour)
			y.lies("b", 2*time.Hour)
			y.lies("c", time.Hour)
			y.at(3*time.Hour, func() { y.info("a", session.Info{Pinned: &yes}) })
		}, []string{"archive b log: count", "archive c log: count"}, []string{"a: count: it is pinned"}, nil},

		{"reset: logs that ended, at once", session.Maintenance{ResetLogs: true}, func(y *yard) {
			y.lies("a", time.Hour)
			y.resets("a", time.Minute)
			y.resets("a", time.Second)
			y.lies("b", 90*oneDay)
		}, []string{"archive a old log: reset", "archive a old log: reset"}, nil, nil},

		{"retention: archives that were made longer ago, of logs and of whole sessions",
			session.Maintenance{KeepArchives: 30 * oneDay}, func(y *yard) {
				y.lies("a", 90*oneDay)
				y.archives("a", 30*oneDay+time.Second)
				y.lies("b", 90*oneDay)
				y.archives("b", 30*oneDay)
				y.lies("c", 90*oneDay)
				y.resets("c", 80*oneDay)
				y.archives("c", 40*oneDay)
				y.lies("c", 0) // the newest is put back
				y.lies("d", 10_000*oneDay)
			}, []string{"delete a archive: retention", "delete c old archive: retention"}, nil, nil},
		{"retention: the newest archive goes last", session.Maintenance{KeepArchives: 30 * oneDay}, func(y *yard) {
			y.lies("a", 90*oneDay)
			y.resets("a", 80*oneDay)
			y.archives("a", 40*oneDay)
		}, []string{"delete a old archive: retention", "delete a archive: retention"}, nil, nil},
		{"retention: a session of today whose archive is of yesterday stays", session.Maintenance{KeepArchives: 30 * oneDay}, func(y *yard) {
			y.lies("a", 90*oneDay)
			y.archives("a", oneDay)
		}, nil, nil, nil},

		{"protected: pinned, archived by a person, and open", session.Maintenance{ArchiveAfter: oneDay, MaxSessions: 1, ResetLogs: true}, func(y *yard) {
			for _, key := range []string{"by hand", "open", "pinned", "unpinned"} {
				y.lies(key, 90*oneDay)
				y.resets(key, 80*oneDay)
				y.lies(key, 70*oneDay)
			}
			y.at(60*oneDay, func() {
				y.info("by hand", session.Info{Archived: &yes})
				y.info("pinned", session.Info{Pinned: &yes})
				y.info("unpinned", session.Info{Pinned: &yes})
				y.info("unpinned", session.Info{Pinned: &no})
			})
			s := open(y.T, y.store, "open")
			y.Cleanup(func() { s.Close() })
		}, []string{"archive unpinned old log: age", "archive unpinned log: age"},
			[]string{"open: age: it is open", "by hand: age: a person archived it", "pinned: age: it is pinned"}, nil},
		{"protected: an archive of a session that was pinned", session.Maintenance{KeepArchives: oneDay}, func(y *yard) {
			y.lies("a", 90*oneDay)
			y.resets("a", 80*oneDay)
			y.archives("a", 70*oneDay)
			y.at(60*oneDay, func() { y.info("a", session.Info{Pinned: &yes}) }) // puts the newest back
		}, nil, []string{"a: retention: it is pinned"}, nil},

		{"the reference: what it would do", reference, func(y *yard) {
			y.lies("a", 31*oneDay)
			y.lies("b", 29*oneDay)
			y.resets("b", 28*oneDay)
		}, []string{"archive a log: age", "archive b old log: reset"}, nil, nil},
	} {
		t.Run(tt.why, func(t *testing.T) {
			y := newYard(t)
			tt.begin(y)
			if tt.want == nil {
				tt.want = []string{}
			}
			if tt.kept == nil {
				tt.kept = []string{}
			}
			p := y.plan(tt.policy)
			assert.Equal(t, tt.want, says(p))
			assert.Equal(t, tt.kept, saysKept(p.Kept))

			text, err := json.Marshal(p) // a person may look at it, and another process apply it
			require.NoError(t, err)
			var read session.Plan
			require.NoError(t, json.Unmarshal(text, &read))
			a := y.apply(&read)
			assert.Len(t, a.Done, len(p.Actions))
			assert.Empty(t, a.Kept)
			if tt.again == nil {
				tt.again = []string{}
			}
			assert.Equal(t, tt.again, says(y.plan(tt.policy)), "the second plan")
		})
	}
}

// TestMaintenanceOfBytes: first archives go, the oldest first, then sessions are archived, down to the low water.
func TestMaintenanceOfBytes(t *testing.T) {
	y := newYard(t)
	long := strings.Repeat("some words of a conversation that is long enough to be worth an archive. ", 2_000)
	for i, key := range []string{"e", "d", "c", "b", "a"} {
		y.lies(key, time.Duration(90-i)*oneDay, fmt.Sprint(key, long))
	}
	y.archives("d", 60*oneDay)
	y.archives("e", 50*oneDay)
	all := y.plan(session.Maintenance{MaxBytes: 1 << 40})
	assert.Empty(t, all.Actions, "there is room")
	size := int64(len(long))
	require.Greater(t, all.Bytes, 3*size)

	p := y.plan(session.Maintenance{MaxBytes: all.Bytes - 1, LowWater: 0.999})
	assert.Equal(t, []string{"delete d archive: bytes"}, says(p), "the oldest archive is enough")
	assert.Zero(t, p.Over)

	p = y.plan(session.Maintenance{MaxBytes: 3 * size})
	assert.Equal(t, []string{"delete d archive: bytes", "delete e archive: bytes", "archive c log: bytes"}, says(p),
		"80 % of the limit, and the session that nobody wrote to for longest")
	assert.Zero(t, p.Over)
	a := y.apply(p)
	assert.GreaterOrEqual(t, a.Freed, p.Frees, "the estimate is careful")

	yes := true
	y.info("b", session.Info{Pinned: &yes})
	p = y.plan(session.Maintenance{MaxBytes: size / 100})
	assert.Equal(t, []string{"delete c archive: bytes", "archive a log: bytes"}, says(p))
	assert.Equal(t, []string{"b: bytes: it is pinned"}, saysKept(p.Kept))
	assert.Positive(t, p.Over, "it says that this is not enough")
	y.apply(p)
	p = y.plan(session.Maintenance{MaxBytes: size / 100})
	assert.Equal(t, []string{"delete a archive: bytes"}, says(p), "the next plan goes on")
	y.apply(p)
	assert.NotEmpty(t, heard(t, y.store, "b"), "what is pinned stays whatever it takes")
	keys, err := y.store.Keys(context.Background())
	require.NoError(t, err)
	assert.Equal(t, []string{"b"}, keys)
}

// TestArchivedConversationGoesOn: writing to an archived session finds it unchanged.
func TestArchivedConversationGoesOn(t *testing.T) {
	y := newYard(t)
	y.lies("a", 90*oneDay, "one", "two")
	p := y.plan(session.Maintenance{ArchiveAfter: oneDay})
	require.Len(t, p.Actions, 1)
	assert.Equal(t, noon.Add(-90*oneDay), p.Actions[0].At.UTC())
	y.apply(p)
	assert.Equal(t, []string{"one", "two", "last"}, heard(t, y.store, "a"), "reading unpacks nothing")
	parts, err := y.store.Parts(context.Background(), "a")
	require.NoError(t, err)
	require.Equal(t, session.PartArchive, parts[0].Kind)
	report, err := y.store.Verify(context.Background(), "a")
	require.NoError(t, err)
	assert.Empty(t, report.Damage)
	say(t, y.store, "a", "three")
	assert.Equal(t, []string{"one", "two", "last", "three"}, heard(t, y.store, "a"))
}

// TestApplyLooksAgain: what changed between the plan and its use is left alone.
func TestApplyLooksAgain(t *testing.T) {
	ctx := context.Background()
	yes := true
	policy := session.Maintenance{ArchiveAfter: 30 * oneDay, KeepArchives: 30 * oneDay}
	for _, tt := range []struct {
		why    string
		change func(y *yard)
		want   []string
	}{
		{"somebody wrote", func(y *yard) { say(y.T, y.store, "a", "here I am"); say(y.T, y.store, "z", "and here") },
			[]string{session.KeptChanged, session.KeptChanged}},
		{"somebody has it open", func(y *yard) {
			for _, key := range []string{"a", "z"} {
				s := open(y.T, y.store, key)
				y.Cleanup(func() { s.Close() })
			}
		}, []string{session.KeptOpen, session.KeptOpen}},
		{"it was pinned", func(y *yard) {
			y.info("a", session.Info{Pinned: &yes})
			y.info("z", session.Info{Pinned: &yes})
		}, []string{session.KeptPinned, session.KeptPinned}},
		{"a person archived it", func(y *yard) {
			y.info("a", session.Info{Archived: &yes})
			y.info("z", session.Info{Archived: &yes})
		}, []string{session.KeptByHand, session.KeptByHand}},
		{"it was deleted", func(y *yard) {
			require.NoError(y, y.store.Delete(ctx, "a"))
			require.NoError(y, y.store.Delete(ctx, "z"))
		}, []string{session.KeptChanged, session.KeptChanged}},
		{"it is another session by now", func(y *yard) {
			for _, key := range []string{"a", "z"} {
				require.NoError(y, y.store.Delete(ctx, key))
				say(y.T, y.store, key, "new")
			}
		}, []string{session.KeptChanged, session.KeptChanged}},
		{"somebody applied the plan already", func(y *yard) { y.apply(y.plan(policy)) },
			[]string{session.KeptChanged, session.KeptChanged}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			y := newYard(t)
			y.lies("a", 90*oneDay)
			y.lies("z", 90*oneDay)
			y.archives("z", 60*oneDay)
			p := y.plan(policy)
			require.Equal(t, []string{"archive a log: age", "delete z archive: retention"}, says(p))
			tt.change(y)
			before := filesOf(t, y.fs)
			a, err := y.store.Apply(ctx, p)
			require.NoError(t, err)
			assert.Empty(t, a.Done)
			why := []string{}
			for _, k := range a.Kept {
				why = append(why, k.Why)
			}
			assert.Equal(t, tt.want, why)
			for name, text := range filesOf(t, y.fs) {
				if !strings.HasSuffix(name, ".lock") {
					assert.Equal(t, string(before[name]), string(text), name)
				}
			}
		})
	}
}

// TestApplyOfAPlanThatNobodyMade: a plan is data. A plan that deletes a log is refused.
func TestApplyOfAPlanThatNobodyMade(t *testing.T) {
	ctx := context.Background()
	y := newYard(t)
	y.lies("a", 90*oneDay)
	parts, err := y.store.Parts(ctx, "a")
	require.NoError(t, err)
	other := parts[0]
	other.Name = "../../../winnow.json"
	lock := parts[0]
	lock.Kind, lock.Name = session.PartSide, "log.lock"
	asSide := parts[0]
	asSide.Kind = session.PartSide
	for _, action := range []session.Action{
		{Op: session.OpDelete, Key: "a", Part: parts[0]},
		{Op: "burn", Key: "a", Part: parts[0]},
		{Op: session.OpArchive, Key: "a", Part: other},
		{Op: session.OpDelete, Key: "a", Part: lock},
		{Op: session.OpDelete, Key: "a", Part: asSide},
		{Op: session.OpArchive, Key: "nobody", Part: parts[0]},
	} {
		a, err := y.store.Apply(ctx, &session.Plan{Actions: []session.Action{action}})
		require.NoError(t, err)
		assert.Empty(t, a.Done, action)
		assert.Len(t, a.Kept, 1)
	}
	assert.Equal(t, []string{"last"}, heard(t, y.store, "a"))
	keys, err := y.store.Keys(ctx)
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, keys)
}

// TestMaintenanceOfADamagedArchive: it does not affect other sessions, and none of its files is deleted.
func TestMaintenanceOfADamagedArchive(t *testing.T) {
	y := newYard(t)
	ctx := context.Background()
	for _, key := range []string{"a", "b"} {
		y.lies(key, 90*oneDay, secret)
		y.archives(key, 60*oneDay)
	}
	for name, text := range filesOf(t, y.fs) {
		if strings.Contains(name, "k-a/") && strings.HasSuffix(name, ".gz") {
			text[len(text)/2] ^= 0xff
			require.NoError(t, y.fs.WriteFile(name, text))
		}
	}
	_, err := y.store.Read(ctx, "a")
	require.Error(t, err)
	_, err = y.store.Open(ctx, "a")
	require.Error(t, err, "it is not begun anew over what can be repaired")
	p := y.plan(session.Maintenance{KeepArchives: oneDay})
	assert.Equal(t, []string{"delete b archive: retention"}, says(p))
	assert.Equal(t, []string{"a: retention: it cannot be read"}, saysKept(p.Kept))
	y.lies("c", 0, secret)
	r, err := y.store.EraseEntries(ctx, "c", "", "e2")
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, r.Unread)
	r, err = y.store.Erase(ctx, "a")
	require.NoError(t, err)
	assert.NotEmpty(t, r.Parts, "a damaged session can be erased")
}

// TestMaintenanceDayByDay lets a store live for a hundred days with the reference's policies.
func TestMaintenanceDayByDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		resets := session.ReferenceResets()
		resets.Base.Location = time.UTC
		fsys := sessiontest.NewCrashFS()
		store, err := session.OpenFiles(fsys, &session.Options{ResetRule: resets.For})
		require.NoError(t, err)
		policy := *session.ReferenceMaintenance()
		time.Sleep(12 * time.Hour)
		for day := range 100 {
			say(t, store, "agent:a:main", fmt.Sprint("day ", day))
			say(t, store, fmt.Sprintf("agent:a:cron:job:run:%d", day), "a run")
			if day == 0 {
				say(t, store, "agent:a:telegram:direct:1", "once")
			}
			p, err := store.Plan(ctx, policy)
			require.NoError(t, err)
			_, err = store.Apply(ctx, p)
			require.NoError(t, err)
			time.Sleep(24 * time.Hour)
		}
		assert.Equal(t, []string{"day 99"}, heard(t, store, "agent:a:main"))
		parts, err := store.Parts(ctx, "agent:a:main")
		require.NoError(t, err)
		assert.Len(t, parts, 1+31, "the log of today, and the archives of 30 days and of the day itself")
		_, err = store.Read(ctx, "agent:a:telegram:direct:1")
		assert.ErrorIs(t, err, session.ErrNotFound, "archived after 30 days, and deleted 30 days later")
		keys, err := store.Keys(ctx)
		require.NoError(t, err)
		assert.Len(t, keys, 1+2+31)
	})
}

// TestMaintenanceNeedsAMaintainer: any other backend keeps everything, and says so.
func TestMaintenanceNeedsAMaintainer(t *testing.T) {
	store := session.New(struct{ session.Backend }{session.NewMemory(nil).Backend()}, nil)
	_, err := store.Plan(context.Background(), session.Maintenance{})
	assert.ErrorContains(t, err, "unsupported")
	_, err = store.Apply(context.Background(), &session.Plan{})
	assert.ErrorContains(t, err, "unsupported")
}
