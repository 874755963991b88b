// Command inspect replays a recorded agent session through a [winnow.Manager] and shows how the context grew
// and was cut, what the prompt cache had of it and what it cost, as one HTML page that needs no network.
//
//	go run ./examples/inspect          # a built-in session, as text
//	go run ./examples/inspect -o page.html session.jsonl
//	go run ./examples/inspect -text -window 32000 examples/quickstart/sessions/english.jsonl.gz
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/winnowgo/winnow/internal/recording"
)

// Exit codes.
const (
	exitOK      = 0
	exitRefused = 1 // a request does not fit
	exitUsage   = 2 // bad flags, or a file that cannot be read or written
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// config is what the flags say.
type config struct {
	file   string
	window int
	output string
	text   bool
}

const defaultWindow = 200_000

// builtin is the session that is shown where none is named, in a clone of the repository.
const builtin = "examples/quickstart/sessions/english.jsonl.gz"

const usage = `Replays a recorded agent session through winnow, with no network, and shows the context
over time, what the prompt cache is expected to have of it, what it costs beside the
whole history, and what was edited for each request and why.

Usage: go run ./examples/inspect [flags] [FILE]

  FILE       winnow messages in JSON Lines or one JSON array, plain or gzipped;
             without one the recorded session of the repository is shown, as text
  -o FILE    write there, instead of to standard output
  -text      a table for a terminal, instead of an HTML page
  -window N  context window of the model, in tokens (default %d)

Exit status: 0 if every request fits, 1 if one does not, 2 if a flag or a file is wrong.
`

func run(args []string, stdout, stderr io.Writer) int {
	c, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(stdout, usage, defaultWindow)
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "inspect: %v\nRun with -h for help.\n", err)
		return exitUsage
	}
	code, err := inspect(c, stdout)
	if err != nil {
		fmt.Fprintln(stderr, "inspect:", err)
		return exitUsage
	}
	return code
}

// parse reads the flags. The error is [flag.ErrHelp] if they ask for help.
func parse(args []string) (config, error) {
	var c config
	f := flag.NewFlagSet("inspect", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are printed by run, once
	f.StringVar(&c.output, "o", "", "")
	f.BoolVar(&c.text, "text", false, "")
	f.IntVar(&c.window, "window", defaultWindow, "")
	err := f.Parse(args)
	switch {
	case err != nil:
	case f.NArg() > 1:
		err = fmt.Errorf("want one session file behind the flags, got %d", f.NArg())
	case c.window <= 0:
		err = fmt.Errorf("-window %d: want a positive number of tokens", c.window)
	}
	if c.file = f.Arg(0); c.file == "" { // a look at what there is to see: a page is for a browser
		c.file, c.text = builtin, c.text || c.output == ""
	}
	return c, err
}

// inspect reads, replays and writes.
func inspect(c config, stdout io.Writer) (code int, err error) {
	data, err := os.ReadFile(c.file)
	if err != nil {
		return 0, err
	}
	history, err := recording.Read(data)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.file, err)
	}
	report, err := replay(history, c.window)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.file, err)
	}
	report.Name = filepath.Base(c.file)
	if c.output != "" {
		file, err := os.Create(c.output)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		stdout = file
	}
	if c.text {
		err = writeText(stdout, report)
	} else {
		err = writePage(stdout, report)
	}
	if report.Overflows > 0 {
		code = exitRefused
	}
	return code, err
}
