package session_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/keys"
	"github.com/winnowgo/winnow/session/resets"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

// say opens a session and appends a message of a person, and returns why the conversation began anew.
func say(t *testing.T, store *session.Store, key, text string) resets.Decision {
	t.Helper()
	s := open(t, store, key)
	d := s.FreshStart()
	require.NoError(t, s.Append(context.Background(), session.User(text)))
	require.NoError(t, s.Close())
	return d
}

func heard(t *testing.T, store *session.Store, key string) []string {
	t.Helper()
	v, err := store.Read(context.Background(), key)
	require.NoError(t, err)
	return texts(v)
}

// TestResetByRule lets days pass: the rule is applied when the session is opened, and the old log stays.
func TestResetByRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := resets.Policy{
			Base:   resets.Rule{Mode: resets.Daily, Hour: 4, Location: time.UTC},
			ByType: map[keys.Type]resets.Rule{keys.Group: {Mode: resets.Idle}, keys.Thread: {}},
		}
		store, err := sessiontest.OpenFiles(sessiontest.NewCrashFS(), &session.Options{ResetRule: policy.For})
		require.NoError(t, err)
		const main, group, thread = "agent:a:main", "agent:a:telegram:group:1", "agent:a:telegram:group:1:thread:2"
		for _, key := range []string{main, group, thread} {
			assert.False(t, say(t, store, key, "one").Due, "a new session is not reset")
		}
		time.Sleep(time.Hour + time.Second) // 01:00:01
		assert.False(t, say(t, store, main, "two").Due)
		assert.Equal(t, "idle", say(t, store, group, "two").Reason)
		assert.False(t, say(t, store, thread, "two").Due)

		time.Sleep(3 * time.Hour) // 04:00:01
		d := say(t, store, main, "three")
		assert.True(t, d.Due)
		assert.Equal(t, "daily", d.Reason)
		assert.Equal(t, time.Date(2000, 1, 1, 4, 0, 0, 0, time.UTC), d.Since.UTC())
		assert.Equal(t, []string{"three"}, heard(t, store, main))
		assert.Equal(t, []string{"two"}, heard(t, store, group), "nothing resets before somebody writes")
		time.Sleep(10_000 * time.Hour)
		assert.False(t, say(t, store, thread, "three").Due)
		assert.Equal(t, []string{"one", "two", "three"}, heard(t, store, thread))
		assert.Equal(t, []string{"three"}, heard(t, store, main), "reading resets nothing")
	})
}

// TestNoRuleResetsNothing: with the zero options a conversation continues after a century.
func TestNoRuleResetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := session.NewMemory(nil)
		say(t, store, "k", "one")
		time.Sleep(100 * 365 * 24 * time.Hour)
		assert.False(t, say(t, store, "k", "two").Due)
		assert.Equal(t, []string{"one", "two"}, heard(t, store, "k"))
	})
}

// TestFreshnessCountsPeople: injected messages, answers, titles and notes do not keep a conversation alive.
func TestFreshnessCountsPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		store := session.NewMemory(&session.Options{ResetRule: func(string) resets.Rule {
			return resets.Rule{Mode: resets.Idle}
		}})
		say(t, store, "k", "one")
		time.Sleep(50 * time.Minute)
		s, err := store.Resume(ctx, "k")
		require.NoError(t, err)
		housekeeping := session.User("it is late")
		housekeeping.Injected = true
		require.NoError(t, s.Append(ctx, answer("an answer"), housekeeping))
		require.NoError(t, s.Inject(ctx, "reminder", true, session.User("a reminder")))
		require.NoError(t, s.AddData(ctx, "note", json.RawMessage("1")))
		require.NoError(t, s.Close())
		title := "title"
		require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title}))
		time.Sleep(11 * time.Minute)
		s, err = store.Resume(ctx, "k")
		require.NoError(t, err)
		assert.False(t, s.FreshStart().Due, "Resume applies no rule")
		assert.Len(t, s.View().History, 4)
		require.NoError(t, s.Close())
		assert.Equal(t, "idle", say(t, store, "k", "two").Reason)
		time.Sleep(59 * time.Minute)
		assert.False(t, say(t, store, "k", "three").Due, "a message of a person does")
		time.Sleep(59 * time.Minute)
		assert.False(t, say(t, store, "k", "four").Due)
	})
}

// TestClockThatGoesBack: the log that follows is the newest nevertheless, and nothing is reset.
func TestClockThatGoesBack(t *testing.T) {
	now := time.Date(2026, 3, 29, 5, 0, 0, 0, time.UTC)
	store, err := sessiontest.OpenFiles(sessiontest.NewCrashFS(), &session.Options{
		Now: func() time.Time { return now },
		ResetRule: func(string) resets.Rule {
			return resets.Rule{Mode: resets.Daily, Hour: 4, Location: time.UTC, Idle: time.Hour}
		},
	})
	require.NoError(t, err)
	say(t, store, "k", "one")
	now = now.AddDate(-1, 0, 0)
	assert.False(t, say(t, store, "k", "two").Due)
	now = now.Add(2 * time.Hour)
	assert.Equal(t, "idle", say(t, store, "k", "three").Reason, "time goes on from where the clock is")
	now = now.AddDate(0, -1, 0)
	assert.False(t, say(t, store, "k", "four").Due)
	assert.Equal(t, []string{"three", "four"}, heard(t, store, "k"))
	s := open(t, store, "k")
	require.NoError(t, s.Reset(context.Background(), "asked", nil))
	require.NoError(t, s.Append(context.Background(), session.User("five")))
	require.NoError(t, s.Close())
	assert.Equal(t, []string{"five"}, heard(t, store, "k"), "the newest log is the newest, whatever the clock says")
}

// TestWhatAResetKeeps: the info of the session is carried over; its title only if somebody asked for the reset.
func TestWhatAResetKeeps(t *testing.T) {
	ctx := context.Background()
	now := time.Unix(1_700_000_000, 0)
	rule := resets.Rule{}
	store := session.NewMemory(&session.Options{
		Now:       func() time.Time { return now },
		ResetRule: func(string) resets.Rule { return rule },
	})
	say(t, store, "k", "one")
	title, yes := "title", true
	require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title, Pinned: &yes, Archived: &yes}))
	require.NoError(t, store.AddUsage(ctx, "k", "m", winnow.Usage{Input: 3}))

	s := open(t, store, "k")
	require.NoError(t, s.Reset(ctx, "asked", json.RawMessage(`{"level":"high"}`)))
	v := s.View()
	assert.Equal(t, title, *v.Info.Title)
	assert.True(t, *v.Info.Pinned)
	assert.True(t, *v.Info.Archived)
	assert.Zero(t, v.Counts.Usage.Input, "counters begin anew")
	assert.Empty(t, v.History)
	require.NoError(t, s.Close())

	say(t, store, "k", "two")
	rule, now = resets.Rule{Mode: resets.Idle}, now.Add(2*time.Hour)
	assert.True(t, say(t, store, "k", "three").Due)
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Nil(t, v.Info.Title, "the title was of what is over")
	assert.True(t, *v.Info.Pinned)
	assert.True(t, *v.Info.Archived)
}

// lateBackend writes beside the branch between the end of a log and the beginning of the next one.
type lateBackend struct {
	backend.Backend
	late func()
}

type lateTurn struct {
	backend.Turn
	late func()
}

func (b *lateBackend) Turn(ctx context.Context, key string) (backend.Turn, error) {
	turn, err := b.Backend.Turn(ctx, key)
	return lateTurn{turn, b.late}, err
}

func (l lateTurn) Next(ctx context.Context, lines []byte) (backend.Log, error) {
	l.late()
	return l.Turn.Next(ctx, lines)
}

// TestInfoDuringAReset: entries that are written beside the branch between two logs go to the new one.
func TestInfoDuringAReset(t *testing.T) {
	ctx := context.Background()
	yes := true
	backend := &lateBackend{Backend: session.NewMemory(nil).Backend()}
	store := session.New(backend, nil)
	backend.late = func() { assert.NoError(t, store.SetInfo(ctx, "k", session.Info{Pinned: &yes})) }
	say(t, store, "k", "one")
	s := open(t, store, "k")
	require.NoError(t, s.Reset(ctx, "asked", nil))
	require.NotNil(t, s.View().Info.Pinned)
	require.NoError(t, s.Append(ctx, session.User("two")))
	require.NoError(t, s.Close())
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	require.NotNil(t, v.Info.Pinned)
	assert.Equal(t, []string{"two"}, texts(v))
}

// TestResetThatWasInterrupted: the process ended between the end of the old log and the next one.
func TestResetThatWasInterrupted(t *testing.T) {
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	say(t, store, "k", "one")
	title, ctx := "title", context.Background()
	require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title}))
	s := open(t, store, "k")
	fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
		if op.Name == "create" && strings.HasSuffix(op.Path, ".tmp") {
			return sessiontest.Fault{Err: assert.AnError}
		}
		return sessiontest.Fault{}
	})
	require.ErrorIs(t, s.Reset(ctx, "asked", nil), assert.AnError)
	fsys.Fail(nil)
	require.NoError(t, s.Close())
	s = open(t, store, "k")
	assert.Equal(t, resets.Decision{Due: true, Reason: "asked"}, s.FreshStart())
	assert.Empty(t, s.View().History)
	require.NotNil(t, s.View().Info.Title)
	require.NoError(t, s.Close())
}

// TestNoResetByWhatIsNoMessage: a refused import or fork does not reset the existing conversation.
func TestNoResetByWhatIsNoMessage(t *testing.T) {
	ctx := context.Background()
	now := time.Unix(1_700_000_000, 0)
	store := session.NewMemory(&session.Options{
		Now:       func() time.Time { return now },
		ResetRule: func(string) resets.Rule { return resets.Rule{Mode: resets.Idle} },
	})
	say(t, store, "k", "one")
	say(t, store, "other", "two")
	now = now.Add(2 * time.Hour)
	m := session.User("three")
	require.ErrorIs(t, upkeep.Import(ctx, store, "k", []*entry.Entry{{Type: entry.TypeMessage, Message: &m}}), session.ErrExists)
	require.ErrorIs(t, store.Fork(ctx, "other", "", "k"), session.ErrExists)
	assert.Equal(t, []string{"one"}, heard(t, store, "k"))
}
