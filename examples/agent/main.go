// Command agent is a small agent that works in one directory with tools. A [winnow.Manager] lets it survive an overflow
// of its context window.
//
//	go run ./examples/agent                    # no key and no network: a scripted model at a local provider
//	go run ./examples/agent -api openai -model qwen3 -url http://localhost:11434/v1 -window 32000 -dir .
//	go run ./examples/agent -api anthropic -model claude-sonnet-5 -window 200000 -dir .   # $ANTHROPIC_API_KEY
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailed  = 1 // the model could not be reached, or refused for good
	exitUsage   = 2
	exitStopped = 130 // Ctrl-C, as in shells
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// config holds the flags.
type config struct {
	api, url, model string
	window          int
	maxTokens       int
	dir             string
	commands        bool
	prompt          string
}

// isLocal reports whether no endpoint was named.
func (c *config) isLocal() bool { return c.model == "" && c.url == "" }

const usage = `A small agent: it lists, reads and searches files in one directory and runs commands there,
and winnow keeps its conversation inside the model's context window. A bar shows what each
request holds: █ is sent, · is free, what is right of | is kept for the answer.

Without -model a scripted model plays the other side, at a provider within this program that
checks every request as strictly as the real ones: no key and no network are needed.

Usage: go run ./examples/agent [flags]

  -api NAME      anthropic or openai (Chat Completions, and all that speak it) (default anthropic)
  -model NAME    the model; the key is $ANTHROPIC_API_KEY or $OPENAI_API_KEY
  -url URL       another endpoint, as in http://localhost:11434/v1
  -window N      context window of the model, in tokens (default %d; %d for the scripted one)
  -max-tokens N  room for each answer (default a quarter of the window, at most %d)
  -dir DIR       directory to work in (default .)
  -run           let the model run commands in DIR. They are not fenced in: use a container
  -prompt TEXT   ask this and end; without it each line of the input is a question

Ctrl-C stops: what is under way ends, and nothing is left running.
Exit status: 0, 1 if the model failed, 2 if a flag is wrong, 130 after Ctrl-C.
`

const (
	defaultWindow  = 128_000
	scriptWindow   = 8_500
	maxAnswerRoom  = 8_000
	answerShare    = 4
	defaultAPI     = apiAnthropic
	defaultDir     = "."
	maxLineOfInput = 1 << 20
)

// parse reads the flags. The error is [flag.ErrHelp] if they ask for help.
func parse(args []string) (config, error) {
	var c config
	f := flag.NewFlagSet("agent", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are printed by run, once
	f.StringVar(&c.api, "api", defaultAPI, "")
	f.StringVar(&c.url, "url", "", "")
	f.StringVar(&c.model, "model", "", "")
	f.IntVar(&c.window, "window", 0, "")
	f.IntVar(&c.maxTokens, "max-tokens", 0, "")
	f.StringVar(&c.dir, "dir", defaultDir, "")
	f.BoolVar(&c.commands, "run", false, "")
	f.StringVar(&c.prompt, "prompt", "", "")
	err := f.Parse(args)
	if c.window == 0 {
		c.window = defaultWindow
		if c.isLocal() {
			c.window = scriptWindow
		}
	}
	if c.maxTokens == 0 {
		c.maxTokens = min(c.window/answerShare, maxAnswerRoom)
	}
	switch {
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q; a question is given as -prompt %[1]q", f.Arg(0))
	case c.api != apiAnthropic && c.api != apiOpenAI:
		err = fmt.Errorf("-api %s: want %s or %s", c.api, apiAnthropic, apiOpenAI)
	case c.window < 0 || c.maxTokens < 0:
		err = errors.New("-window and -max-tokens: want positive numbers of tokens")
	case c.url != "" && c.model == "":
		err = errors.New("-url: -model is missing")
	case c.isLocal() && (c.prompt != "" || c.commands || c.dir != defaultDir):
		err = errors.New("-prompt, -run and -dir: the scripted model asks and works by its script; name a -model")
	}
	return c, err
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, usage, defaultWindow, scriptWindow, maxAnswerRoom)
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "agent: %v\nRun with -h for help.\n", err)
		return exitUsage
	}
	s := newScreen(stdout)
	if c.isLocal() {
		err = playScript(ctx, c, s)
	} else {
		err = talk(ctx, c, s, stdin)
	}
	switch {
	case ctx.Err() != nil:
		s.end("")
		fmt.Fprintln(stderr, "agent: stopped")
		return exitStopped
	case err != nil:
		s.end("")
		fmt.Fprintln(stderr, "agent:", err)
		return exitFailed
	}
	return exitOK
}

// talk passes the user's questions to a real endpoint.
func talk(ctx context.Context, c config, s *screen, stdin io.Reader) error {
	t, err := openTools(c.dir, c.commands)
	if err != nil {
		return err
	}
	defer t.close()
	a, err := newAgent(c, newEndpoint(c), t, s)
	if err != nil {
		return err
	}
	if c.prompt != "" {
		return a.turn(ctx, c.prompt)
	}
	lines := readLines(stdin)
	for {
		s.ask()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			if strings.TrimSpace(line) == "" {
				continue
			}
			if err := a.turn(ctx, line); err != nil {
				return err
			}
		}
	}
}

// readLines reads in the background, because a read from a terminal cannot be cancelled.
func readLines(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, maxLineOfInput)
		for scan.Scan() {
			lines <- scan.Text()
		}
	}()
	return lines
}
