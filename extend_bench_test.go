package winnow_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

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
