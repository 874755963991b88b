package winnow_test

import (
	"crypto/sha256"
	"flag"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/mem"
)

// What the stages cost, next to what it costs to read the text once: the last columns of
//
//	go test -run '^$' -bench 'Pass|Repair|Limit|Prune|Truncate'
//
// say how many passes over the text an operation takes, by utf8.RuneCountInString (runepass/op) or by the
// estimator that the stage is given (estpass/op). See helpers_test.go for the transcript: for each 2 000
// messages 600 tool results, 5 MB of text.

var benchSizes = []int{2_000, 20_000}

var sink int

// pass reads every text of a history once.
type pass struct {
	unit string
	read func(h []winnow.Message)
}

var runePass = pass{"runepass/op", func(h []winnow.Message) {
	for i := range h {
		for k := range h[i].Parts {
			sink += utf8.RuneCountInString(h[i].Parts[k].Text)
		}
	}
}}

func estimatorPass(e winnow.Estimator) pass {
	return pass{"estpass/op", func(h []winnow.Message) {
		for i := range h {
			sink += e.Estimate(h[i])
		}
	}}
}

// bench runs f on a transcript of each size, and says how many passes it takes.
func bench(b *testing.B, kind transcriptKind, p pass, f func(h []winnow.Message)) {
	b.Helper()
	for _, n := range benchSizes {
		h := transcript(n, kind)
		b.Run(itoa(n), func(b *testing.B) {
			passes := ratio(func() { f(h) }, func() { p.read(h) })
			b.ReportAllocs()
			for b.Loop() {
				f(h)
			}
			b.ReportMetric(passes, p.unit)
		})
	}
}

// ratio returns what f costs in times of what base costs: the lower quartile of one by that of the other. They
// take turns, so that a machine that is busy for a while slows down both.
func ratio(f, base func()) float64 {
	const rounds, least = 12, 200 * time.Millisecond
	measure := func(f func(), times int) time.Duration {
		start := time.Now()
		for range times {
			f()
		}
		return time.Since(start)
	}
	times := max(1, int(measure(base, 1)/(10*(measure(f, 1)+1)))) // so that a quick f is not lost in the clock's ticks
	var ours, theirs []time.Duration
	for start := time.Now(); len(ours) < rounds || time.Since(start) < least; {
		theirs = append(theirs, measure(base, 1))
		ours = append(ours, measure(f, times)/time.Duration(times))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	return float64(ours[len(ours)/4]) / float64(theirs[len(theirs)/4])
}

// estimators are those that stages are run with: their default, and the manager's.
func estimators(b *testing.B, run func(b *testing.B, e winnow.Estimator)) {
	tokens, err := winnow.NewEstimator("")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("chars", func(b *testing.B) { run(b, winnow.CharsPerToken(4)) })
	b.Run("tokens", func(b *testing.B) { run(b, tokens) })
}

func BenchmarkPass(b *testing.B) {
	b.Run("runes", func(b *testing.B) { bench(b, clean, runePass, runePass.read) })
	estimators(b, func(b *testing.B, e winnow.Estimator) { bench(b, clean, runePass, estimatorPass(e).read) })
}

func BenchmarkRepairToolPairing(b *testing.B) {
	run := func(h []winnow.Message) { winnow.RepairToolPairing(h) }
	b.Run("clean", func(b *testing.B) { bench(b, clean, runePass, run) })
	b.Run("dirty", func(b *testing.B) { bench(b, dirty, runePass, run) })
	b.Run("dirty mixed scripts", func(b *testing.B) { bench(b, dirtyMixedScripts, runePass, run) })
}

func BenchmarkLimitHistoryTurns(b *testing.B) {
	limit := func(turns func(h []winnow.Message) int) func(b *testing.B) {
		return func(b *testing.B) {
			bench(b, clean, runePass, func(h []winnow.Message) { winnow.LimitHistoryTurns(h, turns(h)) })
		}
	}
	b.Run("within", limit(func([]winnow.Message) int { return 1_000_000 }))
	b.Run("counted", limit(func(h []winnow.Message) int { return len(h) / 2 })) // a limit that is not reached, of which the length says nothing
	b.Run("above", limit(func([]winnow.Message) int { return 100 }))
}

func BenchmarkPruneContext(b *testing.B) {
	prune := func(window int) func(b *testing.B, e winnow.Estimator) { // tokens for each message
		return func(b *testing.B, e winnow.Estimator) {
			o := &winnow.PruneOptions{Estimator: e}
			bench(b, clean, estimatorPass(e), func(h []winnow.Message) { winnow.PruneContext(h, len(h)*window, o) })
		}
	}
	b.Run("clearing", func(b *testing.B) { estimators(b, prune(100)) }) // trims what is long and clears most
	b.Run("mixed scripts", func(b *testing.B) {                         // the same where a fifth is not ASCII
		chars := winnow.CharsPerToken(4)
		o := &winnow.PruneOptions{Estimator: chars}
		bench(b, mixedScripts, estimatorPass(chars), func(h []winnow.Message) { winnow.PruneContext(h, len(h)*100, o) })
	})
	b.Run("trimming", func(b *testing.B) { estimators(b, prune(1_200)) })
	b.Run("idle", func(b *testing.B) { estimators(b, prune(3_000)) }) // all has to be read to know that nothing is to be done
	b.Run("small", func(b *testing.B) { estimators(b, prune(100_000)) })
}

func BenchmarkTruncateToolResults(b *testing.B) {
	truncate := func(window int) func(b *testing.B, e winnow.Estimator) {
		return func(b *testing.B, e winnow.Estimator) {
			o := &winnow.TruncateOptions{Estimator: e}
			bench(b, clean, estimatorPass(e), func(h []winnow.Message) { winnow.TruncateToolResults(h, window, o) })
		}
	}
	b.Run("many", func(b *testing.B) { estimators(b, truncate(8_000)) })    // cuts every third result
	b.Run("few", func(b *testing.B) { estimators(b, truncate(32_000)) })    // cuts one in a hundred
	b.Run("small", func(b *testing.B) { estimators(b, truncate(200_000)) }) // none is long enough
}

// BenchmarkTruncateResult cuts one result of 400 KB to 16 KB: the head, the end, and lines that report an error.
func BenchmarkTruncateResult(b *testing.B) {
	for _, tt := range []struct{ name, line string }{
		{"prose", "line %d of the output, which says nothing that matters\n"},
		{"log", "2026-03-01T12:00:01Z [INFO] server/http.go:%d: GET /api/v1/items?id=7 took 12ms key=value status: 200\n"},
		{"code", "\tif err := f.exec(ctx, list[%d], k); err != nil {\n\t\treturn fmt.Errorf(\"FetchRequest: %w\", err)\n\t}\n"},
		{"tests", "=== RUN   TestFoo%d\n--- PASS: TestFoo (0.00s)\n"},
		{"one error again", "retrying\nERROR connection refused\n"},
		{"failing tests", "=== RUN   TestFoo%d\n    foo_test.go:12: expected 1, got 2\n--- FAIL: TestFoo%d (0.00s)\n"},
	} {
		var text strings.Builder
		for i := 0; text.Len() < 400_000; i++ {
			text.WriteString(strings.ReplaceAll(tt.line, "%d", itoa(i)))
		}
		h := []winnow.Message{
			{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "run it"}}},
			{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindToolCall, ID: "c", Name: "exec"}}},
			{Role: winnow.RoleTool, ToolCallID: "c", Parts: []winnow.Part{{Text: text.String()}}},
		}
		o := &winnow.TruncateOptions{Estimator: winnow.CharsPerToken(4), MaxChars: 16_000}
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				winnow.TruncateToolResults(h, 1_000_000, o)
			}
		})
	}
}

// What the manager costs. See helpers_test.go for the transcripts: for each 2 000 messages 600 tool
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

// What a request of a recorded session costs, without a summarizer: Prepare alone, request by request. The garbage
// collector runs between sessions, so that none of its cycles is taken for a request.
//
//	go test -run TestReplayTimes -replay -recorded -v .
var replayTimes = flag.Bool("replay", false, "time the requests of recorded sessions")

func TestReplayTimes(t *testing.T) {
	if !*replayTimes {
		t.Skip("on request: -replay")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, window := range []int{64_000, 200_000} {
		var took []time.Duration
		total := time.Duration(0)
		for _, file := range recordedFiles(t, 18) {
			h := readNamed(t, file)
			runtime.GC()
			c := newClock()
			m := newManager(t, window, &winnow.Options{Now: c.Now})
			for n := range h {
				if h[n].Role != winnow.RoleAssistant {
					continue
				}
				c.follow(h[n].Time)
				start := time.Now()
				_, _ = m.Prepare(t.Context(), h[:n]) // an overflow takes its time too
				took = append(took, time.Since(start))
				total += took[len(took)-1]
			}
		}
		slices.Sort(took)
		at := func(share float64) time.Duration { return took[int(share*float64(len(took)-1))] }
		t.Logf("window %d: %d requests in %v; median %v, p90 %v, p99 %v, p99.9 %v, most %v", window, len(took),
			total.Round(time.Millisecond), at(0.5), at(0.9), at(0.99), at(0.999), at(1))
	}
}

var floorRequest *winnow.Request

// BenchmarkManagerLoop is the loop of the README: the host appends to its log, drops the request, and the garbage
// collector runs before the next one. Only Prepare is timed; the collector and the host are not. An
// unedited request is the log itself; in an edited one old results are dropped; a full one is in a window of 200 000
// tokens, with a summary for most of the log.
//
// The floor is what no call can avoid: behind a garbage collection of its own, the new message is estimated and a
// request is allocated. The same call again, with warm caches, shows what of the time is waiting for memory.
func BenchmarkManagerLoop(b *testing.B) {
	for _, tt := range []struct {
		name   string
		above  float64
		window func(n int) int
	}{{"unedited", 1, roomy}, {"folded", 0, roomy}, {"full", 0, func(int) int { return 200_000 }}} {
		for _, n := range managerSizes {
			b.Run(tt.name+"/"+itoa(n), func(b *testing.B) {
				const more = 300
				var m *winnow.Manager
				var h []winnow.Message
				var took, floor, again []time.Duration
				e, err := winnow.NewEstimator("")
				require.NoError(b, err)
				for k := range b.N {
					if k%more == 0 {
						h = append(transcript(n, clean), chat(more, 200)...)
						m = newManager(b, tt.window(n), &winnow.Options{FoldAbove: tt.above, Now: newClock().Now})
						_, err := m.Prepare(b.Context(), h[:n])
						require.NoError(b, err)
						_, err = m.Prepare(b.Context(), h[:n])
						require.NoError(b, err)
					}
					log := h[:n+k%more+1]
					runtime.GC()
					start := time.Now()
					sink += e.Estimate(log[len(log)-1])
					floorRequest = &winnow.Request{Messages: log}
					floor = append(floor, time.Since(start))

					runtime.GC()
					start = time.Now()
					_, err := m.Prepare(b.Context(), log)
					took = append(took, time.Since(start))
					require.NoError(b, err)

					start = time.Now()
					_, err = m.Prepare(b.Context(), log)
					again = append(again, time.Since(start))
					require.NoError(b, err)
				}
				slices.Sort(took)
				slices.Sort(floor)
				slices.Sort(again)
				b.ReportMetric(float64(took[0]), "least-ns")
				b.ReportMetric(float64(took[len(took)/2]), "median-ns")
				b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
				b.ReportMetric(float64(floor[0]), "least-floor-ns")
				b.ReportMetric(float64(floor[len(floor)/2]), "median-floor-ns")
				b.ReportMetric(float64(again[len(again)/2]), "median-again-ns")
			})
		}
	}
}
