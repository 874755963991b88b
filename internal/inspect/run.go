// Package inspect replays a recorded agent session through a [winnow.Manager] and shows how the context grew and was
// cut, how much of it was cached and what it cost, as one HTML page that needs no network, or as text.
package inspect

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/winnowgo/winnow/internal/test/recording"
)

// Exit codes.
const (
	exitOK      = 0
	exitRefused = 1 // a request does not fit
	exitUsage   = 2 // bad flags, or a read or write error
)

// config holds the flags.
type config struct {
	file   string
	window int
	output string
	text   bool
	json   bool
	price  float64
	now    time.Time
}

const (
	builtinWindow = 32_000 // window for the built-in session, chosen so that everything happens in it
	defaultWindow = 200_000
)

// DefaultPrice is the price of a million uncached tokens, in dollars, for a mid-range model.
const DefaultPrice = 3.0

const usage = `Replays a recorded agent session through winnow, with no network, and shows the context
over time, what the prompt cache is expected to have of it, what it costs beside a host
that compacts at the limit, and what was edited for each request and why.

Usage: go run ./examples/inspect [flags] [FILE]

  FILE       a session of Claude Code (~/.claude/projects/*/*.jsonl), of Codex
             (~/.codex/sessions/*/*/*/*.jsonl), of OpenClaw or pi
             (~/.openclaw/agents/*/sessions/*.jsonl), a log of winnow's, or winnow
             messages in JSON Lines or one JSON array; plain or gzipped.
             Of a directory, the session in it that was written to last;
             without one examples/quickstart/sessions/english.jsonl.gz is shown, as
             text unless -o is given
  -o FILE    write there, instead of to standard output
  -text      a table, as on a terminal, instead of an HTML page
  -json      the figures as one JSON object, instead of a page
  -window N  context window of the model, in tokens (default %d; %d without FILE,
             so that more happens)
  -price P   dollars for a million uncached tokens of input (default %g)

The summaries cost what a model's call would. examples/quickstart has no summarizer, so
that a compaction costs it nothing: it compacts where this program does not.

Exit status: 0 if every request fits, 1 if one does not, 2 if a flag or a file is wrong.
`

// Run is the program examples/inspect. It returns its exit status.
func Run(args []string, now time.Time, stdout, stderr io.Writer) int {
	c, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(stdout, usage, defaultWindow, builtinWindow, DefaultPrice)
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "inspect: %v\nRun with -h for help.\n", err)
		return exitUsage
	}
	c.now = now
	c.text = c.text || c.output == "" && isTerminal(stdout) // a page is for a browser
	code, err := inspect(c, stdout)
	if err != nil {
		fmt.Fprintln(stderr, "inspect:", err)
		return exitUsage
	}
	return code
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// parse reads the flags. The error is [flag.ErrHelp] if they ask for help.
func parse(args []string) (config, error) {
	var c config
	f := flag.NewFlagSet("inspect", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are printed by run, once
	f.StringVar(&c.output, "o", "", "")
	f.BoolVar(&c.text, "text", false, "")
	f.BoolVar(&c.json, "json", false, "")
	f.IntVar(&c.window, "window", 0, "")
	f.Float64Var(&c.price, "price", DefaultPrice, "")
	err := f.Parse(args)
	switch {
	case err != nil:
	case f.NArg() > 1:
		err = fmt.Errorf("want one session file behind the flags, got %d", f.NArg())
	case c.window <= 0 && isSet(f, "window"):
		err = fmt.Errorf("-window %d: want a positive number of tokens", c.window)
	case !(c.price > 0 && c.price < 1e6):
		err = fmt.Errorf("-price %g: want a positive number of dollars", c.price)
	}
	c.file = f.Arg(0)
	if c.window == 0 {
		c.window = defaultWindow
	}
	if c.file == "" {
		c.file = recording.Builtin()
		c.text = c.text || c.output == "" // a page is for a browser
		if !isSet(f, "window") {
			c.window = builtinWindow
		}
	}
	return c, err
}

func isSet(f *flag.FlagSet, name string) (set bool) {
	f.Visit(func(given *flag.Flag) { set = set || given.Name == name })
	return set
}

// inspect reads, replays and writes.
func inspect(c config, stdout io.Writer) (code int, err error) {
	recorded, file, err := recording.OpenFile(c.file)
	if err != nil {
		return 0, err
	}
	in := Input{
		Name: filepath.Base(file), Session: recorded, Window: c.window, Price: c.price, Text: c.text, Now: c.now,
	}
	if c.json {
		s, err := Summarize(in)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		if s.Refused > 0 {
			code = exitRefused
		}
		return code, json.NewEncoder(stdout).Encode(s)
	}
	report, err := newReport(in)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	if c.output != "" {
		file, err := os.Create(c.output)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		stdout = file
	}
	if err := report.write(stdout, c.text); err != nil {
		return 0, err
	}
	if report.Overflows > 0 {
		code = exitRefused
	}
	return code, nil
}

// Input is a session to show.
type Input struct {
	Name    string
	Session *recording.Session
	Window  int       // context window of the model, in tokens
	Price   float64   // dollars for a million uncached tokens of input; 0: [DefaultPrice]
	Text    bool      // a table for a terminal, instead of an HTML page
	Now     time.Time // time of the report
}

// Write replays a session and writes the report. It returns how many requests do not fit.
func Write(w io.Writer, in Input) (overflows int, err error) {
	r, err := newReport(in)
	if err != nil {
		return 0, err
	}
	return r.Overflows, r.write(w, in.Text)
}

func newReport(in Input) (*report, error) {
	r, err := replay(in.Session.Messages, in.Window)
	if err != nil {
		return nil, err
	}
	r.Name, r.Price, r.Made, r.Source = in.Name, in.Price, in.Now, in.Session
	if r.Price == 0 {
		r.Price = DefaultPrice
	}
	return r, nil
}

func (r *report) write(w io.Writer, text bool) error {
	if text {
		return writeText(w, r)
	}
	return writePage(w, r)
}
