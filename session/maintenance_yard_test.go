package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
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
	y.store, err = sessiontest.OpenFiles(y.fs, &session.Options{Now: func() time.Time { return y.now }})
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
		p := y.plan(upkeep.Maintenance{ArchiveAfter: time.Nanosecond})
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

func (y *yard) plan(policy upkeep.Maintenance) *upkeep.Plan {
	y.Helper()
	before := filesOf(y, y.fs)
	p, err := upkeep.MakePlan(context.Background(), y.store, policy)
	require.NoError(y, err)
	require.Equal(y, before, filesOf(y, y.fs), "a plan changes nothing")
	return p
}

// apply applies a plan, and requires that everything it names is gone and everything else is left.
func (y *yard) apply(p *upkeep.Plan) *upkeep.Applied {
	y.Helper()
	before := filesOf(y, y.fs)
	a, err := upkeep.Apply(context.Background(), y.store, p)
	require.NoError(y, err)
	after := filesOf(y, y.fs)
	archived, deleted := map[string]bool{}, map[string]bool{}
	for _, action := range a.Done {
		if action.Op == upkeep.OpArchive {
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
func says(p *upkeep.Plan) []string {
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

func saysKept(kept []upkeep.Kept) []string {
	out := []string{}
	for _, k := range kept {
		out = append(out, fmt.Sprintf("%s: %s: %s", k.Key, k.Reason, k.Why))
	}
	return out
}
