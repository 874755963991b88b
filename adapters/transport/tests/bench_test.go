package transport_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/winnowgo/winnow/adapters/transport"
)

// BenchmarkRequest is what the transport adds to a request with a history of 200 KB that goes on.
func BenchmarkRequest(b *testing.B) {
	for name, dir := range map[string]string{"memory": "", "directory": b.TempDir()} {
		b.Run(name, func(b *testing.B) {
			o := options(200_000, 0)
			o.Dir = dir
			tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
				return answer(200, "application/json", "{}"), nil
			}), o)
			if err != nil {
				b.Fatal(err)
			}
			var took []time.Duration
			for n := 0; b.Loop(); n++ {
				r := request("/v1/messages", messages(fmt.Sprint("book ", n/40), 50+n%40)) // 40 requests each
				begin := time.Now()
				res, err := tr.RoundTrip(r)
				took = append(took, time.Since(begin))
				if err != nil {
					b.Fatal(err)
				}
				_ = res.Body.Close()
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}
