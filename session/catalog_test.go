package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
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

// TestCatalogIsDerived replaces the catalog by all kinds of damaged ones, for an open store and for one that is opened
// later. What was acknowledged is in the list and in the feed.
func TestCatalogIsDerived(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "catalog.jsonl")
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	acked := map[string]int{}
	write := func(n int) {
		for i := range 5 {
			key := fmt.Sprint("key ", (n+i)%11)
			sayTo(t, store, key, 1, "hello")
			acked[key]++
		}
	}
	write(0)
	requireListed(t, store, acked, "at first")
	early, err := os.ReadFile(name)
	require.NoError(t, err)
	var reader sessiontest.FeedReader
	follow := func(store *session.Store, name string) {
		c, err := store.Changes(t.Context(), reader.Cursor)
		require.NoError(t, err, name)
		require.NoError(t, reader.Take(c), name)
		require.NoError(t, reader.Check(t.Context(), store), name)
	}
	follow(store, "at first")
	write(3)
	yesterday, err := os.ReadFile(name)
	require.NoError(t, err)
	title := "a title"
	require.NoError(t, store.SetInfo(t.Context(), "key 1", session.Info{Title: &title}))
	write(6)

	elsewhere := t.TempDir()
	other, err := session.OpenDirectory(elsewhere, nil)
	require.NoError(t, err)
	sayTo(t, other, "key 1", 3, "of another store")
	requireListed(t, other, nil, "another store")
	foreign, err := os.ReadFile(filepath.Join(elsewhere, "catalog.jsonl"))
	require.NoError(t, err)

	now := func() []byte {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		return text
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		make func() []byte // nil: deleted
	}{
		{"deleted", func() []byte { return nil }},
		{"empty", func() []byte { return []byte{} }},
		{"garbage", func() []byte { return []byte("garbage\n") }},
		{"NULs", func() []byte { return make([]byte, len(now())) }},
		{"cut within a line", func() []byte { return now()[:len(now())-7] }},
		{"cut anywhere", func() []byte { return now()[:random.IntN(len(now()))] }},
		{"cut behind a line", func() []byte { text := now(); return text[:bytes.LastIndexByte(text[:len(text)-1], '\n')+1] }},
		{"a flipped bit", func() []byte { text := now(); text[random.IntN(len(text))] ^= 4; return text }},
		{"a line is missing", func() []byte {
			lines := bytes.SplitAfter(now(), []byte("\n"))
			return bytes.Join(append(lines[:2:2], lines[3:]...), nil)
		}},
		{"the header is missing", func() []byte { _, rest, _ := bytes.Cut(now(), []byte("\n")); return rest }},
		{"twice", func() []byte { return append(now(), now()...) }},
		{"of yesterday", func() []byte { return yesterday }},
		{"of the day before", func() []byte { return early }},
		{"of another store", func() []byte { return foreign }},
	} {
		for _, way := range []string{"in place", "as a new file"} {
			for _, isOpen := range []bool{true, false} {
				what := fmt.Sprintf("%s, %s, open %v", c.name, way, isOpen)
				requireListed(t, store, acked, "before "+what)
				text := c.make()
				if !isOpen {
					require.NoError(t, store.Close())
				}
				if way == "as a new file" || text == nil {
					require.NoError(t, os.Remove(name))
				}
				if text != nil {
					require.NoError(t, os.WriteFile(name, text, 0o600))
				}
				if !isOpen {
					store, err = session.OpenDirectory(dir, nil)
					require.NoError(t, err)
				}
				if random.IntN(2) == 0 {
					write(random.IntN(11))
				}
				requireListed(t, store, acked, what)
				follow(store, what)
				write(random.IntN(11))
				requireListed(t, store, acked, "after "+what)
				follow(store, "after "+what)
			}
		}
	}
	c, err := store.Changes(t.Context(), "")
	require.NoError(t, err)
	write(1)
	c, err = store.Changes(t.Context(), c.Cursor)
	require.NoError(t, err)
	require.False(t, c.Resync)
	digit := "0"
	if strings.HasSuffix(c.Cursor, digit) {
		digit = "1"
	}
	c, err = store.Changes(t.Context(), c.Cursor[:len(c.Cursor)-1]+digit)
	require.NoError(t, err)
	require.True(t, c.Resync, "another line stands where the cursor was made")
	require.NoError(t, store.Close())
}

// TestCatalogIsWrittenAnew follows a catalog that is rewritten all the time: positions stay valid.
func TestCatalogIsWrittenAnew(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := t.TempDir()
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	session.TidyAt(store, 2_000)
	other, err := session.OpenDirectory(dir, nil) // it reads what the first one rewrites
	require.NoError(t, err)
	for n := range 5 {
		sayTo(t, store, fmt.Sprint("k", n), 1, "hello")
	}
	var reader, slow sessiontest.FeedReader
	resyncs, anew := 0, 0
	take := func(r *sessiontest.FeedReader, store *session.Store) {
		c, err := store.Changes(ctx, r.Cursor)
		require.NoError(t, err)
		require.NoError(t, r.Take(c))
		require.NoError(t, r.Check(ctx, store))
		if c.Resync {
			resyncs++
		}
	}
	take(&reader, store)
	take(&slow, other)
	size := int64(0)
	for n := range 200 {
		sayTo(t, store, fmt.Sprint("k", n%5), 1, "hello")
		take(&reader, store)
		if n%50 == 49 {
			take(&slow, other)
		}
		info, err := os.Stat(filepath.Join(dir, "catalog.jsonl"))
		require.NoError(t, err)
		if info.Size() < size {
			anew++
		}
		size = info.Size()
	}
	require.Greater(t, anew, 3, "the catalog was not written anew: the test shows nothing")
	assert.Equal(t, 2, resyncs, "only the first time")
	require.NoError(t, store.Delete(ctx, "k3"))
	old := slow
	for n := range 200 { // so that the deletion is no longer in the file
		sayTo(t, store, "k1", 1, fmt.Sprint(n))
		take(&reader, store)
	}
	take(&old, store)
	assert.Equal(t, 3, resyncs, "who has not heard of a deletion that is forgotten begins anew")
}

// TestCatalogCannotBeWritten lets each file operation fail once. What was acknowledged is listed nevertheless.
func TestCatalogCannotBeWritten(t *testing.T) {
	t.Parallel()
	failure := errors.New("the disk is full")
	steps := 60
	for k := 1; ; k++ {
		if testing.Short() && k%5 > 0 {
			continue
		}
		fsys := sessiontest.NewCrashFS()
		p := &catalogProgram{
			t: t, random: rand.New(rand.NewPCG(5, 1)), open: map[string]*session.Session{}, acked: map[string]int{},
		}
		var err error
		p.store, err = session.OpenFiles(fsys, nil)
		require.NoError(t, err)
		session.TidyAt(p.store, 2_000)
		at, failed := k+fsys.Operations(), false
		fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
			if op.Index != at {
				return sessiontest.Fault{}
			}
			failed = true
			short := 0
			if op.Name == "write" && k%2 == 0 {
				short = -1
			}
			return sessiontest.Fault{Err: failure, Short: short}
		})
		for range steps {
			if err := p.step(t.Context()); err != nil {
				require.True(t, errors.Is(err, failure) || isTyped(err), "%d: %v", k, err)
				for key, s := range p.open {
					_ = s.Close()
					delete(p.open, key)
				}
			}
			if failed {
				requireListed(t, p.store, p.acked, fmt.Sprint("operation ", k, " failed"))
			}
		}
		if !failed {
			break
		}
	}
}

// TestSettling: a list closes the sessions that a killed process left open, once nobody works on them.
func TestSettling(t *testing.T) {
	dir := t.TempDir()
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	requireListed(t, store, nil, "empty")
	s := open(t, store, "k")
	require.NoError(t, s.Append(t.Context(), session.User("one")))
	for range 3 {
		requireListed(t, store, map[string]int{"k": 1}, "at work")
	}
	require.NoError(t, s.Close())
	title := "a title"
	require.NoError(t, store.SetInfo(t.Context(), "k", session.Info{Title: &title})) // nobody says that it is over
	require.Eventually(t, func() bool {
		requireListed(t, store, map[string]int{"k": 1}, "left open")
		text, err := os.ReadFile(filepath.Join(dir, "catalog.jsonl"))
		require.NoError(t, err)
		lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
		last := lines[len(lines)-1]
		return bytes.Contains(last, []byte(`"key":"k"`)) && !bytes.Contains(last, []byte(`"open":true`))
	}, 10*time.Second, 100*time.Millisecond)
}

// TestCatalogOfSealedSessions: the catalog does not hold sealed content.
func TestCatalogOfSealedSessions(t *testing.T) {
	dir := t.TempDir()
	key := bytes.Repeat([]byte("k"), 32)
	seal := &session.AESGCM{ID: func() string { return "1" }, Key: func(string) ([]byte, error) { return key, nil }}
	store, err := session.OpenDirectory(dir, &session.Options{Seal: seal})
	require.NoError(t, err)
	requireListed(t, store, nil, "empty")
	title := "a secret title"
	s := open(t, store, "k")
	require.NoError(t, s.Append(t.Context(), session.User("a secret question")))
	require.NoError(t, store.SetInfo(t.Context(), "k", session.Info{Title: &title}))
	requireListed(t, store, map[string]int{"k": 1}, "open")
	require.NoError(t, s.Close())
	requireListed(t, store, map[string]int{"k": 1}, "closed")
	text, err := os.ReadFile(filepath.Join(dir, "catalog.jsonl"))
	require.NoError(t, err)
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	assert.Contains(t, string(lines[len(lines)-1]), `"turns":1`)
	assert.NotContains(t, string(lines[len(lines)-1]), `"open":true`, "it was said that it is closed")
	assert.NotContains(t, string(text), "secret")
}
