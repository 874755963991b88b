package session_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/upkeep"
)

// TestArchivedConversationGoesOn: writing to an archived session finds it unchanged.
func TestArchivedConversationGoesOn(t *testing.T) {
	y := newYard(t)
	y.lies("a", 90*oneDay, "one", "two")
	p := y.plan(upkeep.Maintenance{ArchiveAfter: oneDay})
	require.Len(t, p.Actions, 1)
	assert.Equal(t, noon.Add(-90*oneDay), p.Actions[0].At.UTC())
	y.apply(p)
	assert.Equal(t, []string{"one", "two", "last"}, heard(t, y.store, "a"), "reading unpacks nothing")
	parts, err := y.store.Parts(context.Background(), "a")
	require.NoError(t, err)
	require.Equal(t, backend.PartArchive, parts[0].Kind)
	report, err := upkeep.Verify(context.Background(), y.store, "a")
	require.NoError(t, err)
	assert.Empty(t, report.Damage)
	say(t, y.store, "a", "three")
	assert.Equal(t, []string{"one", "two", "last", "three"}, heard(t, y.store, "a"))
}

// TestApplyLooksAgain: what changed between the plan and its use is left alone.
func TestApplyLooksAgain(t *testing.T) {
	ctx := context.Background()
	yes := true
	policy := upkeep.Maintenance{ArchiveAfter: 30 * oneDay, KeepArchives: 30 * oneDay}
	for _, tt := range []struct {
		why    string
		change func(y *yard)
		want   []string
	}{
		{"somebody wrote", func(y *yard) { say(y.T, y.store, "a", "here I am"); say(y.T, y.store, "z", "and here") },
			[]string{upkeep.KeptChanged, upkeep.KeptChanged}},
		{"somebody has it open", func(y *yard) {
			for _, key := range []string{"a", "z"} {
				s := open(y.T, y.store, key)
				y.Cleanup(func() { s.Close() })
			}
		}, []string{upkeep.KeptOpen, upkeep.KeptOpen}},
		{"it was pinned", func(y *yard) {
			y.info("a", session.Info{Pinned: &yes})
			y.info("z", session.Info{Pinned: &yes})
		}, []string{upkeep.KeptPinned, upkeep.KeptPinned}},
		{"a person archived it", func(y *yard) {
			y.info("a", session.Info{Archived: &yes})
			y.info("z", session.Info{Archived: &yes})
		}, []string{upkeep.KeptByHand, upkeep.KeptByHand}},
		{"it was deleted", func(y *yard) {
			require.NoError(y, y.store.Delete(ctx, "a"))
			require.NoError(y, y.store.Delete(ctx, "z"))
		}, []string{upkeep.KeptChanged, upkeep.KeptChanged}},
		{"it is another session by now", func(y *yard) {
			for _, key := range []string{"a", "z"} {
				require.NoError(y, y.store.Delete(ctx, key))
				say(y.T, y.store, key, "new")
			}
		}, []string{upkeep.KeptChanged, upkeep.KeptChanged}},
		{"somebody applied the plan already", func(y *yard) { y.apply(y.plan(policy)) },
			[]string{upkeep.KeptChanged, upkeep.KeptChanged}},
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
			a, err := upkeep.Apply(ctx, y.store, p)
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
	lock.Kind, lock.Name = backend.PartSide, "log.lock"
	asSide := parts[0]
	asSide.Kind = backend.PartSide
	for _, action := range []upkeep.Action{
		{Op: upkeep.OpDelete, Key: "a", Part: parts[0]},
		{Op: "burn", Key: "a", Part: parts[0]},
		{Op: upkeep.OpArchive, Key: "a", Part: other},
		{Op: upkeep.OpDelete, Key: "a", Part: lock},
		{Op: upkeep.OpDelete, Key: "a", Part: asSide},
		{Op: upkeep.OpArchive, Key: "nobody", Part: parts[0]},
	} {
		a, err := upkeep.Apply(ctx, y.store, &upkeep.Plan{Actions: []upkeep.Action{action}})
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
	p := y.plan(upkeep.Maintenance{KeepArchives: oneDay})
	assert.Equal(t, []string{"delete b archive: retention"}, says(p))
	assert.Equal(t, []string{"a: retention: it cannot be read"}, saysKept(p.Kept))
	y.lies("c", 0, secret)
	r, err := upkeep.EraseEntries(ctx, y.store, "c", "", "e2")
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, r.Unread)
	r, err = upkeep.Erase(ctx, y.store, "a")
	require.NoError(t, err)
	assert.NotEmpty(t, r.Parts, "a damaged session can be erased")
}
