package winnow_test

import (
	"flag"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/winnowgo/winnow"
)

// What a request of a recorded session costs, without a summarizer: Prepare alone, request by request. The garbage
// collector runs between sessions, so that none of its cycles is taken for a request.
//
//	go test -run TestReplayTimes -replay -corpus all -v .
var replayTimes = flag.Bool("replay", false, "time the requests of recorded sessions")

func TestReplayTimes(t *testing.T) {
	if !*replayTimes {
		t.Skip("on request: -replay")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, window := range []int{64_000, 200_000} {
		var took []time.Duration
		total := time.Duration(0)
		for _, file := range corpusFiles(t) {
			h := readCorpus(t, file)
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
