package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/resets"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

// TestMaintenance: each rule, with sessions that it names and sessions that it does not. Each row is planned, applied,
// and planned again: then nothing is left to do.
func TestMaintenance(t *testing.T) {
	yes, no := true, false
	reference := *upkeep.ReferenceMaintenance()
	reference.CronRuns = 0
	for _, tt := range []struct {
		why    string
		policy upkeep.Maintenance
		begin  func(y *yard)
		want   []string
		kept   []string
		again  []string // what the next plan says; nil: nothing
	}{
		{"the zero policy does nothing, however old and large the store is", upkeep.Maintenance{}, func(y *yard) {
			y.lies("a", 10_000*oneDay)
			y.resets("a", 9_000*oneDay)
		}, nil, nil, nil},

		{"age: who was written to longer ago is archived", upkeep.Maintenance{ArchiveAfter: 30 * oneDay}, func(y *yard) {
			y.lies("old", 30*oneDay+time.Second)
			y.lies("on the day", 30*oneDay)
			y.lies("new", time.Hour)
		}, []string{"archive old log: age"}, nil, nil},
		{"age: the newest entry counts, not the oldest", upkeep.Maintenance{ArchiveAfter: 30 * oneDay}, func(y *yard) {
			y.lies("a", 90*oneDay)
			y.lies("a", oneDay)
		}, nil, nil, nil},
		{"age: a title is an entry too", upkeep.Maintenance{ArchiveAfter: 30 * oneDay}, func(y *yard) {
			y.lies("a", 90*oneDay)
			y.at(oneDay, func() { y.info("a", session.Info{Archived: &no}) })
		}, nil, nil, nil},
		{"age: a clock that went back makes nobody old", upkeep.Maintenance{ArchiveAfter: 30 * oneDay}, func(y *yard) {
			y.lies("a", -90*oneDay)
		}, nil, nil, nil},
		{"age: what is archived stays so", upkeep.Maintenance{ArchiveAfter: 30 * oneDay}, func(y *yard) {
			y.lies("a", 90*oneDay)
			y.archives("a", 50*oneDay)
		}, nil, nil, nil},
		{"age: all logs of the session go, the oldest first", upkeep.Maintenance{ArchiveAfter: 30 * oneDay}, func(y *yard) {
			y.lies("a", 90*oneDay)
			y.resets("a", 80*oneDay)
			y.lies("a", 70*oneDay)
		}, []string{"archive a old log: age", "archive a log: age"}, nil, nil},

		{"cron: runs of jobs after a day", upkeep.Maintenance{CronRuns: oneDay}, func(y *yard) {
			y.lies("agent:a:cron:job:run:1", oneDay+time.Second)
			y.lies("agent:a:cron:job:run:2", oneDay)
			y.lies("agent:a:cron:job", 90*oneDay)
			y.lies("agent:a:main", 90*oneDay)
		}, []string{"archive agent:a:cron:job:run:1 log: cron"}, nil, nil},
		{"cron: without a number of its own a run is as any session", upkeep.Maintenance{ArchiveAfter: 30 * oneDay}, func(y *yard) {
			y.lies("agent:a:cron:job:run:1", 2*oneDay)
		}, nil, nil, nil},

		{"count: those that were written to longest ago", upkeep.Maintenance{MaxSessions: 2}, func(y *yard) {
			y.lies("b", 2*time.Hour)
			y.lies("a", 3*time.Hour)
			y.lies("c", 4*time.Hour)
			y.lies("d", time.Hour)
		}, []string{"archive c log: count", "archive a log: count"}, nil, nil},
		{"count: of the same age, by key", upkeep.Maintenance{MaxSessions: 1}, func(y *yard) {
			y.lies("b", time.Hour)
			y.lies("a", time.Hour)
		}, []string{"archive a log: count"}, nil, nil},
		{"count: archived sessions do not count", upkeep.Maintenance{MaxSessions: 1}, func(y *yard) {
			y.lies("a", 2*time.Hour)
			y.lies("b", time.Hour)
			y.archives("a", 0)
		}, nil, nil, nil},
		{"count: what is archived for its age makes room", upkeep.Maintenance{MaxSessions: 1, ArchiveAfter: oneDay}, func(y *yard) {
			y.lies("a", 2*oneDay)
			y.lies("b", time.Hour)
		}, []string{"archive a log: age"}, nil, nil},
		{"count: a protected session counts, and the next one goes", upkeep.Maintenance{MaxSessions: 1}, func(y *yard) {
			y.lies("a", 3*time.Hour)
			y.lies("b", 2*time.Hour)
			y.lies("c", time.Hour)
			y.at(3*time.Hour, func() { y.info("a", session.Info{Pinned: &yes}) })
		}, []string{"archive b log: count", "archive c log: count"}, []string{"a: count: it is pinned"}, nil},

		{"reset: logs that ended, at once", upkeep.Maintenance{ResetLogs: true}, func(y *yard) {
			y.lies("a", time.Hour)
			y.resets("a", time.Minute)
			y.resets("a", time.Second)
			y.lies("b", 90*oneDay)
		}, []string{"archive a old log: reset", "archive a old log: reset"}, nil, nil},

		{"retention: archives that were made longer ago, of logs and of whole sessions",
			upkeep.Maintenance{KeepArchives: 30 * oneDay}, func(y *yard) {
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
		{"retention: the newest archive goes last", upkeep.Maintenance{KeepArchives: 30 * oneDay}, func(y *yard) {
			y.lies("a", 90*oneDay)
			y.resets("a", 80*oneDay)
			y.archives("a", 40*oneDay)
		}, []string{"delete a old archive: retention", "delete a archive: retention"}, nil, nil},
		{"retention: a session of today whose archive is of yesterday stays", upkeep.Maintenance{KeepArchives: 30 * oneDay}, func(y *yard) {
			y.lies("a", 90*oneDay)
			y.archives("a", oneDay)
		}, nil, nil, nil},

		{"protected: pinned, archived by a person, and open", upkeep.Maintenance{ArchiveAfter: oneDay, MaxSessions: 1, ResetLogs: true}, func(y *yard) {
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
		{"protected: an archive of a session that was pinned", upkeep.Maintenance{KeepArchives: oneDay}, func(y *yard) {
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
			var read upkeep.Plan
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
	all := y.plan(upkeep.Maintenance{MaxBytes: 1 << 40})
	assert.Empty(t, all.Actions, "there is room")
	size := int64(len(long))
	require.Greater(t, all.Bytes, 3*size)

	p := y.plan(upkeep.Maintenance{MaxBytes: all.Bytes - 1, LowWater: 0.999})
	assert.Equal(t, []string{"delete d archive: bytes"}, says(p), "the oldest archive is enough")
	assert.Zero(t, p.Over)

	p = y.plan(upkeep.Maintenance{MaxBytes: 3 * size})
	assert.Equal(t, []string{"delete d archive: bytes", "delete e archive: bytes", "archive c log: bytes"}, says(p),
		"80 % of the limit, and the session that nobody wrote to for longest")
	assert.Zero(t, p.Over)
	a := y.apply(p)
	assert.GreaterOrEqual(t, a.Freed, p.Frees, "the estimate is careful")

	yes := true
	y.info("b", session.Info{Pinned: &yes})
	p = y.plan(upkeep.Maintenance{MaxBytes: size / 100})
	assert.Equal(t, []string{"delete c archive: bytes", "archive a log: bytes"}, says(p))
	assert.Equal(t, []string{"b: bytes: it is pinned"}, saysKept(p.Kept))
	assert.Positive(t, p.Over, "it says that this is not enough")
	y.apply(p)
	p = y.plan(upkeep.Maintenance{MaxBytes: size / 100})
	assert.Equal(t, []string{"delete a archive: bytes"}, says(p), "the next plan goes on")
	y.apply(p)
	assert.NotEmpty(t, heard(t, y.store, "b"), "what is pinned stays whatever it takes")
	keys, err := y.store.Keys(context.Background())
	require.NoError(t, err)
	assert.Equal(t, []string{"b"}, keys)
}

// TestMaintenanceDayByDay lets a store live for a hundred days with the reference's policies.
func TestMaintenanceDayByDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		resets := resets.Reference()
		resets.Base.Location = time.UTC
		fsys := sessiontest.NewCrashFS()
		store, err := sessiontest.OpenFiles(fsys, &session.Options{ResetRule: resets.For})
		require.NoError(t, err)
		policy := *upkeep.ReferenceMaintenance()
		time.Sleep(12 * time.Hour)
		for day := range 100 {
			say(t, store, "agent:a:main", fmt.Sprint("day ", day))
			say(t, store, fmt.Sprintf("agent:a:cron:job:run:%d", day), "a run")
			if day == 0 {
				say(t, store, "agent:a:telegram:direct:1", "once")
			}
			p, err := upkeep.MakePlan(ctx, store, policy)
			require.NoError(t, err)
			_, err = upkeep.Apply(ctx, store, p)
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

// logsOnly is a backend that can only read and write logs.
type logsOnly struct{ backend.Backend }

func (logsOnly) Parts(context.Context, string) ([]backend.Part, error) {
	return nil, errors.ErrUnsupported
}

func (logsOnly) Changes(context.Context, string, bool) (*session.Changes, error) {
	return nil, errors.ErrUnsupported
}

// TestBackendOfLogsOnly: what a backend cannot do, the store says.
func TestBackendOfLogsOnly(t *testing.T) {
	ctx := t.Context()
	store := session.New(logsOnly{session.NewMemory(nil).Backend()}, nil)
	sayTo(t, store, "k", 1, "hello")
	_, err := upkeep.MakePlan(ctx, store, upkeep.Maintenance{ArchiveAfter: oneDay})
	assert.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = upkeep.Apply(ctx, store, &upkeep.Plan{Actions: []upkeep.Action{{Key: "k"}}})
	assert.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = upkeep.EraseEntries(ctx, store, "k", "", "e2")
	assert.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = store.Changes(ctx, "")
	assert.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = store.NextChanges(ctx, "")
	assert.ErrorIs(t, err, errors.ErrUnsupported)
	require.NoError(t, store.Delete(ctx, "k"))
}
