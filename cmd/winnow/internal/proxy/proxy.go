// Package proxy is Winnow as a reverse proxy, for agents in any language.
package proxy

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/transport"
)

// Options are the options of [New].
type Options struct {
	To            []*url.URL // base addresses of providers; the first one is for paths without one (none: see [New])
	Names         []string   // host names with dots under which it is asked for, besides numbers
	Window        int        // of the model, in tokens (0: by its name)
	FoldAbove     float64    // see winnow.Options (0: its default)
	Dir           string     // where conversations are kept for the next process ("": nowhere)
	Conversations int        // how many are kept in memory (0: the transport's default)
	Memory        int64      // how much they may take, in bytes (0: the transport's default)
	MaxBody       int64      // of a request, in bytes; a larger one is refused with status 413 (256 MB)
	Summarize     string     // the model that writes summaries, with the client's key ("": code writes them)
	MarkCache     bool       // set cache markers for a client that sets none at all
	Recall        bool       // offer the model what was left out, see transport.Options
	Inspect       bool       // GET /winnow/NAME shows a conversation, with its texts
	Shadow        float64    // the share of requests that are compared with the client's own history (0: none)
	ShadowBudget  float64    // what that may cost, in dollars a day ($1)
	Logger        *slog.Logger
	Base          http.RoundTripper // how the provider is reached (nil: http.DefaultTransport)
}

// DefaultMaxBody is the default of Options.MaxBody.
const DefaultMaxBody = 256 << 20

// New returns the handler of a proxy: GET /winnow/, /metrics and /healthz are its own, and all else goes to a provider:
// to that whose host the path begins with (/api.openai.com/v1/responses), or else to the first of Options.To. Without
// Options.To, a path may begin with any host, and another one goes to Anthropic, OpenAI or Google, by its API. Keys
// pass through, and are neither kept nor logged.
//
// A request for a host name that may be somebody else's is refused.
func New(o Options) (http.Handler, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	f := &figures{now: time.Now, conversations: map[string]*row{}, links: o.Inspect, window: o.Window}
	base := o.Base
	if o.Shadow > 0 {
		f.shadow = newShadow(&o, f.now)
		base = sender{f.shadow}
	}
	var t *transport.Transport
	done := f.note
	if f.shadow != nil {
		done = func(x transport.Exchange) {
			f.note(x)
			f.shadow.note(&x, t.History)
		}
	}
	t, err := transport.New(base, &transport.Options{
		Manager: func(*http.Request, string) (int, *winnow.Options) {
			return o.Window, &winnow.Options{FoldAbove: o.FoldAbove}
		},
		Conversations: o.Conversations, Memory: o.Memory, Dir: o.Dir, MarkCache: o.MarkCache, Summarize: o.Summarize,
		Recall: o.Recall, Logger: o.Logger, Done: done, MaxBody: o.MaxBody,
		Decompress: func(encoding string, body io.Reader) (io.Reader, error) {
			if encoding != "zstd" { // Codex sends it where a setting of its maker says so
				return nil, errors.ErrUnsupported
			}
			return zstd.NewReader(body, zstd.WithDecoderConcurrency(1)) // no goroutines, so nothing to close
		},
	})
	if err != nil {
		return nil, err
	}
	var through http.RoundTripper = t
	if f.shadow != nil {
		f.shadow.next = t
		through = f.shadow
	}
	return o.front(o.own(f, t), o.provider(through)), nil
}

// complete sets what is not set, and refuses what is no address of a provider.
func (o *Options) complete() error {
	for _, to := range o.To {
		if to == nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
			return fmt.Errorf("%v is no http or https address of a provider", to)
		}
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.ShadowBudget <= 0 {
		o.ShadowBudget = 1
	}
	return nil
}

// provider passes requests on to providers.
func (o *Options) provider(through http.RoundTripper) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			to, rest := providerOf(r.In, o.To)
			raw := r.In.URL.EscapedPath()
			if rest != r.In.URL.Path { // without the host
				_, raw, _ = strings.Cut(raw[1:], "/")
				raw = "/" + raw
			}
			r.Out.URL.Path, r.Out.URL.RawPath = rest, raw // a slash that is escaped in the name of a model stays so

			r.SetURL(to) // the host too: whatever address the client asked for, the provider gets the request
		},
		Transport: through,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
				o.Logger.Warn("winnow: a request is refused", "path", r.URL.Path,
					"reason", "it is larger than -max-body", "bytes", o.MaxBody)
				http.Error(w, fmt.Sprintf("winnow: the request is larger than -max-body, %d bytes", o.MaxBody),
					http.StatusRequestEntityTooLarge)
				return
			}
			http.Error(w, fmt.Sprintf("winnow: %s does not answer: %v", r.URL.Host, err), http.StatusBadGateway)
		},
	}
}

// own serves what is the proxy's own.
func (o *Options) own(f *figures, t *transport.Transport) http.Handler {
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
	return mux
}

// front divides the requests between what is the proxy's own and the providers, and refuses those for another host.
func (o *Options) front(mine, to http.Handler) http.Handler {
	own := map[string]bool{"/healthz": true, "/metrics": true}
	return http.MaxBytesHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.IsAbs(), r.Method == http.MethodConnect, slices.Contains(strings.Split(r.URL.Path, "/"), ".."):
			http.Error(w, "winnow: no such path", http.StatusBadRequest) // it would leave the provider's address
		case !isOwnName(r.Host, o.Names):
			o.Logger.Warn("winnow: a request is refused", "path", r.URL.Path, "reason", "it asks for another host",
				"host", r.Host)
			http.Error(w, "winnow: the proxy is asked for as localhost, or by its number or one of its own names",
				http.StatusForbidden)
		case own[r.URL.Path], strings.HasPrefix(r.URL.Path, "/winnow/"):
			mine.ServeHTTP(w, r)
		default:
			to.ServeHTTP(w, r)
		}
	}), o.MaxBody)
}
