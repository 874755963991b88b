package winnow_test

import (
	"crypto/sha256"
	"flag"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/mem"
)

// The benchmarks of BENCHMARKS.md. See helpers_test.go for the transcript: for each 2 000 messages 600 tool results, 5 MB
// of text.

var sink int

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
		h := list(userSays("run it"), modelCalls("c"), toolSays("c", text.String()))
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

var managerSizes = []int{200, 2_000, 20_000}

// BenchmarkPruneContext trims and clears old results of 4 KB, in a window that a third of them fill.
func BenchmarkPruneContext(b *testing.B) {
	for _, n := range managerSizes {
		var h []winnow.Message
		for i := 0; len(h) < n; i++ {
			if i%20 == 0 {
				h = append(h, userSays("do it"))
			}
			id := itoa(i)
			h = append(h, modelCalls(id), toolSays(id, strings.Repeat("line of the output, which says nothing\n", 100)))
		}
		b.Run(itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				winnow.PruneContext(h, n*200, nil)
			}
		})
	}
}

// roomy is a window in which a transcript of n messages fits and nothing is to be done, not even at first.
func roomy(n int) int { return max(n, 1_000) * 3_000 }

// BenchmarkManagerPrepare is the first request of a conversation.
func BenchmarkManagerPrepare(b *testing.B) {
	full := func(int) int { return 200_000 }
	for _, first := range []struct {
		name       string
		window     func(n int) int
		transcript func(n int) []winnow.Message
	}{
		{"first", roomy, transcript}, {"first full", full, transcript},
		{"first varied", roomy, variedTranscript}, {"first varied full", full, variedTranscript},
	} {
		b.Run(first.name, func(b *testing.B) {
			for _, n := range managerSizes {
				h := first.transcript(n)
				b.Run(itoa(n), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						prepare(b, newManager(b, first.window(n), &winnow.Options{Now: newClock().Now}), h)
					}
				})
			}
		})
	}
}

// BenchmarkEstimator is one pass of the default estimator over the text: what a first Prepare cannot avoid.
func BenchmarkEstimator(b *testing.B) {
	e := estimatorOf(b, "")
	for _, n := range managerSizes {
		h := transcript(n)
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
		h := transcript(n)
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
				e := estimatorOf(b, "")
				for k := range b.N {
					if k%more == 0 {
						h = append(transcript(n), chat(more, 200)...)
						m = newManager(b, tt.window(n), &winnow.Options{FoldAbove: tt.above, Now: newClock().Now})
						prepare(b, m, h[:n])
						prepare(b, m, h[:n])
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
