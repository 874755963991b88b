package session_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

// written makes a store with a session and returns the directory of the session and its log.
func written(t *testing.T) (store *session.Store, dir, log string) {
	root := t.TempDir()
	store, err := session.OpenDirectory(root, nil)
	require.NoError(t, err)
	s := open(t, store, "k")
	require.NoError(t, s.Append(context.Background(), session.User("one"), answer("two")))
	require.NoError(t, s.Close())
	logs, err := filepath.Glob(filepath.Join(root, "s", "*", "k-k", "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	return store, filepath.Dir(logs[0]), logs[0]
}

func TestNothingIsReadableByOthers(t *testing.T) {
	root := t.TempDir()
	store, err := session.OpenDirectory(root, nil)
	require.NoError(t, err)
	for i, key := range sessiontest.Keys() {
		s := open(t, store, key)
		require.NoError(t, s.Append(context.Background(), session.User("x")))
		if i%2 == 0 {
			require.NoError(t, s.Reset(context.Background(), "", nil))
		}
		require.NoError(t, s.Close())
	}
	leaveAllKindsOfFiles(t, root, store)
	files := 0
	kinds := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		files++
		for _, kind := range []string{".torn-", ".failed", ".jsonl.gz", "turn.next"} {
			kinds[kind] = kinds[kind] || strings.Contains(filepath.Base(name), kind)
		}
		if name != root {
			assert.Zero(t, info.Mode().Perm()&0o077, name)
		}
		if !e.IsDir() {
			assert.Zero(t, info.Mode().Perm()&0o111, name)
		}
		return nil
	}))
	assert.Greater(t, files, 3*len(sessiontest.Keys()))
	for kind, seen := range kinds {
		assert.True(t, seen, "no file of the kind %s", kind)
	}
}

// leaveAllKindsOfFiles leaves rare kinds of files in a store.
func leaveAllKindsOfFiles(t *testing.T, root string, store *session.Store) {
	ctx := context.Background()
	logOf := func(key string) string {
		s := open(t, store, key)
		require.NoError(t, s.Append(ctx, session.User("x")))
		require.NoError(t, s.Close())
		logs, err := filepath.Glob(filepath.Join(root, "s", "*", "k-"+key, "*.jsonl"))
		require.NoError(t, err)
		return logs[0]
	}
	torn := logOf("torn")
	f, err := os.OpenFile(torn, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"seq":`)
	require.NoError(t, errors.Join(err, f.Close()))
	logOf("torn")

	for _, key := range []string{"failed", "failed-last"} {
		failASync(t, root, key)
	}
	logOf("failed") // copies it

	plan, err := upkeep.MakePlan(ctx, store, upkeep.Maintenance{ResetLogs: true})
	require.NoError(t, err)
	_, err = upkeep.Apply(ctx, store, plan)
	require.NoError(t, err)

	s := open(t, store, "waited-for")
	go func() {
		time.Sleep(20 * time.Millisecond)
		s.Close()
	}()
	other, err := session.OpenDirectory(root, nil)
	require.NoError(t, err)
	require.NoError(t, open(t, other, "waited-for").Close())
}

// TestNamesOnAFileSystemThatIgnoresCase looks at the names that keys get: they differ in more than case and form.
func TestNamesOnAFileSystemThatIgnoresCase(t *testing.T) {
	root := t.TempDir()
	store, err := session.OpenDirectory(root, nil)
	require.NoError(t, err)
	for _, key := range sessiontest.Keys() {
		s := open(t, store, key)
		require.NoError(t, s.Append(context.Background(), session.User("x")))
		require.NoError(t, s.Close())
	}
	dirs, err := filepath.Glob(filepath.Join(root, "s", "*", "*"))
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		assert.Less(t, len(name), 130)
		assert.Equal(t, name, strings.ToLower(name))
		assert.Equal(t, -1, strings.IndexFunc(name, func(r rune) bool { return r > '~' || strings.ContainsRune(`<>:"/\|?* .`, r) }), name)
		assert.False(t, seen[name], name)
		seen[name] = true
	}
	assert.Len(t, seen, len(sessiontest.Keys()))
}

// unsyncedFS is a file system on which no file can be synced any more.
type unsyncedFS struct{ files.FS }

type unsyncedFile struct{ files.File }

func (u unsyncedFS) Open(name string, flag int, perm fs.FileMode) (files.File, error) {
	f, err := u.FS.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

func (u unsyncedFS) IsLinked(f files.File, name string) bool {
	return u.FS.IsLinked(f.(unsyncedFile).File, name)
}

func (unsyncedFile) Sync() error { return syscall.EIO }

// failASync begins a session in a directory, and lets the sync of another append fail.
func failASync(t *testing.T, root, key string) {
	ctx := context.Background()
	whole, err := session.OpenDirectory(root, nil)
	require.NoError(t, err)
	s := open(t, whole, key)
	require.NoError(t, s.Append(ctx, session.User("x")))
	require.NoError(t, s.Close())
	dir, err := files.OpenRoot(root)
	require.NoError(t, err)
	store, err := sessiontest.OpenFiles(unsyncedFS{dir}, nil)
	require.NoError(t, err)
	s = open(t, store, key)
	require.ErrorIs(t, s.Append(ctx, session.User("y")), session.ErrSync)
	require.NoError(t, s.Close())
	require.NoError(t, errors.Join(whole.Close(), store.Close()))
}

// FuzzLines reads any bytes as a log: nothing panics, lines are in order, and what counts is in the text.
func FuzzLines(f *testing.F) {
	store := session.NewMemory(nil)
	s, err := store.Open(context.Background(), "k")
	if err != nil {
		f.Fatal(err)
	}
	if err := s.Append(context.Background(), session.User("x"), answer("y")); err != nil {
		f.Fatal(err)
	}
	log, err := store.Backend().Log(context.Background(), "k", false)
	if err != nil {
		f.Fatal(err)
	}
	size, _ := log.Size()
	text := make([]byte, size)
	log.ReadAt(text, 0)
	f.Add(text)
	f.Add(text[:len(text)-20])
	f.Add(append([]byte("\xef\xbb\xbf\x00\x00{\"seq\":"), text...))
	f.Add(slices.Concat(text, text))
	f.Add([]byte(strings.Repeat(`{"seq":`, 1000)))
	f.Add([]byte(strings.Repeat(`,"crc":"00000000"}`, 1000)))
	f.Add([]byte(`{"seq":1,"id":"e1","type":"session","format":1,"key":"k"}` + "\n" + `{"seq":2,"id":"e2","parentId":"e2","type":"message"}` + "\n" +
		`{"seq":3,"id":"e3","type":"leaf","target":"e9","at":99999999}` + "\n" + `{"seq":4,"id":"e4","parentId":"e1","type":"compaction","firstKept":{"id":"e7","at":-5},"keep":[{"id":"e1","at":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, _, err := session.CountedLines(data)
		require.NoError(t, err)
		for _, line := range lines {
			require.True(t, strings.Contains(string(data), line))
		}
		backend := session.NewMemory(nil).Backend()
		begin(t, backend, string(data))
		store := session.New(backend, nil)
		if _, err := store.Read(context.Background(), "k"); err != nil {
			require.ErrorIs(t, err, session.ErrFormat)
			return
		}
		s, err := store.Open(context.Background(), "k")
		require.NoError(t, err)
		require.NoError(t, s.Append(context.Background(), session.User("goes on")))
		want := s.View()
		v, err := store.Read(context.Background(), "k")
		require.NoError(t, err)
		require.Equal(t, len(want.History), len(v.History))
		require.NotEmpty(t, v.History)
		require.Equal(t, winnow.RoleUser, v.History[len(v.History)-1].Role)
	})
}
