package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/upkeep"
)

// TestPlanBesideAChange: what happens to a session between its listing and its opening is no damage. A plan leaves a
// session alone that is gone.
func TestPlanBesideAChange(t *testing.T) {
	ctx := t.Context()
	drop := func(t *testing.T, store *session.Store) { require.NoError(t, store.Delete(ctx, "k")) }
	erase := func(t *testing.T, store *session.Store) {
		_, err := upkeep.EraseEntries(ctx, store, "k", "", "e2")
		require.NoError(t, err)
	}
	for _, c := range []struct {
		reason     string
		isArchived bool // before
		meanwhile  func(t *testing.T, store *session.Store)
		want       []string
		kept       []string
	}{
		{"deleted", false, drop, []string{}, []string{"k: : " + upkeep.KeptChanged}},
		{"its log has another ID", false, erase, []string{"archive k log: age"}, []string{}},
		{"the archive is deleted", true, drop, []string{}, []string{"k: retention: " + upkeep.KeptChanged}},
		{"the archive has another ID", true, erase, []string{"delete k archive: retention"}, []string{}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			now := noon
			opts := &session.Options{Now: func() time.Time { return now }}
			store := session.NewMemory(opts)
			sayTo(t, store, "k", 1, "hello")
			if c.isArchived {
				now = now.Add(oneDay)
				require.NoError(t, archiveAll(ctx, store))
			}
			now = now.Add(oneDay)
			sayTo(t, store, "other", 1, "hello")
			alone, err := store.Parts(ctx, "other")
			require.NoError(t, err)

			between := &interrupting{Backend: store.Backend(), key: "k", at: 1}
			between.before = func() {
				then := now
				now = noon // so that the session stays old
				c.meanwhile(t, store)
				now = then
			}
			policy := upkeep.Maintenance{ArchiveAfter: time.Hour, KeepArchives: time.Hour}
			p, err := upkeep.MakePlan(ctx, session.New(between, opts), policy)
			require.NoError(t, err)
			assert.Equal(t, c.want, says(p))
			assert.Equal(t, c.kept, saysKept(p.Kept))
			if len(c.kept) > 0 {
				assert.Equal(t, alone[0].Bytes, p.Bytes)
			}
		})
	}
}

// TestPlanOfBytesBesideADeletion: the session that made the store too large is deleted while the plan is made. Then
// nothing else has to go.
func TestPlanOfBytesBesideADeletion(t *testing.T) {
	ctx := t.Context()
	now := noon
	opts := &session.Options{Now: func() time.Time { return now }}
	store := session.NewMemory(opts)
	var all int64
	for _, key := range []string{"k", "other"} {
		sayTo(t, store, key, 1, "hello")
		now = now.Add(oneDay)
		require.NoError(t, archiveAll(ctx, store))
		parts, err := store.Parts(ctx, key)
		require.NoError(t, err)
		all += parts[0].Bytes
	}
	between := &interrupting{Backend: store.Backend(), key: "k", at: 1}
	between.before = func() { require.NoError(t, store.Delete(ctx, "k")) }
	p, err := upkeep.MakePlan(ctx, session.New(between, opts), upkeep.Maintenance{MaxBytes: all - 1, LowWater: 0.1})
	require.NoError(t, err)
	assert.Empty(t, says(p))
	assert.Zero(t, p.Over)
}

// vanishing is a backend where a session is deleted between the listing of the keys and that of its parts.
type vanishing struct {
	backend.Backend
	key string
}

func (d *vanishing) Parts(ctx context.Context, key string) ([]backend.Part, error) {
	if key == d.key {
		if err := d.Delete(ctx, key); err != nil {
			return nil, err
		}
	}
	return d.Backend.Parts(ctx, key)
}

// TestPlanBesideADeletedKey: of a session that was deleted before its parts are listed, nothing is counted.
func TestPlanBesideADeletedKey(t *testing.T) {
	store := session.NewMemory(nil)
	sayTo(t, store, "k", 1, "hello")
	sayTo(t, store, "other", 1, "hello")
	between := &vanishing{store.Backend(), "k"}
	p, err := upkeep.MakePlan(t.Context(), session.New(between, nil), upkeep.Maintenance{MaxSessions: 5})
	require.NoError(t, err)
	assert.Equal(t, 1, p.Sessions)
}
