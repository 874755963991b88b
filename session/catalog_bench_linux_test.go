package session_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
)

// With -bench.sessions 100000 the benchmarks of the catalog have 10 million entries, in 4 GB under $TMPDIR, or under
// -bench.dir, where the next run finds them.
var (
	benchDir      = flag.String("bench.dir", "", "benchmarks of the catalog: where the stores stay (removed at the end)")
	benchSessions = flag.Int("bench.sessions", 1_000, "benchmarks of the catalog: sessions in the store")
	benchEntries  = flag.Int("bench.entries", 100, "benchmarks of the catalog: entries of each session")
)

// manySessions fills a store.
func manySessions(b testing.TB, sessions, entries int) string {
	dir := b.TempDir()
	if *benchDir != "" {
		dir = filepath.Join(*benchDir, fmt.Sprintf("%d-%d", sessions, entries))
		if _, err := os.Stat(filepath.Join(dir, "full")); err == nil {
			return dir
		}
	}
	store, err := session.OpenDirectory(dir, &session.Options{Durability: session.OS})
	require.NoError(b, err)
	defer func() { require.NoError(b, os.WriteFile(filepath.Join(dir, "full"), nil, 0o600)) }()
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for n := range next {
				if err := fillSession(store, n, entries); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for n := range sessions {
		next <- n
	}
	close(next)
	wg.Wait()
	require.NoError(b, store.Close())
	return dir
}

func benchKey(n int) string { return fmt.Sprintf("agent:main:telegram:direct:%07d", n) }

// fillSession writes a conversation: questions, calls, results and answers.
func fillSession(store *session.Store, n, entries int) error {
	ctx := context.Background()
	s, err := store.Open(ctx, benchKey(n))
	if err != nil {
		return err
	}
	s.UseModel("large")
	text := "The batch is written in one call, and what follows is read again. "
	var batch []winnow.Message
	for i := range entries - 1 {
		m := session.User(fmt.Sprint(text, i))
		if i%4 != 0 {
			m = answer(fmt.Sprint(text, text, i))
			m.Usage = &winnow.Usage{Input: 1_000 + i, CacheRead: 500, Output: 50}
		}
		if batch = append(batch, m); len(batch) == 4 || i == entries-2 {
			if err := s.Append(ctx, batch...); err != nil {
				return err
			}
			batch = batch[:0:0]
		}
	}
	return s.Close()
}

func listOnce(b testing.TB, store *session.Store, q session.Query) *session.Page {
	page, err := store.List(context.Background(), q)
	require.NoError(b, err)
	return page
}

func benchOpen(b testing.TB, dir string) *session.Store {
	store, err := session.OpenDirectory(dir, &session.Options{Durability: session.OS})
	require.NoError(b, err)
	return store
}

func BenchmarkCatalog(b *testing.B) {
	ctx := context.Background()
	dir := manySessions(b, *benchSessions, *benchEntries)
	newest := session.Query{Order: session.Newest}
	b.Run("limit/open and read 4 KB of each", func(b *testing.B) {
		defer measureCPU(b)()
		for b.Loop() {
			readHeads(b, dir)
		}
	})
	b.Run("rebuild", func(b *testing.B) {
		defer measureCPU(b)()
		for b.Loop() {
			b.StopTimer()
			require.NoError(b, os.RemoveAll(filepath.Join(dir, "catalog.jsonl")))
			store := benchOpen(b, dir)
			b.StartTimer()
			listOnce(b, store, newest)
			b.StopTimer()
			require.NoError(b, store.Close())
			b.StartTimer()
		}
	})
	b.Run("first", func(b *testing.B) {
		defer measureCPU(b)()
		for b.Loop() {
			store := benchOpen(b, dir)
			listOnce(b, store, newest)
			require.NoError(b, store.Close())
		}
	})
	store := benchOpen(b, dir)
	listOnce(b, store, newest)
	change := func(b *testing.B, n int) {
		s, err := store.Open(ctx, benchKey(n%*benchSessions))
		require.NoError(b, err)
		require.NoError(b, s.Append(ctx, session.User("more")))
		require.NoError(b, s.Close())
	}
	queries := map[string]session.Query{"by key": {}, "newest": newest, "prefix": {Prefix: benchKey(7)[:30]}}
	for name, q := range queries {
		b.Run("after a change/"+name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				b.StopTimer()
				n += 7919
				change(b, n)
				b.StartTimer()
				listOnce(b, store, q)
			}
		})
	}
	b.Run("after a change/1000 are open", func(b *testing.B) {
		opened := make([]*session.Session, min(1_000, *benchSessions))
		for i := range opened {
			var err error
			opened[i], err = store.Open(ctx, benchKey(i))
			require.NoError(b, err)
			require.NoError(b, opened[i].Append(ctx, session.User("more")))
		}
		listOnce(b, store, newest)
		for b.Loop() {
			b.StopTimer()
			require.NoError(b, opened[0].Append(ctx, session.User("more")))
			b.StartTimer()
			listOnce(b, store, newest)
		}
		for _, s := range opened {
			require.NoError(b, s.Close())
		}
	})
	b.Run("status", func(b *testing.B) {
		for b.Loop() {
			_, err := store.Status(ctx, benchKey(1))
			require.NoError(b, err)
		}
	})
	b.Run("plan", func(b *testing.B) {
		defer measureCPU(b)()
		for b.Loop() {
			_, err := store.Plan(ctx, session.Maintenance{ArchiveAfter: 365 * 24 * time.Hour})
			require.NoError(b, err)
		}
	})
	b.Run("erase an entry", func(b *testing.B) {
		defer measureCPU(b)()
		for n := 0; b.Loop(); n++ {
			b.StopTimer()
			key := fmt.Sprint("erased", n)
			s, err := store.Open(ctx, key)
			require.NoError(b, err)
			require.NoError(b, s.Append(ctx, session.User("secret")))
			id := s.View().IDs[0]
			require.NoError(b, s.Close())
			b.StartTimer()
			_, err = store.EraseEntries(ctx, key, "", id)
			require.NoError(b, err)
			b.StopTimer()
			require.NoError(b, store.Delete(ctx, key))
			b.StartTimer()
		}
	})
	b.Run("feed", func(b *testing.B) {
		c, err := store.Changes(ctx, "")
		require.NoError(b, err)
		cursor, n := c.Cursor, 0
		var waited time.Duration
		for b.Loop() {
			n += 7919
			got := make(chan time.Time)
			go func() {
				c, err := store.NextChanges(ctx, cursor)
				if err == nil {
					cursor = c.Cursor
				}
				got <- time.Now()
			}()
			time.Sleep(time.Millisecond)
			s, err := store.Open(ctx, benchKey(n%*benchSessions))
			require.NoError(b, err)
			require.NoError(b, s.Append(ctx, session.User("more")))
			appended := time.Now()
			waited += (<-got).Sub(appended)
			require.NoError(b, s.Close())
			c, err := store.Changes(ctx, cursor) // the rest of the session
			require.NoError(b, err)
			cursor = c.Cursor
		}
		b.ReportMetric(float64(waited.Microseconds())/float64(b.N), "µs-to-change")
	})
	for name, in := range map[string]string{"full": dir, "empty": b.TempDir()} {
		store := benchOpen(b, in)
		listOnce(b, store, newest)
		b.Run("open, append and close/"+name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				s, err := store.Open(ctx, fmt.Sprintf("new%d", n%500))
				require.NoError(b, err)
				require.NoError(b, s.Append(ctx, session.User("more")))
				require.NoError(b, s.Close())
				n++
			}
		})
		b.Run("append/"+name, func(b *testing.B) {
			s, err := store.Open(ctx, "appended")
			require.NoError(b, err)
			for b.Loop() {
				require.NoError(b, s.Append(ctx, session.User("more")))
			}
			require.NoError(b, s.Close())
		})
		require.NoError(b, store.Close())
	}
	require.NoError(b, store.Close())
}

// readHeads opens and reads 4 KB of each log, on all processors: what reading each session costs at least.
func readHeads(b testing.TB, dir string) {
	parents, err := filepath.Glob(filepath.Join(dir, "s", "*"))
	require.NoError(b, err)
	var wg sync.WaitGroup
	next := make(chan string)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			buf := make([]byte, 4<<10)
			for parent := range next {
				err := filepath.WalkDir(parent, func(name string, e fs.DirEntry, err error) error {
					if err != nil || filepath.Ext(name) != ".jsonl" {
						return err
					}
					f, err := os.Open(name)
					if err != nil {
						return err
					}
					_, _ = f.Read(buf)
					return f.Close()
				})
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	for _, parent := range parents {
		next <- parent
	}
	close(next)
	wg.Wait()
}
