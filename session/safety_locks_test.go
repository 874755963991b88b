package session_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// TestWriterWithoutLocks appends to the log with an editor, or echo, between two appends. Nothing is overwritten.
func TestWriterWithoutLocks(t *testing.T) {
	ctx := context.Background()
	for name, tt := range map[string]struct {
		text     string
		conflict bool
	}{
		"a title":                        {`{"seq":100,"id":"x1","type":"info","info":{"title":"by hand"}}` + "\n", false},
		"a title without its newline":    {`{"seq":100,"id":"x1","type":"info","info":{"title":"by hand"}}`, false},
		"something that is not an entry": {"hello\n", false},
		"half a line":                    {`{"seq":100,"id":"x1","ty`, false},
		"a message on the branch":        {`{"seq":100,"id":"x1","parentId":"e3","type":"message","message":{"role":"user","parts":[{"text":"by hand"}]}}` + "\n", true},
		"another leaf":                   {`{"seq":100,"id":"x1","type":"leaf","target":"e2","at":0}` + "\n", true},
		"a line with an old seq":         {`{"seq":1,"id":"x1","type":"info"}` + "\n", false},
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

// meddledFS calls meddle before something is done with a file, which can fail.
type meddledFS struct {
	files.FS
	meddle func(what, name string) error
}

type meddledFile struct {
	files.File
	name   string
	meddle func(what, name string) error
}

func (m meddledFS) Open(name string, flag int, perm fs.FileMode) (files.File, error) {
	err := m.meddle("open", name)
	f, err2 := m.FS.Open(name, flag, perm)
	if err = errors.Join(err, err2); err != nil {
		return nil, err
	}
	return meddledFile{f, name, m.meddle}, nil
}

func (m meddledFS) IsLinked(f files.File, name string) bool {
	return m.FS.IsLinked(f.(meddledFile).File, name)
}

func (f meddledFile) Write(p []byte) (int, error) {
	if err := f.meddle("before the write", f.name); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f meddledFile) Size() (int64, error) {
	if err := f.meddle("size", f.name); err != nil {
		return 0, err
	}
	return f.File.Size()
}

func (f meddledFile) Unlock() error {
	return errors.Join(f.meddle("unlock", f.name), f.File.Unlock())
}

// TestErrorBehindAWrite: what is written and synced is acknowledged, whatever fails then: a retry would write it twice.
// The next append says that the log is closed.
func TestErrorBehindAWrite(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct{ fails, file, behind string }{
		{"size", ".jsonl", "sync"},
		{"unlock", "log.lock", "sync"},
		{"open", ".jsonl", "rename"}, // of the first append, which makes the log
	} {
		t.Run(c.fails, func(t *testing.T) {
			fsys := sessiontest.NewCrashFS()
			isArmed, isBehind := false, false
			fsys.After(func(op sessiontest.Operation) {
				isBehind = isArmed && op.Name == c.behind && strings.HasSuffix(op.Path, ".jsonl") || isBehind
			})
			store, err := sessiontest.OpenFiles(meddledFS{fsys, func(what, name string) error {
				if !isBehind || what != c.fails || !strings.HasSuffix(name, c.file) {
					return nil
				}
				isArmed, isBehind = false, false
				return syscall.EIO
			}}, nil)
			require.NoError(t, err)
			isArmed = c.fails == "open"
			s := open(t, store, "k")
			require.NoError(t, s.Append(ctx, session.User("one")))
			want := []string{"one"}
			if isArmed = c.fails != "open"; isArmed {
				require.NoError(t, s.Append(ctx, session.User("two")))
				want = append(want, "two")
			}
			require.False(t, isArmed, "nothing failed")
			require.ErrorIs(t, s.Append(ctx, session.User("three")), session.ErrClosed)
			require.NoError(t, s.Close())
			crashed, err := sessiontest.OpenFiles(fsys.Crash(sessiontest.LossAll, nil), nil)
			require.NoError(t, err)
			require.NoError(t, inOneTurn(ctx, crashed, "four"))
			v, err := crashed.Read(ctx, "k")
			require.NoError(t, err)
			require.Equal(t, append(want, "four"), texts(v))
		})
	}
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
			meddle := func(at, name string) error {
				if at != c.at || name != log {
					return nil
				}
				log = "" // once
				f, err := fsys.Open(name, os.O_RDWR, 0)
				require.NoError(t, err)
				_, err = f.Write([]byte("by hand\n"))
				require.NoError(t, err)
				return f.Close()
			}
			fsys.After(func(op sessiontest.Operation) { require.NoError(t, meddle(op.Name, op.Path)) })
			store, err := sessiontest.OpenFiles(meddledFS{fsys, meddle}, nil)
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
	t.Parallel()
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
			// A machine with much to do may run the others only between two turns: go on until both have happened.
			for n := 0; n < 20 || looked.Load() == 0 || gone.Load() == 0; n++ {
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
	_, err := store.Read(ctx, "k")
	require.ErrorIs(t, err, session.ErrNotFound)
	t.Log(len(d.acked), "appends,", looked.Load(), "looked for,", gone.Load(), "told that the session is gone")
}
