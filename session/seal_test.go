package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

// keyOf returns a key that the id stands for.
func keyOf(id string) ([]byte, error) { return bytes.Repeat([]byte(id)[:1], 32), nil }

// sealedWith seals with the key of an id, and opens with any.
func sealedWith(id string) *session.AESGCM {
	return &session.AESGCM{ID: func() string { return id }, Key: keyOf}
}

// changingKeys seals every entry with another key than the one before it.
func changingKeys() *session.AESGCM {
	var n atomic.Int64
	return &session.AESGCM{ID: func() string { return string('a' + rune(n.Add(1)%5)) }, Key: keyOf}
}

// sealing makes an Open seal.
func sealing(open sessiontest.Open) sessiontest.Open {
	seal := changingKeys()
	return func(opts *session.Options) (*session.Store, error) {
		var own session.Options
		if opts != nil {
			own = *opts
		}
		own.Seal = seal
		return open(&own)
	}
}

func TestDirectorySealed(t *testing.T) {
	t.Parallel()
	sessiontest.Run(t, func(t *testing.T) sessiontest.Open {
		dir := t.TempDir()
		return sealing(func(opts *session.Options) (*session.Store, error) { return session.OpenDirectory(dir, opts) })
	})
}

func TestMemorySealed(t *testing.T) {
	sessiontest.Run(t, func(t *testing.T) sessiontest.Open {
		backend := session.NewMemory(nil).Backend()
		return sealing(func(opts *session.Options) (*session.Store, error) { return session.New(backend, opts), nil })
	})
}

const quicksilver = "quicksilver" // stands in everything that a host gives

// sealedStore has a session with entries of all types, each of which says the quicksilver.
func sealedStore(t *testing.T, dir string, seal session.Sealer) *session.Store {
	ctx := context.Background()
	now := time.Unix(1_700_000_000, 0)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	store, err := session.OpenDirectory(dir, &session.Options{
		Seal: seal, Now: clock, Codec: textCodec{},
		Manager: func(string) (int, *winnow.Options) { return 4_000, &winnow.Options{Now: clock} },
	})
	require.NoError(t, err)
	title := "title " + quicksilver
	s := open(t, store, "k")
	m := session.User(quicksilver + " \xff")
	m.Source = quicksilver + " of the provider"
	require.NoError(t, s.Append(ctx, m))
	for n := range 30 {
		require.NoError(t, s.Append(ctx, session.User(fmt.Sprint(quicksilver, n, strings.Repeat(" "+quicksilver, 80)))))
		_, err := s.Do(ctx, func(context.Context, []winnow.Message) (winnow.Message, error) {
			return answer(quicksilver), nil
		})
		require.NoError(t, err)
	}
	require.Positive(t, s.View().Counts.Compactions)
	ids := s.View().IDs
	other := session.User("edited: " + quicksilver)
	require.NoError(t, s.Edit(ctx, ids[len(ids)-1], &other, "because of "+quicksilver))
	require.NoError(t, s.Inject(ctx, "name "+quicksilver, true, session.User("injected "+quicksilver)))
	require.NoError(t, s.AddData(ctx, "note "+quicksilver, []byte(`{"a":"`+quicksilver+`"}`)))
	require.NoError(t, s.SummarizeBranch(ctx, ids[len(ids)-2], "branch "+quicksilver))
	require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title}))
	require.NoError(t, store.SetLabel(ctx, "k", ids[len(ids)-2], "label "+quicksilver))
	require.NoError(t, store.AddData(ctx, "k", "beside "+quicksilver, []byte(`"`+quicksilver+`"`)))
	require.NoError(t, s.Append(ctx, session.User(quicksilver)))
	require.NoError(t, s.Close())
	require.NoError(t, store.Fork(ctx, "k", "", "fork"))
	var entries []*entry.Entry
	for e, err := range store.Entries(ctx, "k") {
		require.NoError(t, err)
		entries = append(entries, e)
	}
	require.NoError(t, upkeep.Import(ctx, store, "imported", entries))
	now = now.Truncate(time.Hour).Add(time.Hour) // how often state is written in full depends on its size, sealed or not
	s = open(t, store, "reset")
	require.NoError(t, s.Append(ctx, session.User(quicksilver)))
	require.NoError(t, s.Reset(ctx, "reason "+quicksilver, []byte(`"`+quicksilver+`"`)))
	require.NoError(t, s.Append(ctx, session.User(quicksilver)))
	require.NoError(t, s.Close())
	return store
}

// TestPinBehindASealedStatus: lists and maintenance know without a key that a session is pinned, although the entry that
// says so lies behind one with totals.
func TestPinBehindASealedStatus(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(&session.Options{Seal: sealedWith("a")})
	yes, title := true, quicksilver
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("x")))
	require.NoError(t, store.SetInfo(ctx, "k", session.Info{Pinned: &yes, Title: &title}))
	require.NoError(t, s.Append(ctx, session.User(strings.Repeat("x", 20_000))))
	require.NoError(t, s.Close())
	for _, keyless := range []*session.Store{store, session.New(store.Backend(), nil)} {
		page, err := keyless.List(ctx, session.Query{Pinned: &yes})
		require.NoError(t, err)
		require.Len(t, page.Sessions, 1)
		assert.Equal(t, &yes, page.Sessions[0].Info.Pinned)
	}
}

func TestSealedFilesSayNothing(t *testing.T) {
	dir := t.TempDir()
	sealedStore(t, dir, sealedWith("a"))
	files, lines := 0, 0
	require.NoError(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		if e.IsDir() {
			return nil
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.NotContains(t, string(text), quicksilver, name)
		files, lines = files+1, lines+bytes.Count(text, []byte(`"sealed":"a"`))
		return nil
	}))
	assert.Greater(t, files, 8)
	assert.Greater(t, lines, 100)

	plain := t.TempDir() // the test sees unsealed content
	sealedStore(t, plain, nil)
	logs, err := filepath.Glob(filepath.Join(plain, "s", "*", "k-k", "*.jsonl"))
	require.NoError(t, err)
	text, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	assert.Contains(t, string(text), quicksilver)
}

// TestSealedIsReadAsItWasWritten compares a store with one that seals nothing.
func TestSealedIsReadAsItWasWritten(t *testing.T) {
	ctx := context.Background()
	plain, sealed := sealedStore(t, t.TempDir(), nil), sealedStore(t, t.TempDir(), changingKeys())
	for _, key := range []string{"k", "fork", "imported", "reset"} {
		want, err := plain.Read(ctx, key)
		require.NoError(t, err)
		got, err := sealed.Read(ctx, key)
		require.NoError(t, err)
		assert.Equal(t, want.History, got.History, key)
		assert.Equal(t, want.IDs, got.IDs, key)
		assert.Equal(t, want.Info, got.Info, key)
		assert.Equal(t, want.Labels, got.Labels, key)
		assert.Equal(t, want.Counts, got.Counts, key)
		assert.Empty(t, got.Damage, key)
	}
}

// TestWithoutTheKey: a missing or wrong key is reported. Verify needs no key, and still finds damage.
func TestWithoutTheKey(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	sealedStore(t, dir, sealedWith("a"))
	missing := errors.New("no such key")
	for name, seal := range map[string]session.Sealer{
		"none": nil,
		"another": &session.AESGCM{
			ID: func() string { return "a" }, Key: func(string) ([]byte, error) { return keyOf("b") },
		},
		"missing": &session.AESGCM{
			ID: func() string { return "b" }, Key: func(string) ([]byte, error) { return nil, missing },
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := session.OpenDirectory(dir, &session.Options{Seal: seal})
			require.NoError(t, err)
			_, err = store.Read(ctx, "k")
			var sealed *entry.SealedError
			require.ErrorAs(t, err, &sealed)
			require.ErrorIs(t, err, session.ErrSealed)
			assert.Equal(t, "a", sealed.Key)
			assert.Equal(t, name == "missing", errors.Is(err, missing))
			_, err = store.Open(ctx, "k")
			require.ErrorIs(t, err, session.ErrSealed)
			require.ErrorIs(t, errorOf(store.Entries(ctx, "k")), session.ErrSealed)
			require.ErrorIs(t, store.Fork(ctx, "k", "", "fork of "+name), session.ErrSealed)
			report, err := upkeep.Verify(ctx, store, "k")
			require.NoError(t, err)
			assert.Empty(t, report.Damage)
			assert.Greater(t, report.Entries, 60)
		})
	}
	logs, err := filepath.Glob(filepath.Join(dir, "s", "*", "k-k", "*.jsonl"))
	require.NoError(t, err)
	text, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	text[bytes.LastIndex(text, []byte(`"payload":"`))+20] ^= 1
	require.NoError(t, os.WriteFile(logs[0], text, 0o600))
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	report, err := upkeep.Verify(ctx, store, "k")
	require.NoError(t, err)
	assert.NotEmpty(t, report.Damage)
}

// TestKeysRotate reads what was sealed with old keys, and seals with the new one.
func TestKeysRotate(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	want := []string{}
	for _, id := range []string{"a", "b", "c"} {
		store, err := session.OpenDirectory(dir, &session.Options{Seal: sealedWith(id)})
		require.NoError(t, err)
		s := open(t, store, "k")
		require.Equal(t, want, append([]string{}, texts(s.View())...))
		require.NoError(t, s.Append(ctx, session.User("with "+id)))
		want = append(want, "with "+id)
		require.NoError(t, s.Close())
	}
	logs, err := filepath.Glob(filepath.Join(dir, "s", "*", "k-k", "*.jsonl"))
	require.NoError(t, err)
	text, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	for _, id := range []string{"a", "b", "c"} {

		assert.Equal(t, 1, bytes.Count(text, []byte(`"sealed":"`+id+`"`)), id)
	}
}

// TestSealedEntriesStayWhereTheyAre moves the sealed part of one entry into another, with a correct checksum.
func TestSealedEntriesStayWhereTheyAre(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, &session.Options{Seal: sealedWith("a")})
	require.NoError(t, err)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("yes")))
	require.NoError(t, s.Append(ctx, session.User("no!")))
	require.NoError(t, s.Close())
	name := logName(t, fsys, "k", readStored(t, fsys, store, "k").log)
	text, err := fsys.ReadFile(name)
	require.NoError(t, err)
	var payloads []string
	for part := range strings.SplitSeq(string(text), `"payload":"`) {
		payload, _, _ := strings.Cut(part, `"`)
		payloads = append(payloads, payload)
	}
	swapped := strings.ReplaceAll(string(text), payloads[1], payloads[2])
	require.NoError(t, fsys.WriteFile(name, withoutSums([]byte(swapped))))
	_, err = store.Read(ctx, "k")
	require.ErrorIs(t, err, session.ErrSealed)
}

// TestEraseSealed erases an entry of a sealed log. The rest is read as before.
func TestEraseSealed(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	store := sealedStore(t, dir, sealedWith("a"))
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	last := v.IDs[len(v.IDs)-1]
	_, err = upkeep.EraseEntries(ctx, store, "k", "", last)
	require.NoError(t, err)
	found := 0
	for e, err := range store.Entries(ctx, "k") {
		require.NoError(t, err)
		if e.ID == last {
			found++
			assert.Equal(t, entry.TypeErased, e.Type)
		}
	}
	assert.Equal(t, 1, found)
	report, err := upkeep.Verify(ctx, store, "k")
	require.NoError(t, err)
	assert.Empty(t, report.Damage)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("goes on")))
	require.NoError(t, s.Close())
	logs, err := filepath.Glob(filepath.Join(dir, "s", "*", "k-k", "*.jsonl"))
	require.NoError(t, err)
	text, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	assert.NotContains(t, string(text), quicksilver)
}

func TestBadKeyIDs(t *testing.T) {
	for _, id := range []string{"", `a"b`, "a\\b", "é", strings.Repeat("x", 65)} {
		store := session.NewMemory(&session.Options{Seal: sealedWith(id)})
		s := open(t, store, "k")
		require.ErrorIs(t, s.Append(context.Background(), session.User("x")), session.ErrSealed, id)
		require.NoError(t, s.Close())
	}
}
