package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/winnowgo/winnow/cmd/winnow/internal/proxy"
)

// shutdownTime is how long answers may go on when the proxy is stopped.
const shutdownTime = 30 * time.Second

// proxyFlags are those of winnow proxy.
type proxyFlags struct {
	proxy.Options
	listen, cert, key string
	isPublic          bool
}

func (p *program) proxyFlags() *proxyFlags {
	o, f := &proxyFlags{}, p.flags
	f.StringVar(&o.listen, "listen", "127.0.0.1:8080", "where clients reach the proxy (127.0.0.1:8080)")
	f.Func("to", "a provider, as https://api.mistral.ai; more than once: the path begins with a host, "+
		"as /api.mistral.ai/v1\n                    "+
		"(by the API: Anthropic, OpenAI or Gemini; or any host with which the path begins)",
		func(s string) error {
			u, err := url.Parse(s)
			o.To = append(o.To, u)
			return err
		})
	f.Func("host", "a host name with dots under which clients ask for the proxy; more than once (the certificate's)",
		func(s string) error { o.Names = append(o.Names, s); return nil })
	f.BoolVar(&o.isPublic, "public", false, "allows an address that others can reach")
	f.StringVar(&o.cert, "cert", "", "a certificate in PEM, for TLS to clients")
	f.StringVar(&o.key, "key", "", "its key")
	f.StringVar(&o.Dir, "state", "", "a directory that keeps the conversations over a restart")
	f.IntVar(&o.Window, "window", 0, "the context window, in tokens (that of the model)")
	f.Float64Var(&o.FoldAbove, "fold-above", 0,
		"from which share of the window old work becomes records; -1: from the first request on (0.2)")
	f.IntVar(&o.Conversations, "conversations", 0, "how many are kept in memory (1000)")
	f.Int64Var(&o.Memory, "memory", 0, "how much they take about, in bytes (1 GB)")
	f.Int64Var(&o.MaxBody, "max-body", 0, "the largest request, in bytes (256 MB)")
	f.StringVar(&o.Summarize, "summarize", "", "the model that writes summaries, with the client's key (none)")
	f.BoolVar(&o.MarkCache, "mark-cache", false, "sets cache markers for clients that set none")
	f.BoolVar(&o.Recall, "recall", false, "offers the model a tool that shows what was left out, and answers its calls")
	f.Float64Var(&o.Shadow, "shadow", 0, "for this share of the requests the client's own history is asked too, and "+
		"compared: it spends\n                    the client's money (none)")
	f.Float64Var(&o.ShadowBudget, "shadow-budget", 1, "what that may cost, in dollars a day (1)")
	f.BoolVar(&o.Inspect, "inspect", false, "shows each conversation with its texts to who opens /winnow/")
	return o
}

func (p *program) proxy(ctx context.Context, args []string) (code int, err error) {
	o := p.proxyFlags()
	if _, err := p.parse(args, 0, 0); err != nil {
		return 0, err
	}
	if !(o.Shadow >= 0 && o.Shadow <= 1) || !(o.ShadowBudget > 0) {
		return 0, problemf("proxy: -shadow wants a share, as 0.02, and -shadow-budget dollars")
	}
	if !o.isPublic && !isLoopback(o.listen) {
		return 0, problemf("proxy: %s can be reached from elsewhere; -public allows that", o.listen)
	}
	if o.isPublic && len(o.To) == 0 {
		return 0, problemf("proxy: with -public, -to says where requests may go, as in -to https://api.anthropic.com")
	}
	if host, _, err := net.SplitHostPort(o.listen); err == nil {
		o.Names = append(o.Names, host)
	}
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return 0, problemf("proxy: %v", err)
		}
		o.Names = append(o.Names, proxy.NamesIn(pair)...)
	}
	o.Logger = slog.New(slog.NewTextHandler(p.stderr, nil))
	handler, err := proxy.New(o.Options)
	if err != nil {
		return 0, problemf("proxy: %v", err)
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return 0, problemf("proxy: %v", err)
	}
	scheme := "http"
	if o.cert != "" {
		scheme = "https"
	}
	to := "Anthropic, OpenAI and Gemini, and others by their host in the path"
	for i, u := range o.To {
		if to += ", " + u.Host; i == 0 {
			to = u.Host
		}
	}
	fmt.Fprintf(p.stdout, "winnow proxy: %s://%s to %s; %[1]s://%[2]s/winnow/ shows the conversations\n",
		scheme, l.Addr(), to)
	return exitOK, serve(ctx, l, handler, o.cert, o.key)
}

// serve serves until ctx ends, and then lets answers come to their end.
func serve(ctx context.Context, l net.Listener, h http.Handler, cert, key string) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 5 * time.Minute, Protocols: &http.Protocols{},
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	ended := make(chan error, 1)
	go func() {
		if cert != "" {
			ended <- server.ServeTLS(l, cert, key)
		} else {
			ended <- server.Serve(l)
		}
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if err := server.Shutdown(stopping); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}

// isLoopback reports whether an address can be reached from this machine alone.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}
