package winnow_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// BenchmarkManagerLoop is the loop of the README: the host appends to its log, drops the request, and the garbage
// collector runs before the next one. Only Prepare is timed; the collector and the host are not. An
// unedited request is the log itself; in an edited one old results are dropped; a full one is in a window of 200 000
// tokens, with a summary for most of the log.
func BenchmarkManagerLoop(b *testing.B) {
	for _, tt := range []struct {
		name   string
		keep   winnow.KeepPolicy
		window func(n int) int
	}{{"unedited", winnow.KeepAll, roomy}, {"edited", winnow.KeepCalls, roomy}, {"folded", "", roomy}, {"full", "", func(int) int { return 200_000 }}} {
		for _, n := range managerSizes {
			b.Run(tt.name+"/"+itoa(n), func(b *testing.B) {
				const more = 300
				var m *winnow.Manager
				var h []winnow.Message
				var took []time.Duration
				for k := range b.N {
					if k%more == 0 {
						h = append(transcript(n, clean), chat(more, 200)...)
						m = newManager(b, tt.window(n), &winnow.Options{Keep: tt.keep, Now: newClock().Now})
						_, err := m.Prepare(b.Context(), h[:n])
						require.NoError(b, err)
						_, err = m.Prepare(b.Context(), h[:n])
						require.NoError(b, err)
					}
					runtime.GC()
					start := time.Now()
					_, err := m.Prepare(b.Context(), h[:n+k%more+1])
					took = append(took, time.Since(start))
					require.NoError(b, err)
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[0]), "least-ns")
				b.ReportMetric(float64(took[len(took)/2]), "median-ns")
				b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
			})
		}
	}
}
