// Package proxy is Winnow as a reverse proxy, for agents in any language.
package proxy

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/transport"
)

// Options are the options of [New].
type Options struct {
	To            *url.URL // the provider's base address
	Window        int      // of the model, in tokens (0: by its name)
	FoldAbove     float64  // see winnow.Options (0: its default)
	Dir           string   // where conversations are kept for the next process ("": nowhere)
	Conversations int      // how many are kept in memory (0: the transport's default)
	Memory        int64    // how much they may take, in bytes (0: the transport's default)
	MaxBody       int64    // of a request, in bytes; a larger one is refused with status 413 (256 MB)
	Summarize     string   // the model that writes summaries, with the client's key ("": code writes them)
	MarkCache     bool     // set Anthropic's cache markers for a client that sets none at all
	Recall        bool     // offer the model what was left out, see transport.Options
	Inspect       bool     // GET /winnow/NAME shows a conversation, with its texts
	Logger        *slog.Logger
	Base          http.RoundTripper // how the provider is reached (nil: http.DefaultTransport)
}

// DefaultMaxBody is the default of Options.MaxBody.
const DefaultMaxBody = 256 << 20

// New returns the handler of a proxy: GET /winnow/, /metrics and /healthz are its own, and all else goes to the
// provider. Keys pass through, and are neither kept nor logged.
func New(o Options) (http.Handler, error) {
	if o.To == nil || o.To.Host == "" || o.To.Scheme != "http" && o.To.Scheme != "https" {
		return nil, errors.New("the provider's address is no http or https URL")
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	f := &figures{now: time.Now, conversations: map[string]*row{}, links: o.Inspect}
	t, err := transport.New(o.Base, &transport.Options{
		Manager: func(*http.Request, string) (int, *winnow.Options) {
			return o.Window, &winnow.Options{FoldAbove: o.FoldAbove}
		},
		Conversations: o.Conversations, Memory: o.Memory, Dir: o.Dir, MarkCache: o.MarkCache, Summarize: o.Summarize,
		Recall: o.Recall, Logger: o.Logger, Done: f.note,
	})
	if err != nil {
		return nil, err
	}
	to := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(o.To) // the host too: whatever address the client asked for, the provider gets the request
		},
		Transport: t,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			o.Logger.Warn("winnow: the provider cannot be reached", "path", r.URL.Path, "error", err)
			status := http.StatusBadGateway
			if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
				status = http.StatusRequestEntityTooLarge
			}
			w.WriteHeader(status)
		},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /winnow/{$}", f.page)
	if o.Inspect {
		mux.HandleFunc("GET /winnow/{name}", func(w http.ResponseWriter, r *http.Request) {
			f.inspect(w, r, t.History(r.PathValue("name")))
		})
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(f)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	own := map[string]bool{"/healthz": true, "/metrics": true}
	return http.MaxBytesHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.IsAbs(), r.Method == http.MethodConnect, slices.Contains(strings.Split(r.URL.Path, "/"), ".."):
			http.Error(w, "winnow: no such path", http.StatusBadRequest) // it would leave the provider's address
		case own[r.URL.Path], strings.HasPrefix(r.URL.Path, "/winnow/"):
			mux.ServeHTTP(w, r)
		default:
			to.ServeHTTP(w, r)
		}
	}), o.MaxBody), nil
}
