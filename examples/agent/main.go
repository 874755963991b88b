// Command agent is a small agent that works in one directory with tools. A [winnow.Manager] lets it survive an overflow
// of its context window.
//
//	go run ./examples/agent                    # no key and no network: a scripted model at a local provider
//	go run ./examples/agent -model qwen3 -url http://localhost:11434/v1 -window 32000 -dir ~/project 'What is this?'
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

// config holds the flags.
type config struct {
	url, model, dir   string
	window, maxTokens int
	questions         []string
}

func main() {
	var c config
	flag.StringVar(&c.model, "model", "", "the model; empty: a scripted one plays the other side, at a "+
		"provider within this program that checks every request as strictly as the real ones")
	flag.StringVar(&c.url, "url", "https://api.openai.com/v1", "the endpoint, which speaks Chat Completions; its "+
		"key is $OPENAI_API_KEY")
	flag.StringVar(&c.dir, "dir", ".", "the directory that the model may read")
	flag.IntVar(&c.window, "window", 0, "context window of the model, in tokens (128 000, or 7 000)")
	flag.IntVar(&c.maxTokens, "max-tokens", 0, "room for each answer (a quarter of the window, at most 8 000)")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), "Usage: agent [flags] [question ...]\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	c.questions = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := c.run(ctx, &screen{out: os.Stdout}); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func (c config) run(ctx context.Context, s *screen) error {
	if c.model == "" {
		_, err := play(ctx, c.withDefaults(scriptWindow), s)
		return err
	}
	if len(c.questions) == 0 {
		return errors.New("there is no question")
	}
	e := &endpoint{url: c.url, key: os.Getenv("OPENAI_API_KEY"), model: c.model}
	return talk(ctx, c.withDefaults(128_000), e, s, func(int) {})
}

// scriptWindow is the window of the scripted model: its first two questions read more.
const scriptWindow = 7_000

func (c config) withDefaults(window int) config {
	c.window = cmp.Or(c.window, window)
	c.maxTokens = cmp.Or(c.maxTokens, min(c.window/4, 8_000))
	return c
}

// talk asks the questions, one after the other.
func talk(ctx context.Context, c config, e *endpoint, s *screen, before func(question int)) error {
	files, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	defer files.Close()
	a, err := newAgent(c, e, files, s)
	if err != nil {
		return err
	}
	for i, question := range c.questions {
		before(i)
		if err := a.turn(ctx, question); err != nil {
			return err
		}
	}
	return nil
}
