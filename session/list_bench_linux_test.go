package session_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
)

var (
	benchDir      = flag.String("bench.dir", "", "benchmark of lists: where the store stays, for the next run (removed at the end)")
	benchSessions = flag.Int("bench.sessions", 1_000, "benchmark of lists: sessions in the store")
	benchEntries  = flag.Int("bench.entries", 20, "benchmark of lists: entries of each session")
)

// manySessions returns a directory with a store.
func manySessions(b *testing.B) string {
	dir := filepath.Join(b.TempDir(), "store")
	if *benchDir != "" {
		dir = filepath.Join(*benchDir, fmt.Sprintf("%d-%d", *benchSessions, *benchEntries))
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
	}
	ctx := context.Background()
	store := benchOpen(b, dir)
	for n := range *benchSessions {
		s, err := store.Open(ctx, fmt.Sprintf("agent:main:telegram:direct:%07d", n))
		require.NoError(b, err)
		for i := 0; i < *benchEntries; i += 2 {
			m := answer(fmt.Sprint("The batch is written in one call, and what follows is read again. ", i))
			m.Usage = &winnow.Usage{Input: 1_000 + i, CacheRead: 500, Output: 50}
			require.NoError(b, s.Append(ctx, session.User(fmt.Sprint("a question ", i)), m))
		}
		require.NoError(b, s.Close())
	}
	require.NoError(b, store.Close())
	return dir
}

func benchOpen(b *testing.B, dir string) *session.Store {
	store, err := session.OpenDirectory(dir, &session.Options{Durability: session.OS})
	require.NoError(b, err)
	return store
}

// BenchmarkList opens a store and lists: the first page, and all.
func BenchmarkList(b *testing.B) {
	ctx := context.Background()
	dir := manySessions(b)
	for name, q := range map[string]session.Query{"by key": {}, "newest": {Order: session.Newest}} {
		b.Run(name+"/a new process", func(b *testing.B) {
			defer measureCPU(b)()
			var held uint64
			for b.Loop() {
				before := heapNow()
				store := benchOpen(b, dir)
				_, err := store.List(ctx, q)
				require.NoError(b, err)
				b.StopTimer()
				held = heapNow() - before
				require.NoError(b, store.Close())
				b.StartTimer()
			}
			b.ReportMetric(float64(held)/1e6, "MB")
		})
		store := benchOpen(b, dir)
		b.Run(name+"/again", func(b *testing.B) {
			for b.Loop() {
				_, err := store.List(ctx, q)
				require.NoError(b, err)
			}
		})
		b.Run(name+"/all pages", func(b *testing.B) {
			for b.Loop() {
				for _, err := range store.All(ctx, q) {
					require.NoError(b, err)
				}
			}
		})
		require.NoError(b, store.Close())
	}
	b.Run("feed", func(b *testing.B) {
		store := benchOpen(b, dir)
		c, err := store.Changes(ctx, "")
		require.NoError(b, err)
		s, err := store.Open(ctx, "agent:main:telegram:direct:0000000")
		require.NoError(b, err)
		waited := time.Duration(0)
		for b.Loop() {
			require.NoError(b, s.Append(ctx, session.User("more")))
			start := time.Now()
			c, err = store.NextChanges(ctx, c.Cursor)
			require.NoError(b, err)
			waited += time.Since(start)
		}
		b.ReportMetric(float64(waited.Microseconds())/float64(b.N), "µs-to-change")
		require.NoError(b, s.Close())
		require.NoError(b, store.Close())
	})
}

// heapNow returns how much memory is in use.
func heapNow() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
