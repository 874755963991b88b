package main

import (
	"context"
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

func (p *program) proxy(ctx context.Context, args []string) (code int, err error) {
	f := p.flags
	listen := f.String("listen", "127.0.0.1:8080", "where clients reach the proxy (127.0.0.1:8080)")
	to := f.String("to", "", "the provider: https://api.anthropic.com, https://api.openai.com, …")
	public := f.Bool("public", false, "allows an address that others can reach")
	cert, key := f.String("cert", "", "a certificate in PEM, for TLS to clients"), f.String("key", "", "its key")
	var o proxy.Options
	f.StringVar(&o.Dir, "state", "", "a directory that keeps the conversations over a restart")
	f.IntVar(&o.Window, "window", 0, "the context window, in tokens (that of the model)")
	f.Float64Var(&o.FoldAbove, "fold-above", 0, "from which share of the window old work becomes records (0.2)")
	f.IntVar(&o.Conversations, "conversations", 0, "how many are kept in memory (1000)")
	f.Int64Var(&o.Memory, "memory", 0, "how much they take about, in bytes (1 GB)")
	f.Int64Var(&o.MaxBody, "max-body", 0, "the largest request, in bytes (256 MB)")
	f.StringVar(&o.Summarize, "summarize", "", "the model that writes summaries, with the client's key (none)")
	f.BoolVar(&o.MarkCache, "mark-cache", false, "sets Anthropic's cache markers for clients that set none")
	f.BoolVar(&o.Recall, "recall", false, "offers the model a tool that shows what was left out, and answers its calls")
	f.BoolVar(&o.Inspect, "inspect", false, "shows each conversation with its texts to who opens /winnow/")
	if _, err := p.parse(args, 0, 0); err != nil {
		return 0, err
	}
	if o.To, err = url.Parse(*to); err != nil || *to == "" {
		return 0, problemf("proxy: -to says where requests go, as in -to https://api.anthropic.com")
	}
	if !*public && !isLoopback(*listen) {
		return 0, problemf("proxy: %s can be reached from elsewhere; -public allows that", *listen)
	}
	o.Logger = slog.New(slog.NewTextHandler(p.stderr, nil))
	handler, err := proxy.New(o)
	if err != nil {
		return 0, problemf("proxy: %v", err)
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return 0, problemf("proxy: %v", err)
	}
	scheme := "http"
	if *cert != "" {
		scheme = "https"
	}
	fmt.Fprintf(p.stdout, "winnow proxy: %s://%s to %s; %[1]s://%[2]s/winnow/ shows the conversations\n",
		scheme, l.Addr(), o.To.Host)
	return exitOK, serve(ctx, l, handler, *cert, *key)
}

// serve serves until ctx ends, and then lets answers come to their end.
func serve(ctx context.Context, l net.Listener, h http.Handler, cert, key string) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 5 * time.Minute}
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
