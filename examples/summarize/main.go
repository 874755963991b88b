// Command summarize compacts a conversation with a model behind any OpenAI-compatible endpoint and prints the
// summary that would stand for its older part.
//
//	go run ./examples/summarize                # the built-in session, by the digest: no model, no network
//	go run ./examples/summarize -url http://localhost:11434/v1 -model qwen3 -in session.jsonl
//	OPENAI_API_KEY=… go run ./examples/summarize -url https://api.openai.com/v1 -model gpt-4.1-mini <session.jsonl
//
// The session is messages in JSON Lines or one JSON array, as winnow.ReadMessages takes them, plain or gzipped. The
// digest, which needs no model, writes the summary if no model is given, and with -fallback if the endpoint does not
// answer.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// config holds the flags.
type config struct {
	url, model, key  string
	in               string
	window, ownLimit int
	keep             int
	focus            string
	fallback         bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var stdin io.Reader = os.Stdin
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		stdin = nil // a terminal: nobody types in a session
	}
	if err := run(ctx, os.Args[1:], stdin, os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "summarize:", err)
		os.Exit(1)
	}
}

func parse(args []string, stderr io.Writer) (config, error) {
	var c config
	f := flag.NewFlagSet("summarize", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&c.url, "url", "http://localhost:11434/v1", "the endpoint, without /chat/completions")
	f.StringVar(&c.model, "model", "", "the model that writes the summary; empty: none, the digest does")
	f.StringVar(&c.in, "in", "", "the session; empty: standard input or, at a terminal, the built-in session")
	f.IntVar(&c.window, "window", 200_000, "context window of the model that the conversation is with, tokens")
	f.IntVar(&c.ownLimit, "summarizer-window", 0, "context window of -model, tokens (that of -window)")
	f.IntVar(&c.keep, "keep", 0, "newest tokens that stay as they are (20 000, at most a quarter of the window)")
	f.StringVar(&c.focus, "focus", "", "what the summary should look at in particular")
	f.BoolVar(&c.fallback, "fallback", false, "let the digest stand in when the endpoint does not answer")
	if err := f.Parse(args); err != nil {
		return c, err
	}
	if f.NArg() > 0 {
		return c, fmt.Errorf("unexpected argument %q; a session is given as -in %[1]s", f.Arg(0))
	}
	c.key = os.Getenv("OPENAI_API_KEY")
	return c, nil
}

// run prints the summary of a session. A nil stdin means that nothing is piped in.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	c, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if c.in == "" && stdin == nil {
		c.in = recording.Builtin()
		c.keep = cmp.Or(c.keep, 4_000) // so that enough is left to summarize
	}
	if c.in != "" {
		file, err := os.Open(c.in)
		if err != nil {
			return err
		}
		defer file.Close()
		stdin = file
	}
	data, err := io.ReadAll(stdin)
	if err != nil {
		return err
	}
	history, err := recording.Read(data)
	if err != nil {
		return err
	}
	r, err := compact(ctx, c, history)
	if err != nil {
		return err
	}
	report := r.Compaction
	fmt.Fprintf(stderr, "%d messages, %d tokens → %d messages, %d tokens", len(history), report.TokensBefore,
		len(r.Messages), report.TokensAfter)
	if c.model != "" {
		fmt.Fprintf(stderr, "; %d calls", report.Calls)
	}
	if len(report.Repaired) > 0 {
		fmt.Fprintf(stderr, "; added by code: %q", report.Repaired)
	}
	if report.Degraded {
		fmt.Fprint(stderr, "; by the digest")
	}
	fmt.Fprintln(stderr)
	_, err = fmt.Fprintln(stdout, report.Summary)
	return err
}

// compact does what a host does, but without a conversation: a manager calls the summarizer when a request no longer
// fits, and here at once.
func compact(ctx context.Context, c config, history []winnow.Message) (*winnow.Request, error) {
	var summarizer winnow.Summarizer = &endpoint{url: c.url, model: c.model, key: c.key, client: http.DefaultClient}
	switch {
	case c.model == "":
		summarizer = winnow.Digest()
	case c.fallback:
		summarizer = winnow.FirstOf(time.Minute, summarizer, winnow.Digest())
	}
	m, err := winnow.New(c.window, &winnow.Options{
		Summarizer: summarizer,
		Compact:    &winnow.CompactOptions{KeepRecent: c.keep, SummarizerWindow: c.ownLimit},
	})
	if err != nil {
		return nil, err
	}
	return m.Compact(ctx, history, c.focus)
}
