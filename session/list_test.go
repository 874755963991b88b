package session_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/upkeep"
)

// requireListed requires that the list says about every session what its log says, and of those that were acknowledged
// at least as much.
func requireListed(t testing.TB, store *session.Store, acked map[string]int, name string) {
	require.NoError(t, checkListed(context.Background(), store, acked), name)
}

func checkListed(ctx context.Context, store *session.Store, acked map[string]int) error {
	got := map[string]session.Status{}
	for st, err := range store.All(ctx, session.Query{Limit: 7}) {
		if err != nil {
			return err
		}
		got[st.Key] = st
	}
	keys, err := store.Keys(ctx)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, key := range keys {
		there[key] = true
		v, err := store.Read(ctx, key)
		if err != nil {
			return err
		}
		st, ok := got[key]
		switch {
		case !ok:
			return fmt.Errorf("%q is not listed: it has %d turns", key, v.Counts.Turns)
		case !reflect.DeepEqual(v.Counts, st.Counts) || !reflect.DeepEqual(v.Info, st.Info):
			return fmt.Errorf("of %q is listed %+v %+v, its log says %+v %+v", key, st.Counts, st.Info, v.Counts, v.Info)
		case st.Counts.Turns < acked[key]:
			return fmt.Errorf("%q has %d turns, acknowledged were %d", key, st.Counts.Turns, acked[key])
		}
	}
	for key := range got {
		if !there[key] {
			return fmt.Errorf("%q is listed, and there is no such session", key)
		}
	}
	for key, turns := range acked {
		if turns > 0 && !there[key] {
			return fmt.Errorf("%q is not there, acknowledged were %d turns", key, turns)
		}
	}
	return nil
}

// TestListOfArchives: archives are listed as their logs were, with or without a comment.
func TestListOfArchives(t *testing.T) {
	ctx := t.Context()
	now := noon
	dir := t.TempDir()
	opts := &session.Options{Now: func() time.Time { return now }}
	store, err := session.OpenDirectory(dir, opts)
	require.NoError(t, err)
	for _, key := range []string{"b", "a", "c"} {
		sayTo(t, store, key, 3, "hello")
		now = now.Add(oneDay)
	}
	list := func(q session.Query) (keys []string) {
		fresh, err := session.OpenDirectory(dir, opts)
		require.NoError(t, err)
		for st, err := range fresh.All(ctx, q) {
			require.NoError(t, err)
			keys = append(keys, st.Key)
		}
		require.NoError(t, fresh.Close())
		return keys
	}
	check := func(name string) {
		no := false
		require.Equal(t, []string{"c", "a", "b"}, list(session.Query{Order: session.Newest}), name)
		require.Equal(t, []string{"a", "b"}, list(session.Query{Until: noon.Add(oneDay + 1), Pinned: &no}), name)
		c, err := store.Changes(ctx, "")
		require.NoError(t, err)
		for _, change := range c.Changes {
			st, err := store.Status(ctx, change.Key)
			require.NoError(t, err)
			require.Equal(t, st.Bytes, change.To, name)
		}
	}
	check("logs")
	require.NoError(t, archiveAll(ctx, store))
	archives, err := filepath.Glob(filepath.Join(dir, "s", "*", "*", "*.gz"))
	require.NoError(t, err)
	require.Len(t, archives, 3)
	check("archives")
	for _, name := range archives {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		z, err := gzip.NewReader(bytes.NewReader(text))
		require.NoError(t, err)
		require.Contains(t, z.Comment, `"bytes"`)
		lines, err := io.ReadAll(z)
		require.NoError(t, err)
		var plain bytes.Buffer
		w := gzip.NewWriter(&plain)
		_, err = w.Write(lines)
		require.NoError(t, errors.Join(err, w.Close()))
		require.NoError(t, os.WriteFile(name, plain.Bytes(), 0o600))
	}
	check("archives without comments")
	require.NoError(t, store.Close())
}

// TestListBesideADamagedArchive: it concerns no other session.
func TestListBesideADamagedArchive(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	sayTo(t, store, "a", 1, "hello")
	require.NoError(t, archiveAll(ctx, store))
	sayTo(t, store, "b", 1, "hello")
	archives, err := filepath.Glob(filepath.Join(dir, "s", "*", "*", "*.gz"))
	require.NoError(t, err)
	require.Len(t, archives, 1)
	for _, text := range []string{"", "no archive", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xff"} {
		require.NoError(t, os.WriteFile(archives[0], []byte(text), 0o600))
		for _, order := range []session.Order{session.ByKey, session.Newest} {
			damage := map[string]int{}
			for st, err := range store.All(ctx, session.Query{Order: order}) {
				require.NoError(t, err)
				damage[st.Key] = st.Damage
			}
			require.Equal(t, map[string]int{"a": 1, "b": 0}, damage)
		}
		c, err := store.Changes(ctx, "")
		require.NoError(t, err)
		require.Len(t, c.Changes, 2)
		n := 0
		for _, change := range c.Changes {
			for _, err := range store.ReadChange(ctx, change) {
				require.NoError(t, err)
				n++
			}
		}
		require.Positive(t, n)
	}
	require.NoError(t, store.Close())
}

// TestFeedOfASessionBegunAnew: who follows is told of a deletion even if the session exists again when it looks.
func TestFeedOfASessionBegunAnew(t *testing.T) {
	ctx := t.Context()
	for name, isOther := range map[string]bool{"this process": false, "another": true} {
		dir := t.TempDir()
		store, err := session.OpenDirectory(dir, nil)
		require.NoError(t, err)
		writer := store
		if isOther {
			writer, err = session.OpenDirectory(dir, nil)
			require.NoError(t, err)
		}
		sayTo(t, writer, "k", 1, "hello")
		c, err := store.Changes(ctx, "")
		require.NoError(t, err)
		require.NoError(t, writer.Delete(ctx, "k"))
		sayTo(t, writer, "k", 1, "again")
		c, err = store.NextChanges(ctx, c.Cursor)
		require.NoError(t, err)
		require.Len(t, c.Changes, 2, name)
		require.True(t, c.Changes[0].Deleted, name)
		require.Zero(t, c.Changes[1].From, name)
		require.Empty(t, c.Changes[1].Cause, name)
	}
}

func sayTo(t *testing.T, store *session.Store, key string, n int, text string) {
	s, err := store.Open(t.Context(), key)
	require.NoError(t, err)
	for range n {
		require.NoError(t, s.Append(t.Context(), session.User(text)))
	}
	require.NoError(t, s.Close())
}

// TestChangesSayWhy: a session that was begun anew keeps its old logs, of one with erased entries nothing that was read
// is true, and one that is deleted is gone.
func TestChangesSayWhy(t *testing.T) {
	store := session.NewMemory(nil)
	c, err := store.Changes(t.Context(), "")
	require.NoError(t, err)
	cause := func() backend.Cause {
		c, err = store.Changes(t.Context(), c.Cursor)
		require.NoError(t, err)
		require.NotEmpty(t, c.Changes)
		for _, change := range c.Changes {
			if change.Cause != "" {
				return change.Cause
			}
		}
		return ""
	}
	sayTo(t, store, "k", 2, "hello")
	assert.Empty(t, cause(), "new")
	old := c.Changes[0]
	sayTo(t, store, "k", 1, "more")
	assert.Empty(t, cause(), "grown")

	s, err := store.Open(t.Context(), "k")
	require.NoError(t, err)
	require.NoError(t, s.Reset(t.Context(), "asked", nil))
	require.NoError(t, s.Append(t.Context(), session.User("anew")))
	id := s.View().IDs[0]
	require.NoError(t, s.Close())
	assert.Equal(t, backend.CauseReset, cause())

	n := 0
	for _, err := range store.ReadChange(t.Context(), old) {
		require.NoError(t, err)
		n++
	}
	assert.Positive(t, n, "the old log")
	_, err = upkeep.EraseEntries(t.Context(), store, "k", "", id)
	require.NoError(t, err)
	assert.Equal(t, backend.CauseRewritten, cause())
	require.NoError(t, store.Delete(t.Context(), "k"))
	assert.Equal(t, backend.CauseDeleted, cause())
	assert.ErrorIs(t, errorOf(store.ReadChange(t.Context(), old)), session.ErrNotFound)
}
