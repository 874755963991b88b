package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/upkeep"
)

// Each benchmark of the store comes with the limit of the machine, measured in the same run.

var benchLarge = flag.Bool("bench.large", false, "benchmarks with logs of 1 GB")

// lineOfTwoKB is about how long the line of twoKB in a log is, in bytes.
const lineOfTwoKB = 2124

// twoKB is a result of 2 KB, as tools give them.
func twoKB(n int) winnow.Message {
	text := strings.Repeat("internal/store/append.go:118: the batch is written in one call\n", 30)
	return session.User(text + fmt.Sprintf("%40d", n))
}

// measureCPU reports the processor time of an operation, which is comparable even on a shared machine.
func measureCPU(b *testing.B) func() {
	start := processorTime()
	return func() { b.ReportMetric(float64(processorTime()-start)/float64(b.N), "cpu-ns/op") }
}

func processorTime() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return r.Utime.Nano() + r.Stime.Nano()
}

func benchStore(b testing.TB, d session.Durability) *session.Store {
	store, err := session.OpenDirectory(b.TempDir(), &session.Options{Durability: d})
	require.NoError(b, err)
	return store
}

func BenchmarkAppend(b *testing.B) {
	b.Run("OS", appendTo(session.OS))
	b.Run("Sync", appendTo(session.Sync))
	b.Run("limit/marshal", marshalLimit)
	b.Run("limit/write", writeLimit(false))
	b.Run("limit/write and fdatasync", writeLimit(true))
}

func appendTo(d session.Durability) func(b *testing.B) {
	return func(b *testing.B) {
		ctx := context.Background()
		s, err := benchStore(b, d).Open(ctx, "k")
		require.NoError(b, err)
		defer s.Close()
		m := twoKB(1)
		require.NoError(b, s.Append(ctx, m))
		b.ReportAllocs()
		defer measureCPU(b)()
		for b.Loop() {
			if err := s.Append(ctx, m); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func marshalLimit(b *testing.B) {
	m := twoKB(1)
	b.ReportAllocs()
	defer measureCPU(b)()
	for b.Loop() {
		if _, err := json.Marshal(&m); err != nil {
			b.Fatal(err)
		}
	}
}

func writeLimit(sync bool) func(b *testing.B) {
	return func(b *testing.B) {
		f, err := os.OpenFile(filepath.Join(b.TempDir(), "f"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
		require.NoError(b, err)
		defer f.Close()
		line := make([]byte, lineOfTwoKB)
		defer measureCPU(b)()
		for b.Loop() {
			writeLine(b, f, line, sync)
		}
	}
}

func writeLine(b testing.TB, f *os.File, line []byte, sync bool) {
	_, err := f.Write(line)
	if err == nil && sync {
		err = syscall.Fdatasync(int(f.Fd()))
	}
	if err != nil {
		b.Error(err)
	}
}

// parallelSessions is how many sessions are appended to at the same time.
const parallelSessions = 64

func BenchmarkParallel(b *testing.B) {
	b.Run("Sync", parallelSync)
	b.Run("limit/write and fdatasync", parallelLimit)
}

func parallelSync(b *testing.B) {
	appends, closeStore := durableAppends(b, parallelSessions)
	defer closeStore()
	inParallel(b, appends)
}

func parallelLimit(b *testing.B) {
	writes, closeFiles := durableWrites(b, parallelSessions)
	defer closeFiles()
	inParallel(b, writes)
}

// inParallel calls each f from its own goroutine.
func inParallel(b *testing.B, fs []func()) {
	var n atomic.Int64
	b.SetParallelism(len(fs) / runtime.GOMAXPROCS(0))
	b.ResetTimer()
	defer measureCPU(b)()
	b.RunParallel(func(pb *testing.PB) {
		for f := fs[n.Add(1)%int64(len(fs))]; pb.Next(); {
			f()
		}
	})
}

// durableAppends returns functions that append to a session each, with a sync.
func durableAppends(b testing.TB, sessions int) (appends []func(), closeAll func()) {
	ctx := context.Background()
	store := benchStore(b, session.Sync)
	m := twoKB(1)
	var opened []*session.Session
	for i := range sessions {
		s, err := store.Open(ctx, fmt.Sprint("k", i))
		require.NoError(b, err)
		opened = append(opened, s)
		appends = append(appends, func() {
			if err := s.Append(ctx, m); err != nil {
				b.Error(err)
			}
		})
		appends[i]()
	}
	return appends, func() {
		for _, s := range opened {
			require.NoError(b, s.Close())
		}
	}
}

// durableWrites returns functions that each let a file grow by as much as an append does, with a sync. Like the logs of
// sessions the files lie in directories of their own.
func durableWrites(b testing.TB, logs int) (writes []func(), closeAll func()) {
	dir := b.TempDir()
	var opened []*os.File
	for i := range logs {
		in := filepath.Join(dir, fmt.Sprintf("%02x", i), "k")
		require.NoError(b, os.MkdirAll(in, 0o700))
		f, err := os.OpenFile(filepath.Join(in, "log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
		require.NoError(b, err)
		opened = append(opened, f)
		line := make([]byte, lineOfTwoKB)
		writes = append(writes, func() { writeLine(b, f, line, true) })
		writes[i]()
	}
	return writes, func() {
		for _, f := range opened {
			require.NoError(b, f.Close())
		}
	}
}

// largeLog returns a store with a session whose log has a number of bytes, of which active are in use.
func largeLog(b testing.TB, size, active int) *session.Store {
	store, _ := largeLogIn(b, b.TempDir(), size, active)
	return store
}

// largeLogIn returns the name of the log too.
func largeLogIn(b testing.TB, dir string, size, active int) (store *session.Store, log string) {
	ctx := context.Background()
	store, err := session.OpenDirectory(dir, &session.Options{Durability: session.OS})
	require.NoError(b, err)
	s, err := store.Open(ctx, "k")
	require.NoError(b, err)
	batch := make([]winnow.Message, 100)
	const line = 2200
	for written := 0; written < size; written += len(batch) * line {
		for i := range batch {
			batch[i] = twoKB(i)
		}
		require.NoError(b, s.Append(ctx, batch...))
		if n := len(s.View().History); n > 10_000 || n > active/line && written+len(batch)*line >= size {
			require.NoError(b, session.CompactTo(ctx, s, active/line))
		}
	}
	require.NoError(b, s.Close())
	logs, err := filepath.Glob(filepath.Join(dir, "s", "*", "k-k", "*.jsonl"))
	require.NoError(b, err)
	require.Len(b, logs, 1)
	return store, logs[0]
}

func BenchmarkOpen(b *testing.B) {
	sizes := []struct {
		name         string
		size, active int
	}{{"200KB", 200 << 10, 200 << 10}, {"1MB of 1MB", 1 << 20, 1 << 20}, {"1MB of 100MB", 100 << 20, 1 << 20}}
	if *benchLarge {
		sizes = append(sizes, struct {
			name         string
			size, active int
		}{"1MB of 1GB", 1 << 30, 1 << 20})
	}
	for _, n := range sizes {
		b.Run(n.name, openOf(largeLog(b, n.size, n.active)))
	}
	b.Run("limit/decode 1MB", decodeLimit(1<<20))
}

func openOf(store *session.Store) func(b *testing.B) {
	return func(b *testing.B) {
		ctx := context.Background()
		b.ReportAllocs()
		defer measureCPU(b)()
		for b.Loop() {
			s, err := store.Open(ctx, "k")
			if err != nil {
				b.Fatal(err)
			}
			s.Close()
		}
	}
}

// decodeLimit decodes messages of a number of bytes.
func decodeLimit(size int) func(b *testing.B) {
	return func(b *testing.B) {
		var text bytes.Buffer
		for i := range size / 2200 {
			m := twoKB(i)
			require.NoError(b, winnow.WriteMessages(&text, []winnow.Message{m}))
		}
		b.SetBytes(int64(text.Len()))
		b.ReportAllocs()
		defer measureCPU(b)()
		for b.Loop() {
			for line := range bytes.Lines(text.Bytes()) {
				var m winnow.Message
				if err := json.Unmarshal(line, &m); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	size := 100 << 20
	if *benchLarge {
		size = 1 << 30
	}
	store := largeLog(b, size, 1<<20)
	b.Run("verify", verifyOf(store))
	b.Run("scan with decode", scanOf(store, size))
	b.Run("limit/crc", crcLimit)
}

func verifyOf(store *session.Store) func(b *testing.B) {
	return func(b *testing.B) {
		defer measureCPU(b)()
		for b.Loop() {
			r, err := upkeep.Verify(context.Background(), store, "k")
			if err != nil || len(r.Damage) > 0 {
				b.Fatal(err, r.Damage)
			}
			b.SetBytes(r.Bytes)
		}
	}
}

func scanOf(store *session.Store, size int) func(b *testing.B) {
	return func(b *testing.B) {
		b.SetBytes(int64(size))
		defer measureCPU(b)()
		for b.Loop() {
			if err := errorOf(store.Entries(context.Background(), "k")); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func crcLimit(b *testing.B) {
	data := make([]byte, 1<<20)
	table := crc32.MakeTable(crc32.Castagnoli)
	b.SetBytes(int64(len(data)))
	defer measureCPU(b)()
	for b.Loop() {
		crc32.Checksum(data, table)
	}
}
