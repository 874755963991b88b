// Command summarize compacts a conversation with a model behind any OpenAI-compatible endpoint and prints the
// summary that would stand for its older part.
//
//	go run ./examples/summarize                # a recorded session, by the digest: no model, no network
//	go run ./examples/summarize -url http://localhost:11434/v1 -model qwen3 -in session.jsonl
//	OPENAI_API_KEY=… go run ./examples/summarize -url https://api.openai.com/v1 -model gpt-4.1-mini -in session.jsonl
//
// The session is messages in JSON Lines or one JSON array, as winnow.ReadMessages takes them, plain or gzipped. The
// digest, which needs no model, writes the summary if no model is given, and with -fallback if the endpoint does not
// answer.
package main

import (
	"context"
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
	url, model, in, focus string
	window, keep          int
	fallback              bool
}

func main() {
	var c config
	flag.StringVar(&c.url, "url", "http://localhost:11434/v1", "the endpoint, without /chat/completions")
	flag.StringVar(&c.model, "model", "", "the model that writes the summary; empty: none, the digest does")
	flag.StringVar(&c.in, "in", "examples/quickstart/sessions/english.jsonl.gz", "the session")
	flag.IntVar(&c.window, "window", 200_000, "context window of the model that the conversation is with, tokens")
	flag.IntVar(&c.keep, "keep", 4_000, "newest tokens that stay as they are")
	flag.StringVar(&c.focus, "focus", "", "what the summary should look at in particular")
	flag.BoolVar(&c.fallback, "fallback", false, "let the digest stand in when the endpoint does not answer")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := c.run(ctx, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "summarize:", err)
		os.Exit(1)
	}
}

// run prints the summary of a session, and what it cost.
func (c *config) run(ctx context.Context, stdout, stderr io.Writer) error {
	data, err := os.ReadFile(c.in)
	if err != nil {
		return err
	}
	history, err := recording.Read(data)
	if err != nil {
		return err
	}
	r, err := c.compact(ctx, history)
	if err != nil {
		return err
	}
	report := r.Compaction
	fmt.Fprintf(stderr, "%d messages, %d tokens → %d messages, %d tokens; %d calls", len(history), report.TokensBefore,
		len(r.Messages), report.TokensAfter, r.SummaryCalls)
	if len(report.Repaired) > 0 {
		fmt.Fprintf(stderr, "; added by code: %q", report.Repaired)
	}
	if r.Degraded != "" {
		fmt.Fprint(stderr, "; by the digest: ", r.Degraded)
	}
	fmt.Fprintln(stderr)
	_, err = fmt.Fprintln(stdout, report.Summary)
	return err
}

// compact does what a host does, but without a conversation: a manager calls the summarizer when a request no longer
// fits, and here at once.
func (c *config) compact(ctx context.Context, history []winnow.Message) (*winnow.Request, error) {
	var summarizer winnow.Summarizer = &endpoint{c.url, c.model, os.Getenv("OPENAI_API_KEY"), http.DefaultClient}
	switch {
	case c.model == "":
		summarizer = winnow.Digest()
	case c.fallback:
		summarizer = winnow.FirstOf(time.Minute, summarizer, winnow.Digest())
	}
	m, err := winnow.New(c.window, &winnow.Options{
		Summarizer: summarizer,
		Compact:    &winnow.CompactOptions{KeepRecent: c.keep},
	})
	if err != nil {
		return nil, err
	}
	return m.Compact(ctx, history, c.focus)
}
