package proxy

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkStreams has 200 clients with histories of 200 KB at once: how long each waits for the first byte of a stream,
// by the proxy and by the provider alone, which answers after 300 ms.
func BenchmarkStreams(b *testing.B) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(300 * time.Millisecond)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: ping\ndata: {}\n\n")
	}))
	defer upstream.Close()
	to, err := url.Parse(upstream.URL)
	if err != nil {
		b.Fatal(err)
	}
	h, err := New(Options{To: []*url.URL{to}, Window: 200_000, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	const clients = 200
	history := func(client, turns int) string {
		var s strings.Builder
		s.WriteString(`{"model":"m","stream":true,"messages":[`)
		for n := range turns {
			fmt.Fprintf(&s, `{"role":"user","content":"Client %d, %d"},{"role":"assistant","content":%q},`, client, n,
				strings.Repeat("all is well here; ", 220))
		}
		fmt.Fprintf(&s, `{"role":"user","content":"Client %d, %d"}]}`, client, turns)
		return s.String()
	}
	run := func(b *testing.B, address string) {
		c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
		var mu sync.Mutex
		var took []time.Duration
		for turn := 0; b.Loop(); turn++ {
			var wait sync.WaitGroup
			for k := range clients {
				wait.Go(func() {
					time.Sleep(time.Duration(k) * 20 * time.Millisecond) // they come over four seconds
					body := history(k, 50+turn)
					begin := time.Now()
					res, err := c.Post(address+"/v1/messages", "application/json", strings.NewReader(body))
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.ReadFull(res.Body, make([]byte, 1))
					mu.Lock()
					if took = append(took, time.Since(begin)); turn == 0 {
						took = took[:0] // connections are made, and histories are new
					}
					mu.Unlock()
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				})
			}
			wait.Wait()
		}
		if len(took) == 0 {
			return
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3-300, "median-ms")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1e3-300, "p99-ms")
	}
	b.Run("alone", func(b *testing.B) { run(b, upstream.URL) })
	b.Run("proxy", func(b *testing.B) { run(b, server.URL) })
}
