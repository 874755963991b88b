package session_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/upkeep"
)

var numbers = flag.Bool("numbers", false, "measure the store, with logs of 1 GB, and print a table with the limits of the machine")

// numbersTable is the table of TestNumbers.
type numbersTable struct {
	*testing.T
	rows strings.Builder
}

func (n *numbersTable) row(what, measured, goal, limit string) {
	fmt.Fprintf(&n.rows, "| %s | %s | %s | %s |\n", what, measured, goal, limit)
	n.Log(what, "·", measured)
}

// measure runs a benchmark twice and returns the faster run: what else the machine does makes it slower only.
func measure(f func(b *testing.B)) testing.BenchmarkResult {
	first, second := testing.Benchmark(f), testing.Benchmark(f)
	if perOp(second) < perOp(first) {
		return second
	}
	return first
}

func perOp(r testing.BenchmarkResult) time.Duration { return time.Duration(r.NsPerOp()) }

// megabytes returns how many are done in a second.
func megabytes(r testing.BenchmarkResult) float64 {
	return float64(r.Bytes) * float64(r.N) / 1e6 / r.T.Seconds()
}

// TestNumbers prints what the store costs, and beside it what the machine allows, measured in the same run:
//
//	go test ./session -run 'TestNumbers$' -numbers -v -timeout 30m
func TestNumbers(t *testing.T) {
	if !*numbers {
		t.Skip("run it with -numbers on a quiet machine")
	}
	n := &numbersTable{T: t}
	n.appends()
	n.opens()
	n.scans()
	n.closed()
	n.growths()
	fmt.Printf("| what | measured | goal | limit, in the same run |\n|---|---|---|---|\n%s", n.rows.String())
}

func (n *numbersTable) appends() {
	marshal, write := measure(marshalLimit), measure(writeLimit(false))
	os := measure(appendTo(session.OS))
	n.row("append 2 KB, OS", fmt.Sprintf("%v, %d allocations", perOp(os), os.AllocsPerOp()),
		"≤ 25 µs, ≤ 16 allocations",
		fmt.Sprintf("marshal %v + write %v", perOp(marshal), perOp(write)))
	n.row("bytes of a message of 2 KB", fmt.Sprint(n.bytesOfMessage()), "–", fmt.Sprintf("its JSON %d", len(jsonOf(n, twoKB(1)))))
	durable, above, sync := n.oneSync()
	n.row("append 2 KB, Sync", fmt.Sprintf("%v, %v above the limit", durable, above),
		"≤ fdatasync + 30 µs", fmt.Sprintf("write and fdatasync %v", sync))
	m := n.manySyncs()
	n.row("64 sessions in parallel, Sync",
		fmt.Sprintf("%.0f/s, %.2f of the limit (quartiles %.2f and %.2f), %v of processor time each",
			m.store, m.share, m.low, m.high, m.storeCPU),
		"≥ 0.8 of the limit", fmt.Sprintf("write and fdatasync %.0f/s, %v of processor time each", m.limit, m.limitCPU))
}

// A disk is fast for some seconds and slow for others. So whatever is compared with the disk takes turns with it, and
// each measurement is compared with the one beside it.

// oneSync returns how long a durable append to a session takes, how much longer that is than a write of as many bytes
// with its sync, and how long the write takes: the medians.
func (n *numbersTable) oneSync() (store, above, limit time.Duration) {
	const rounds = 1200
	appends, closeStore := durableAppends(n, 1)
	defer closeStore()
	writes, closeFiles := durableWrites(n, 1)
	defer closeFiles()
	var stores, differences, limits []time.Duration
	for range rounds {
		raw, own := durationOf(writes[0]), durationOf(appends[0])
		limits, stores, differences = append(limits, raw), append(stores, own), append(differences, own-raw)
	}
	return median(stores), median(differences), median(limits)
}

func durationOf(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// parallelSyncs is what manySyncs measures: medians, and of the share also the quartiles.
type parallelSyncs struct {
	store, limit       float64 // a second
	low, share, high   float64 // of the store in the limit of the same round
	storeCPU, limitCPU time.Duration
}

// manySyncs measures durable appends that many sessions make at the same time, beside writes with a sync that as many
// files take. They take turns in short blocks, and it takes turns which of them is first.
func (n *numbersTable) manySyncs() parallelSyncs {
	const rounds, inRound = 41, 20
	appends, closeStore := durableAppends(n, parallelSessions)
	defer closeStore()
	writes, closeFiles := durableWrites(n, parallelSessions)
	defer closeFiles()
	var stores, shares, limits []float64
	var cpus [2]time.Duration
	rate := func(of int, fs []func()) float64 {
		began := processorTime()
		defer func() { cpus[of] += time.Duration(processorTime() - began) }()
		return rateOf(inRound, fs)
	}
	for round := range rounds {
		var raw, own float64
		if round%2 == 0 {
			raw, own = rate(1, writes), rate(0, appends)
		} else {
			own, raw = rate(0, appends), rate(1, writes)
		}
		limits, stores, shares = append(limits, raw), append(stores, own), append(shares, own/raw)
	}
	const calls = rounds * inRound * parallelSessions
	m := parallelSyncs{store: median(stores), limit: median(limits), share: median(shares)}
	m.low, m.high = shares[len(shares)/4], shares[3*len(shares)/4] // median has sorted them
	m.storeCPU, m.limitCPU = (cpus[0] / calls).Round(time.Microsecond), (cpus[1] / calls).Round(time.Microsecond)
	return m
}

// rateOf calls each f a number of times, all concurrently, and returns the calls per second.
func rateOf(times int, fs []func()) float64 {
	var wg sync.WaitGroup
	start := time.Now()
	for _, f := range fs {
		wg.Go(func() {
			for range times {
				f()
			}
		})
	}
	wg.Wait()
	return float64(times*len(fs)) / time.Since(start).Seconds()
}

func median[T cmp.Ordered](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}

// bytesOfMessage returns how much longer a log is with a message.
func (n *numbersTable) bytesOfMessage() int64 {
	store := benchStore(n, session.OS)
	s, err := store.Open(context.Background(), "k")
	require.NoError(n, err)
	defer s.Close()
	size := func() int64 {
		report, err := upkeep.Verify(context.Background(), store, "k")
		require.NoError(n, err)
		return report.Bytes
	}
	require.NoError(n, s.Append(context.Background(), twoKB(1)))
	before := size()
	require.NoError(n, s.Append(context.Background(), twoKB(1)))
	return size() - before
}

func jsonOf(t testing.TB, m winnow.Message) []byte {
	text, err := json.Marshal(&m)
	require.NoError(t, err)
	return text
}

func (n *numbersTable) opens() {
	small := measure(openOf(largeLog(n, 200<<10, 200<<10)))
	n.row("open, 200 KB active", perOp(small).String(), "≤ 5 ms", fmt.Sprintf("decode %v", perOp(measure(decodeLimit(200<<10)))))
	decode := measure(decodeLimit(1 << 20))
	for _, size := range []int{1 << 20, 100 << 20, 1 << 30} {
		dir := n.TempDir()
		store, log := largeLogIn(n, dir, size, 1<<20)
		name := fmt.Sprintf("open, 1 MB active, log %d MB", size>>20)
		warm := measure(openOf(store))
		n.row(name+", warm", perOp(warm).String(), "≤ 40 ms", fmt.Sprintf("decode %v", perOp(decode)))
		if size == 1<<30 {
			n.row(name+", cold", n.cold(store, log).String(), "< 1 s", "the disk")
		}
		n.row(name+", memory", fmt.Sprintf("%.1f × the active part", n.memory(store)/(1<<20)), "≤ 4 ×", "1 ×: the messages")
		require.NoError(n, os.RemoveAll(dir))
	}
}

// cold opens a session whose log is not in the cache of the kernel.
func (n *numbersTable) cold(store *session.Store, log string) time.Duration {
	f, err := os.OpenFile(log, os.O_RDWR, 0)
	require.NoError(n, err)
	require.NoError(n, f.Sync())
	const dontNeed = 4 // POSIX_FADV_DONTNEED
	_, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0)
	require.Zero(n, errno)
	require.NoError(n, f.Close())
	start := time.Now()
	s, err := store.Open(context.Background(), "k")
	took := time.Since(start)
	require.NoError(n, err)
	require.NoError(n, s.Close())
	return took
}

// memory returns how many bytes an open session holds.
func (n *numbersTable) memory(store *session.Store) float64 {
	heap := func() float64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	before := heap()
	s, err := store.Open(context.Background(), "k")
	require.NoError(n, err)
	held := heap() - before
	require.NoError(n, s.Close())
	return held
}

func (n *numbersTable) scans() {
	const size = 1 << 30
	dir := n.TempDir()
	store, log := largeLogIn(n, dir, size, 1<<20)
	read := measure(func(b *testing.B) {
		piece := make([]byte, 1<<20)
		b.SetBytes(size)
		for b.Loop() {
			f, err := os.Open(log)
			require.NoError(b, err)
			for at := int64(0); ; at += int64(len(piece)) {
				if _, err := f.ReadAt(piece, at); err != nil {
					break
				}
			}
			f.Close()
		}
	})
	newlines := measure(func(b *testing.B) {
		lines := bytes.Repeat(append(bytes.Repeat([]byte("x"), 2200), '\n'), 500)
		b.SetBytes(int64(len(lines)))
		for b.Loop() {
			bytes.Count(lines, []byte("\n"))
		}
	})
	verify := measure(verifyOf(store))
	n.row("Verify 1 GB", perOp(verify).String(), "≤ 2 s", fmt.Sprintf("read %.1f GB/s, crc %.1f GB/s, newlines %.1f GB/s",
		megabytes(read)/1e3, megabytes(measure(crcLimit))/1e3, megabytes(newlines)/1e3))
	n.row("full scan with decode", fmt.Sprintf("%.0f MB/s", megabytes(measure(scanOf(store, size)))), "≥ 80 MB/s",
		fmt.Sprintf("message %.0f MB/s, plain struct %.0f MB/s", megabytes(measure(decodeLimit(1<<20))), megabytes(measure(plainLimit))))
	require.NoError(n, os.RemoveAll(dir))
}

// plainLimit decodes a struct that has no methods.
func plainLimit(b *testing.B) {
	m := twoKB(1)
	text, err := json.Marshal(&m)
	require.NoError(b, err)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var plain struct {
			Role, ToolCallID, ToolName string
			Parts                      []struct{ Text string }
		}
		if err := json.Unmarshal(text, &plain); err != nil {
			b.Fatal(err)
		}
	}
}

func (n *numbersTable) closed() {
	store := benchStore(n, session.OS)
	use := func(from, to int) {
		for i := from; i < to; i++ {
			s, err := store.Open(context.Background(), fmt.Sprint("k", i))
			require.NoError(n, err)
			require.NoError(n, s.Append(context.Background(), session.User("x")))
			require.NoError(n, s.Close())
		}
	}
	use(0, 100)
	descriptors, heap := usedByProcess(n)
	use(100, 5100)
	after, heapAfter := usedByProcess(n)
	runtime.KeepAlive(store)
	n.row("closed sessions", fmt.Sprintf("%.1f bytes, %.3f descriptors each", (float64(heapAfter)-float64(heap))/5000, float64(after-descriptors)/5000),
		"0 and 0", "–")
}

func usedByProcess(t testing.TB) (descriptors int, heap uint64) {
	fds, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return len(fds), m.HeapAlloc
}

func TestClosedSessionsTakeNothing(t *testing.T) {
	const sessions = 1500
	ctx := context.Background()
	store, err := session.OpenDirectory(t.TempDir(), &session.Options{Durability: session.OS})
	require.NoError(t, err)
	use := func(n int) {
		for i := range n {
			s := open(t, store, fmt.Sprint("k", i))
			require.NoError(t, s.Append(ctx, session.User("x")))
			require.NoError(t, s.Close())
		}
	}
	use(10)
	descriptors, heap := usedByProcess(t)
	use(sessions)
	after, heapAfter := usedByProcess(t)
	runtime.KeepAlive(store)
	assert.LessOrEqual(t, after, descriptors+3) // other tests may take some, and their stores give theirs back late
	each := (int64(heapAfter) - int64(heap)) / sessions
	assert.Less(t, each, int64(25), "bytes of a closed session")
	t.Logf("%d closed sessions: %d descriptors, %d bytes each", sessions, after-descriptors, each)
}

// hostile are lines that a reader could be slow on, as often as n says.
var hostile = map[string]func(n int) []byte{
	"beginnings of lines": func(n int) []byte { return bytes.Repeat([]byte(`{"seq":`), n) },
	"ends of lines":       func(n int) []byte { return bytes.Repeat([]byte(`{"seq":1,"crc":"00000000"}`), n) },
	"one beginning, many ends": func(n int) []byte {
		return append([]byte(`{"seq":1`), bytes.Repeat([]byte(`,"crc":"00000000"}`), n)...)
	},
	"NULs":     func(n int) []byte { return make([]byte, 8*n) },
	"newlines": func(n int) []byte { return bytes.Repeat([]byte("\n"), 8*n) },
	"parents that are missing": func(n int) []byte {
		var b bytes.Buffer
		for i := range n / 8 {
			fmt.Fprintf(&b, `{"seq":%d,"id":"e%[1]d","parentId":"x","type":"custom"}`+"\n", i+1)
		}
		return b.Bytes()
	},
	"batches without an end": func(n int) []byte {
		var b bytes.Buffer
		for i := range n / 8 {
			fmt.Fprintf(&b, `{"seq":%d,"id":"e%[1]d","parentId":"x","type":"custom","batch":[%[1]d,1000000]}`+"\n", i+1)
		}
		return b.Bytes()
	},
}

// growths measures how the time of a reader grows with hostile logs: 8 times as long, and about 8 times as slow.
func (n *numbersTable) growths() {
	const small, factor = 200_000, 8
	for _, name := range slices.Sorted(maps.Keys(hostile)) {
		var took [2]time.Duration
		for i, count := range []int{small, factor * small} {
			text := hostile[name](count)
			took[i] = perOp(measure(func(b *testing.B) {
				for b.Loop() {
					_, _, err := session.CountedLines(text)
					require.NoError(b, err)
				}
			}))
		}
		n.row("a log of "+name+", 8 × as long", fmt.Sprintf("%v → %v, %.1f ×", took[0], took[1], float64(took[1])/float64(took[0])),
			"about 8 ×; a square is 64 ×", "–")
	}
}
