// Command winnow manages the sessions of a store on disk, and shows those of other agents.
//
//	winnow sessions ls
//	winnow sessions import ~/.claude/projects
//	winnow inspect                       # lists the sessions on this disk
//	winnow proxy
//	winnow inspect -open ~/.codex/sessions/2026/06/01/rollout-….jsonl
//
// It is a module of its own: build it in this directory, with go build -o ~/bin/winnow .
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
	"github.com/winnowgo/winnow/session"
)

// Exit codes.
const (
	exitOK      = 0
	exitFound   = 1 // a negative finding: damage, a request that does not fit
	exitProblem = 2 // bad flags, or a read or write error
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := &program{stdout: os.Stdout, stderr: os.Stderr, now: time.Now, isTerminal: isTerminal(os.Stderr)}
	p.home, _ = os.UserHomeDir() // without one, no session is found there
	if isTerminal(os.Stdin) && isTerminal(os.Stdout) {
		p.ask = askOn(os.Stdin, os.Stdout)
	}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// program is one run.
type program struct {
	stdout, stderr io.Writer
	now            func() time.Time
	isTerminal     bool // stderr: progress is shown
	home           string
	ask            func(question string) string // nil: there is nobody to ask
	flags          *flag.FlagSet
	dir            string
	json           bool
}

// command is a subcommand.
type command struct {
	name string
	args string // as shown in the usage
	what string
	run  func(p *program, ctx context.Context, args []string) (code int, err error)
}

// commands returns the subcommands of `winnow`, in the order of the usage.
func commands() []command {
	return []command{
		{"sessions ls", "[-prefix P] [-newest]", "the sessions of a store", (*program).list},
		{"sessions show", "KEY", "what a session holds", (*program).show},
		{"sessions verify", "[KEY…]", "looks for damage in the logs", (*program).verify},
		{"sessions export", "KEY [-o FILE]", "writes a session as a file of pi and OpenClaw", (*program).export},
		{"sessions import", "FILE|DIR… [-key KEY]", "reads sessions of Claude Code, Codex, OpenClaw and pi",
			(*program).importFiles},
		{"sessions maintain", "[-dry-run] [-reference] [-archive-after D] …", "archives and deletes by rule",
			(*program).maintain},
		{"sessions erase", "-yes KEY [ENTRY…]", "erases a session, or the content of entries", (*program).erase},
		{"inspect", "[FILE|DIR|KEY|N] [-o PAGE] [-open] [-model M] [-window N] [-price P] [-overhead N]",
			"how a session filled the window, what it cost, and what winnow would have saved and lost",
			(*program).inspect},
		{"check", "FILE|DIR|KEY|N [-model M] [-window N] [-overhead N]",
			"what of the work a recorded compaction left, and winnow's request", (*program).check},
		{"trial", "[FILE|DIR…] -model M [-to URL] [-budget 2.00] [-n N] [-o PAGE] [-yes] …",
			"asks your model what comes next, with the whole history and with winnow's request, and compares",
			(*program).trial},
		{"report", "FILE|DIR|KEY [-window N]", "what fills the window now", (*program).report},
		{"proxy", "[-to URL] [-listen ADDRESS] [-public] [-host NAME] [-cert FILE -key FILE] [-state DIR]\n" +
			"      [-window N] [-fold-above F] [-mark-cache] [-summarize MODEL] [-conversations N]\n" +
			"      [-memory BYTES] [-max-body BYTES] [-recall] [-inspect] [-shadow F] [-shadow-budget D]",
			"stands between an agent and its provider, and keeps each conversation inside the window",
			(*program).proxy},
	}
}

const usageEnd = `
Flags of all commands:
  -dir DIR   the store (WINNOW_DIR, or the working directory)
  -json      JSON instead of text: one object, or one a line

Exit status: 0 if all is well, 1 if something is not in order, 2 if a flag or a file is wrong.
`

func usage() string {
	var b strings.Builder
	b.WriteString("Looks after sessions of agents, and stands between an agent and its provider.\n\n")
	b.WriteString("Usage: winnow COMMAND [flags] [arguments]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %s %s\n      %s\n", c.name, c.args, c.what)
	}
	return b.String() + usageEnd
}

// problem is a mistake of the user.
type problem struct{ text string }

func (e *problem) Error() string { return e.text }

func problemf(format string, args ...any) error { return &problem{fmt.Sprintf(format, args...)} }

// run runs the command that the arguments name.
func (p *program) run(ctx context.Context, args []string) int {
	c, rest, err := find(args)
	code := exitOK
	if err == nil {
		p.flags = flag.NewFlagSet(c.name, flag.ContinueOnError)
		p.flags.SetOutput(io.Discard)
		p.flags.StringVar(&p.dir, "dir", "", "")
		p.flags.BoolVar(&p.json, "json", false, "")
		code, err = c.run(p, ctx, rest)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(p.stdout, p.help(c))
		return exitOK
	case err != nil:
		fmt.Fprintln(p.stderr, "winnow: "+oneLine(err.Error()))
		return exitProblem
	}
	return code
}

// help returns the usage of a command, with what its flags do, or that of all commands if it says no more.
func (p *program) help(c *command) string {
	if c == nil {
		return usage()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: winnow %s %s\n  %s\n\n", c.name, c.args, c.what)
	explained := 0
	p.flags.VisitAll(func(f *flag.Flag) {
		if f.Usage != "" {
			fmt.Fprintf(&b, "  -%-16s %s\n", f.Name, f.Usage)
			explained++
		}
	})
	if explained == 0 {
		return usage()
	}
	return b.String() + usageEnd
}

// oneLine joins the lines of an error.
func oneLine(s string) string { return strings.Join(strings.Fields(inspect.Plain(s)), " ") }

func asksForHelp(arg string) bool {
	return slices.Contains([]string{"help", "-h", "--help", "-help"}, arg)
}

// find returns the command that the first arguments name.
func find(args []string) (*command, []string, error) {
	if len(args) == 0 || asksForHelp(args[0]) || args[0] == "sessions" && len(args) > 1 && asksForHelp(args[1]) {
		return nil, nil, flag.ErrHelp
	}
	for _, c := range commands() {
		words := strings.Fields(c.name)
		if len(args) >= len(words) && strings.Join(args[:len(words)], " ") == c.name {
			return &c, args[len(words):], nil
		}
	}
	if args[0] == "sessions" {
		return nil, nil, problemf("%s: want sessions ls, show, verify, export, import, maintain or erase",
			strings.Join(args[:min(len(args), 2)], " "))
	}
	return nil, nil, problemf("%s: unknown command; winnow help lists them", args[0])
}

// parse reads flags, which may stand before and after the arguments, and returns the arguments.
func (p *program) parse(args []string, least, most int) ([]string, error) {
	var rest []string
	for {
		if err := p.flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, problemf("%s: %v", p.flags.Name(), err)
		}
		args = p.flags.Args()
		if len(args) == 0 {
			break
		}
		rest, args = append(rest, args[0]), args[1:]
	}
	switch {
	case len(rest) < least:
		return nil, problemf("%s: an argument is missing; winnow help shows which", p.flags.Name())
	case most >= 0 && len(rest) > most:
		return nil, problemf("%s: unexpected argument %q", p.flags.Name(), rest[most])
	}
	if p.dir == "" {
		p.dir = os.Getenv("WINNOW_DIR")
	}
	if p.dir == "" {
		p.dir = "."
	}
	return rest, nil
}

// isStore reports whether there is a store in the directory.
func (p *program) isStore() bool {
	_, err := os.Stat(p.dir + string(os.PathSeparator) + "winnow.json")
	return err == nil
}

// begin reads the flags of a command, as parse does, and opens its store.
func (p *program) begin(args []string, least, most int) (store *session.Store, rest []string, err error) {
	if rest, err = p.parse(args, least, most); err == nil {
		store, err = p.open(false)
	}
	return store, rest, err
}

// open opens the store. Without create the store must exist.
func (p *program) open(create bool) (*session.Store, error) {
	if !create && !p.isStore() {
		return nil, problemf("there is no store in %s; -dir or WINNOW_DIR says where one is", p.dir)
	}
	store, err := session.OpenDirectory(p.dir, &session.Options{Now: p.now})
	if errors.Is(err, session.ErrFormat) {
		return nil, problemf("%v; -dir or WINNOW_DIR says where a store is, or is to be made", err)
	}
	return store, err
}
