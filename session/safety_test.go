package session_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/sessiontest"
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
		for _, kind := range []string{".torn-", ".failed", ".replaced", ".jsonl.gz", "catalog.", "turn.next"} {
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

	_, err = store.List(ctx, session.Query{})
	require.NoError(t, err)
	plan, err := store.Plan(ctx, session.Maintenance{ResetLogs: true})
	require.NoError(t, err)
	_, err = store.Apply(ctx, plan)
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

func TestLinksAreRefused(t *testing.T) {
	ctx := context.Background()
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("secret\n"), 0o600))
	newer := "29991231-000000-000-00000000.jsonl"
	for name, plant := range map[string]func(t *testing.T, dir, log string){
		"a newer log": func(t *testing.T, dir, _ string) { require.NoError(t, os.Symlink(outside, filepath.Join(dir, newer))) },
		"a newer log, relative": func(t *testing.T, dir, log string) {
			require.NoError(t, os.Symlink(filepath.Base(log), filepath.Join(dir, newer)))
		},
		"the lock of the log": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "log.lock")))
			require.NoError(t, os.Symlink(outside, filepath.Join(dir, "log.lock")))
		},
		"the lock of the turn": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "turn.lock")))
			require.NoError(t, os.Symlink(outside, filepath.Join(dir, "turn.lock")))
		},
		"who is next": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.Symlink(outside, filepath.Join(dir, "turn.next")))
		},
		"the directory":        func(t *testing.T, dir, _ string) { moveBehindALink(t, dir) },
		"the directory above":  func(t *testing.T, dir, _ string) { moveBehindALink(t, filepath.Dir(dir)) },
		"that of all sessions": func(t *testing.T, dir, _ string) { moveBehindALink(t, filepath.Dir(filepath.Dir(dir))) },
		"a log that is a pipe": func(t *testing.T, dir, _ string) { makePipe(t, filepath.Join(dir, newer)) },
		"a lock that is a pipe": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "turn.lock")))
			makePipe(t, filepath.Join(dir, "turn.lock"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, dir, log := written(t)
			plant(t, dir, log)
			s, err := store.Open(ctx, "k")
			if err == nil {
				s.Close()
			}
			require.Error(t, err)
			text, err := os.ReadFile(outside)
			require.NoError(t, err)
			assert.Equal(t, "secret\n", string(text))
		})
	}
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
	store, err := session.OpenFiles(unsyncedFS{dir}, nil)
	require.NoError(t, err)
	s = open(t, store, key)
	require.ErrorIs(t, s.Append(ctx, session.User("y")), session.ErrSync)
	require.NoError(t, s.Close())
	require.NoError(t, errors.Join(whole.Close(), store.Close()))
}

// moveBehindALink moves a directory and puts a link in its place.
func moveBehindALink(t *testing.T, dir string) {
	require.NoError(t, os.Rename(dir, dir+"-moved"))
	require.NoError(t, os.Symlink(filepath.Base(dir)+"-moved", dir))
}

// makePipe makes a named pipe. Whoever opens it waits for ever.
func makePipe(t *testing.T, name string) {
	if out, err := exec.Command("mkfifo", name).CombinedOutput(); err != nil {
		t.Skip("no pipe can be made here: ", string(out))
	}
}

// TestLinksInThePlaceOfTheCatalog: neither its writers nor its readers leave the directory.
func TestLinksInThePlaceOfTheCatalog(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"catalog.jsonl", "catalog.lock"} {
		t.Run(name, func(t *testing.T) {
			store, dir, _ := written(t)
			root := filepath.Dir(filepath.Dir(filepath.Dir(dir)))
			outside := filepath.Join(t.TempDir(), "outside")
			require.NoError(t, os.WriteFile(outside, []byte("secret\n"), 0o600))
			require.NoError(t, os.Symlink(outside, filepath.Join(root, name)))
			s := open(t, store, "k")
			require.NoError(t, s.Append(ctx, session.User("three")))
			require.NoError(t, s.Close())
			page, err := store.List(ctx, session.Query{})
			if err == nil {
				require.Len(t, page.Sessions, 1)
			}
			text, err := os.ReadFile(outside)
			require.NoError(t, err)
			assert.Equal(t, "secret\n", string(text))
			info, err := os.Stat(outside)
			require.NoError(t, err)
			assert.EqualValues(t, len("secret\n"), info.Size())
		})
	}
}

func TestDirectoriesOfOthersAreRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600))
	_, err := session.OpenDirectory(dir, nil)
	require.ErrorIs(t, err, session.ErrFormat)

	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "winnow.json"), []byte(`{"format":2}`), 0o600))
	_, err = session.OpenDirectory(dir, nil)
	require.ErrorIs(t, err, session.ErrFormat)

	store, _, log := written(t)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	s := open(t, store, "other")
	require.NoError(t, s.Append(context.Background(), session.User("x")))
	require.NoError(t, s.Close())
	logs, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(log))), "*", "k-other", "*.jsonl"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(logs[0], text, 0o600)) // the log of another key
	_, err = store.Open(context.Background(), "other")
	require.ErrorIs(t, err, session.ErrFormat)
}

// TestWriterWithoutLocks appends to the log with an editor, or echo, between two appends. Nothing is overwritten.
func TestWriterWithoutLocks(t *testing.T) {
	ctx := context.Background()
	for name, tt := range map[string]struct {
		text     string
		conflict bool
	}{
		"a title":                     {`{"seq":100,"id":"x1","type":"info","info":{"title":"by hand"}}` + "\n", false},
		"a title without its newline": {`{"seq":100,"id":"x1","type":"info","info":{"title":"by hand"}}`, false},
		"something that is no entry":  {"hello\n", false},
		"half a line":                 {`{"seq":100,"id":"x1","ty`, false},
		"a message on the branch":     {`{"seq":100,"id":"x1","parentId":"e3","type":"message","message":{"role":"user","parts":[{"text":"by hand"}]}}` + "\n", true},
		"another leaf":                {`{"seq":100,"id":"x1","type":"leaf","target":"e2","at":0}` + "\n", true},
		"a line with an old seq":      {`{"seq":1,"id":"x1","type":"info"}` + "\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			store, _, log := written(t)
			s := open(t, store, "k")
			f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
			require.NoError(t, err)
			_, err = f.WriteString(tt.text)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			before, err := os.ReadFile(log)
			require.NoError(t, err)

			err = s.Append(ctx, session.User("three"))
			if tt.conflict {
				require.ErrorIs(t, err, session.ErrConflict)
			} else {
				require.NoError(t, err)
				require.NoError(t, s.Append(ctx, answer("four")))
			}
			require.NoError(t, s.Close())
			after, err := os.ReadFile(log)
			require.NoError(t, err)
			assert.Equal(t, string(before), string(after[:len(before)]))
			s = open(t, store, "k")
			if !tt.conflict {
				assert.Equal(t, []string{"one", "two", "three", "four"}, texts(s.View()))
			}
			require.NoError(t, s.Append(ctx, session.User("five")))
			require.NoError(t, s.Close())
		})
	}
}

// meddledFS calls meddle before something is written to a file.
type meddledFS struct {
	files.FS
	meddle func(name string)
}

type meddledFile struct {
	files.File
	name   string
	meddle func(name string)
}

func (m meddledFS) Open(name string, flag int, perm fs.FileMode) (files.File, error) {
	f, err := m.FS.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return meddledFile{f, name, m.meddle}, nil
}

func (m meddledFS) IsLinked(f files.File, name string) bool {
	return m.FS.IsLinked(f.(meddledFile).File, name)
}

func (f meddledFile) Write(p []byte) (int, error) {
	f.meddle(f.name)
	return f.File.Write(p)
}

// TestWriterWithoutLocksWithinAnAppend has somebody without locks write while an append is under way. What lies behind
// the lines of the append does them no harm: the next append takes it in.
func TestWriterWithoutLocksWithinAnAppend(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		why, at string
		want    error
	}{
		{"it lies before the lines", "before the write", session.ErrConflict},
		{"it lies behind the lines", "write", nil},
		{"it comes while they are brought to the disk", "sync", nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			fsys := sessiontest.NewCrashFS()
			log := ""
			meddle := func(at, name string) {
				if at != c.at || name != log {
					return
				}
				log = "" // once
				f, err := fsys.Open(name, os.O_RDWR, 0)
				require.NoError(t, err)
				_, err = f.Write([]byte("by hand\n"))
				require.NoError(t, err)
				require.NoError(t, f.Close())
			}
			fsys.After(func(op sessiontest.Operation) { meddle(op.Name, op.Path) })
			store, err := session.OpenFiles(meddledFS{fsys, func(name string) { meddle("before the write", name) }}, nil)
			require.NoError(t, err)
			s := open(t, store, "k")
			require.NoError(t, s.Append(ctx, session.User("one")))
			log = logName(t, fsys, "k", readStored(t, fsys, store, "k").log)
			require.ErrorIs(t, s.Append(ctx, session.User("two")), c.want)
			require.Empty(t, log, "nobody wrote")
			if c.want == nil {
				require.NoError(t, s.Append(ctx, session.User("three")))
				v, err := store.Read(ctx, "k")
				require.NoError(t, err)
				require.Equal(t, []string{"one", "two", "three"}, texts(v))
			}
			require.NoError(t, s.Close())
		})
	}
}

// deletions is what appenders and deleters know about each other.
type deletions struct {
	begun atomic.Int64 // and ended: odd while there is one
	mu    sync.Mutex
	acked map[string]bool // texts whose append has returned
}

// delete deletes the session. Nothing that was acknowledged before comes back.
func (d *deletions) delete(t *testing.T, store *session.Store) {
	d.mu.Lock()
	before := maps.Clone(d.acked)
	d.mu.Unlock()
	d.begun.Add(1)
	assert.NoError(t, store.Delete(context.Background(), "k"))
	d.begun.Add(1)
	v, err := store.Read(context.Background(), "k")
	if err != nil {
		assert.ErrorIs(t, err, session.ErrNotFound)
		return
	}
	for _, text := range texts(v) {
		assert.False(t, before[text], "%s came back", text)
	}
}

// append appends a text, and looks for it unless somebody deletes the session in the meantime. isGone says that
// somebody did.
func (d *deletions) append(t *testing.T, store *session.Store, s *session.Session, text string) (isGone, looked bool) {
	begun := d.begun.Load()
	err := s.Append(context.Background(), session.User(text))
	if errors.Is(err, session.ErrDeleted) {
		assert.NotZero(t, d.begun.Load())
		return true, false
	}
	assert.NoError(t, err)
	d.mu.Lock()
	d.acked[text] = true
	d.mu.Unlock()
	v, err := store.Read(context.Background(), "k")
	if begun%2 == 1 || d.begun.Load() != begun {
		return false, false
	}
	if assert.NoError(t, err) {
		assert.Equal(t, text, texts(v)[len(v.History)-1], "what was acknowledged is missing")
	}
	return false, true
}

// TestDeleteAgainstAppendAgainstOpen: many goroutines open and append to one session while another process deletes it.
// An acknowledged entry is found unless there was a deletion; what was deleted does not come back.
func TestDeleteAgainstAppendAgainstOpen(t *testing.T) {
	ctx := context.Background()
	var stores [2]*session.Store // which exclude each other as two processes do
	dir := t.TempDir()
	for i := range stores {
		var err error
		stores[i], err = session.OpenDirectory(dir, &session.Options{Durability: session.OS})
		require.NoError(t, err)
	}
	store, other := stores[0], stores[1]
	d := &deletions{acked: map[string]bool{}}
	var wg sync.WaitGroup
	var gone, looked atomic.Int64
	for g := range 8 {
		wg.Go(func() {
			for n := range 20 {
				s, err := store.Open(ctx, "k")
				if !assert.NoError(t, err) {
					return
				}
				for i := range 3 {
					isGone, hasLooked := d.append(t, store, s, fmt.Sprint(g, " ", n, " ", i))
					if isGone {
						gone.Add(1)
						break
					}
					if hasLooked {
						looked.Add(1)
					}
				}
				assert.NoError(t, s.Close())
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		wg.Wait()
	}()
	for isDone := false; !isDone; {
		select {
		case <-done:
			isDone = true
		case <-time.After(2 * time.Millisecond):
		}
		d.delete(t, other)
	}
	require.Positive(t, looked.Load())
	require.Positive(t, gone.Load())
	_, err := store.Read(ctx, "k")
	require.ErrorIs(t, err, session.ErrNotFound)
	t.Log(len(d.acked), "appends,", looked.Load(), "looked for,", gone.Load(), "told that the session is gone")
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
