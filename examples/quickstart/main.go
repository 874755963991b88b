// Command quickstart replays a recorded agent session through a [winnow.Manager] and shows, request by
// request, what is sent instead of the whole history. It needs no network and no key.
//
//	go run ./examples/quickstart                      # 170 000 tokens in a window of 32 000
//	go run ./examples/quickstart -session chinese
//	go run ./examples/quickstart -session mine.jsonl -window 128000
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// Exit codes.
const (
	exitOK      = 0
	exitRefused = 1 // a request does not fit or is not valid
	exitUsage   = 2 // bad flags, or a session that cannot be read
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// config holds the flags.
type config struct {
	session string
	window  int
	json    bool
	summary bool
	all     bool
}

func run(args []string, stdout, stderr io.Writer) int {
	c, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, usage, strings.Join(builtin(), ", "), defaultSession, defaultWindow)
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "quickstart: %v\nRun with -h for help.\n", err)
		return exitUsage
	}
	history, err := load(c.session)
	if err != nil {
		fmt.Fprintln(stderr, "quickstart:", err)
		return exitUsage
	}
	result, err := replay(history, c.window)
	if err != nil {
		fmt.Fprintln(stderr, "quickstart:", err)
		return exitUsage
	}
	if c.json {
		err = writeJSON(stdout, result)
	} else {
		err = writeReport(stdout, c, result)
	}
	if err != nil {
		fmt.Fprintln(stderr, "quickstart:", err)
		return exitUsage
	}
	if t := result.totals; t.Overflows+t.Invalid > 0 {
		return exitRefused
	}
	return exitOK
}

const usage = `Replays a recorded agent session through winnow, with no network, and shows what each
request to the model would have been: what was kept, trimmed, cleared, cut, summarized
and repaired, and that every request fits into the context window and is valid.

Usage: go run ./examples/quickstart [flags]

  -session NAME  a session that is built in: %s (default %q)
  -session FILE  your own: of Claude Code (~/.claude/projects/*/*.jsonl), Codex
                 (~/.codex/sessions/*/*/*/*.jsonl), OpenClaw or pi, a log of winnow's,
                 or winnow messages in JSON Lines or one JSON array; plain or gzipped
  -window N      context window of the model, in tokens (default %d)
  -all           a line for every request, instead of one for several in which little happened
  -summary       print the whole summary that the last compaction made
  -json          one JSON object a request, and one of totals, instead of the report

Exit status: 0 if every request fits and is valid, 1 if one does not, 2 if a flag or the
session is wrong.
`

const defaultWindow = 32_000

// parse reads the flags. The error is [flag.ErrHelp] if they ask for help.
func parse(args []string) (config, error) {
	var c config
	f := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are printed by run, once
	f.StringVar(&c.session, "session", defaultSession, "")
	f.IntVar(&c.window, "window", defaultWindow, "")
	f.BoolVar(&c.json, "json", false, "")
	f.BoolVar(&c.summary, "summary", false, "")
	f.BoolVar(&c.all, "all", false, "")
	err := f.Parse(args)
	if err == nil && f.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q; a session is given as -session %[1]s", f.Arg(0))
	}
	if err == nil && c.window <= 0 {
		err = fmt.Errorf("-window %d: want a positive number of tokens", c.window)
	}
	if err == nil && c.json && (c.summary || c.all) {
		err = errors.New("-json prints everything already; leave out -summary and -all")
	}
	return c, err
}
