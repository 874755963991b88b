package winnow_test

import (
	"crypto/sha256"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/mem"
)

// What the manager costs. See transcript_test.go for the transcripts: for each 2 000 messages 600 tool
// results, 5 MB of text.

var managerSizes = []int{200, 2_000, 20_000}

// roomy is a window in which a transcript of n messages fits and nothing is to be done, not even at first.
func roomy(n int) int { return max(n, 1_000) * 3_000 }

// benchManager runs f with a manager that has sent a transcript, for each size.
func benchManager(b *testing.B, kind transcriptKind, f func(b *testing.B, m *winnow.Manager, h []winnow.Message)) {
	b.Helper()
	for _, n := range managerSizes {
		b.Run(itoa(n), func(b *testing.B) {
			h := transcript(n, kind)
			m := newManager(b, roomy(len(h)), &winnow.Options{Now: newClock().Now})
			_, err := m.Prepare(b.Context(), h)
			require.NoError(b, err)
			b.ReportAllocs()
			f(b, m, h)
		})
	}
}

// BenchmarkManagerPrepare is one request of a conversation that goes on.
func BenchmarkManagerPrepare(b *testing.B) {
	again := func(b *testing.B, m *winnow.Manager, h []winnow.Message) {
		for b.Loop() {
			_, err := m.Prepare(b.Context(), h)
			require.NoError(b, err)
		}
	}
	b.Run("unchanged", func(b *testing.B) { benchManager(b, clean, again) })
	b.Run("unchanged dirty", func(b *testing.B) { benchManager(b, dirty, again) }) // pairing is repaired in a view each time
	b.Run("one more", func(b *testing.B) {                                         // a message that was never seen, behind a list that only grows
		for _, n := range managerSizes {
			b.Run(itoa(n), func(b *testing.B) {
				const more = 2_000
				h := append(transcript(n, clean), chat(more/2, 800)...)
				var m *winnow.Manager
				b.ReportAllocs()
				for k := more; b.Loop(); k++ {
					if k == more {
						b.StopTimer()
						k = 0
						m = newManager(b, roomy(n), &winnow.Options{Now: newClock().Now})
						_, err := m.Prepare(b.Context(), h[:n])
						require.NoError(b, err)
						b.StartTimer()
					}
					_, err := m.Prepare(b.Context(), h[:n+k+1])
					require.NoError(b, err)
				}
			})
		}
	})
	full := func(int) int { return 200_000 }
	for _, first := range []struct {
		name   string
		window func(n int) int
		kind   transcriptKind
	}{{"first", roomy, clean}, {"first full", full, clean}, {"first varied", roomy, varied}, {"first varied full", full, varied}} {
		b.Run(first.name, func(b *testing.B) {
			for _, n := range managerSizes {
				h := transcript(n, first.kind)
				b.Run(itoa(n), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						m := newManager(b, first.window(n), &winnow.Options{Now: newClock().Now})
						_, err := m.Prepare(b.Context(), h)
						require.NoError(b, err)
					}
				})
			}
		})
	}
}

// BenchmarkEstimator is one pass of the default estimator over the text: what a first Prepare cannot avoid.
func BenchmarkEstimator(b *testing.B) {
	e, err := winnow.NewEstimator("")
	require.NoError(b, err)
	for _, n := range managerSizes {
		h := transcript(n, clean)
		b.Run(itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink += estimateAll(e, h)
			}
		})
	}
}

// BenchmarkFirstFloor is the other passes over the text that a first Prepare takes: the identities of all messages, and
// the names in what becomes records.
func BenchmarkFirstFloor(b *testing.B) {
	for _, n := range managerSizes {
		h := transcript(n, clean)
		each := func(f func(text string)) {
			for i := range h {
				for k := range h[i].Parts {
					f(h[i].Parts[k].Text)
				}
			}
		}
		b.Run("sha256/"+itoa(n), func(b *testing.B) {
			for b.Loop() {
				each(func(text string) { sum := sha256.Sum256(mem.Bytes(text)); sink += int(sum[0]) })
			}
		})
		b.Run("names/"+itoa(n), func(b *testing.B) {
			for b.Loop() {
				each(func(text string) { identifier.Scan(text, func(string, identifier.Kind) { sink++ }) })
			}
		})
	}
}

func BenchmarkManagerPlan(b *testing.B) {
	benchManager(b, clean, func(b *testing.B, m *winnow.Manager, h []winnow.Message) {
		for b.Loop() {
			sink += m.Plan(h).Tokens
		}
	})
}

// BenchmarkManagerCompact is all that is around the calls of a summarizer, which here answers at once; and,
// for comparison, with the digest in its place. estpass/op is in passes of the estimator over the same text.
func BenchmarkManagerCompact(b *testing.B) {
	for _, s := range []struct {
		name string
		s    winnow.Summarizer
	}{{"around a summarizer", says("## Goal\n" + strings.Repeat("word ", 4_000))}, {"digest", winnow.Digest()}} {
		b.Run(s.name, func(b *testing.B) {
			benchManager(b, clean, func(b *testing.B, m *winnow.Manager, h []winnow.Message) {
				state, err := m.Snapshot()
				require.NoError(b, err)
				o := &winnow.Options{Now: newClock().Now, Summarizer: s.s, Compact: &winnow.CompactOptions{KeepRecent: 1_000}}
				e, err := winnow.NewEstimator("")
				require.NoError(b, err)
				var pass time.Duration
				for b.Loop() {
					b.StopTimer()
					start := time.Now()
					sink += estimateAll(e, h)
					pass += time.Since(start)
					m := newManager(b, roomy(len(h)), o)
					require.NoError(b, m.Restore(state))
					m.Plan(h) // so that the messages are known
					b.StartTimer()
					_, err := m.Compact(b.Context(), h, "")
					require.NoError(b, err)
				}
				b.ReportMetric(float64(b.Elapsed())/float64(pass), "estpass/op")
			})
		})
	}
}

func BenchmarkManagerSnapshot(b *testing.B) {
	b.Run("save", func(b *testing.B) {
		benchManager(b, clean, func(b *testing.B, m *winnow.Manager, _ []winnow.Message) {
			for b.Loop() {
				state, err := m.Snapshot()
				require.NoError(b, err)
				b.SetBytes(int64(len(state)))
			}
		})
	})
	b.Run("restore", func(b *testing.B) {
		benchManager(b, clean, func(b *testing.B, m *winnow.Manager, _ []winnow.Message) {
			state, err := m.Snapshot()
			require.NoError(b, err)
			b.SetBytes(int64(len(state)))
			for b.Loop() {
				require.NoError(b, m.Restore(state))
			}
		})
	})
}

// BenchmarkManagerIdle is the memory that a manager holds between requests, beyond the host's own history.
func BenchmarkManagerIdle(b *testing.B) {
	for _, tt := range []struct {
		name   string
		window int
		above  float64
	}{{"unedited", roomy(2_000), 1}, {"folded", roomy(2_000), 0}, {"full", 200_000, 0}} {
		b.Run(tt.name, func(b *testing.B) {
			const managers = 10
			h := transcript(2_000, clean)
			for b.Loop() {
				held := make([]*winnow.Manager, managers)
				before := heapBytes()
				for k := range held {
					c := newClock()
					held[k] = newManager(b, tt.window, &winnow.Options{Now: c.Now, FoldAbove: tt.above})
					for n := 200; n <= len(h); n += 200 {
						_, err := held[k].Prepare(b.Context(), h[:n])
						require.NoError(b, err)
						c.pass(time.Minute)
					}
				}
				b.ReportMetric(float64(heapBytes()-before)/float64(managers*len(h)), "bytes/message")
				runtime.KeepAlive(held)
			}
			runtime.KeepAlive(h)
		})
	}
}

// heapBytes is what is reachable.
func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// BenchmarkManagers is a process with 10 000 conversations, each some way in, of which one after the other asks for
// its request: what a manager takes and how many requests a second there are. The
// garbage collector may run between all requests, which is not timed.
func BenchmarkManagers(b *testing.B) {
	const managers = 10_000
	histories := make([][]winnow.Message, 64) // of few texts, so that the managers are what memory is for
	for k := range histories {
		histories[k] = transcript(200, clean)
	}
	each := 0.0 // bytes
	prepared := func(b *testing.B, request func(k int, h []winnow.Message, m *winnow.Manager) error) []*winnow.Manager {
		held := make([]*winnow.Manager, managers)
		before := heapBytes()
		for k := range held {
			held[k] = newManager(b, roomy(200), &winnow.Options{Now: newClock().Now})
			for range 2 {
				require.NoError(b, request(k, histories[k%len(histories)], held[k]))
			}
		}
		each = float64(heapBytes()-before) / managers
		return held
	}
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		b.ReportMetric(each, "bytes/manager")
	}
	drop := func(_ int, h []winnow.Message, m *winnow.Manager) error {
		_, err := m.Prepare(b.Context(), h)
		return err
	}
	b.Run("dropped", func(b *testing.B) {
		held := prepared(b, drop)
		var next atomic.Int64
		b.ReportAllocs()
		b.ResetTimer()
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				k := int(next.Add(1)) % managers
				if err := drop(k, histories[k%len(histories)], held[k]); err != nil {
					b.Error(err)
					return
				}
			}
		})
		report(b)
	})
	b.Run("dropped and collected", func(b *testing.B) {
		held := prepared(b, drop)
		b.ReportAllocs()
		b.ResetTimer()
		for k := range b.N {
			b.StopTimer()
			runtime.GC()
			b.StartTimer()
			require.NoError(b, drop(0, histories[k%managers%len(histories)], held[k%managers]))
		}
		report(b)
	})
}
