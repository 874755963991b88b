package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
	"github.com/winnowgo/winnow/internal/test/recording"
)

func (p *program) inspect(ctx context.Context, args []string) (code int, err error) {
	output := p.flags.String("o", "", "")
	open := p.flags.Bool("open", false, "")
	basis, rest, err := p.basis(args, 0, 1)
	if err != nil {
		return 0, err
	}
	name, err := p.choose(rest)
	if err != nil || name == "" {
		return exitOK, err
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return p.inspectAll(name, basis)
	}
	o, err := p.read(ctx, name)
	if err != nil {
		return 0, err
	}
	in := inspect.Input{Name: o.name, Session: o.session, Basis: basis, Now: p.now()}
	if p.json {
		s, err := inspect.Summarize(in)
		if err != nil {
			return 0, err
		}
		return refused(s.Refused), p.print(s)
	}
	if *open && *output == "" {
		*output = filepath.Join(os.TempDir(), "winnow-inspect.html")
	}
	overflows, err := p.write(in, *output)
	if err == nil && *output != "" {
		_, err = fmt.Fprintln(p.stdout, "written:", *output)
	}
	if err == nil && *open {
		err = openInBrowser(ctx, *output)
	}
	return refused(overflows), err
}

// write writes a page or, to a file named *.svg, the chart of the context alone. Without a file it prints text.
func (p *program) write(in inspect.Input, output string) (overflows int, err error) {
	if output == "" {
		return inspect.WriteText(p.stdout, in)
	}
	file, err := os.Create(output)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if filepath.Ext(output) == ".svg" {
		return inspect.WriteSVG(file, in)
	}
	return inspect.WritePage(file, in)
}

func openInBrowser(ctx context.Context, file string) error {
	name, args := "xdg-open", []string{file}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", file}
	}
	if err := exec.CommandContext(ctx, name, args...).Run(); err != nil {
		return fmt.Errorf("%s is written, but %s did not open it: %w", file, name, err)
	}
	return nil
}

// basis reads the flags of a command, as parse does, with those of what the file says, or else is assumed.
func (p *program) basis(args []string, least, most int) (b inspect.Basis, rest []string, err error) {
	p.flags.StringVar(&b.Model, "model", "", "")
	p.flags.IntVar(&b.Window, "window", 0, "")
	p.flags.Float64Var(&b.Price, "price", 0, "")
	overhead := p.flags.Int("overhead", 0, "")
	if rest, err = p.parse(args, least, most); err != nil {
		return b, nil, err
	}
	p.flags.Visit(func(f *flag.Flag) {
		switch {
		case f.Name == "overhead":
			b.Overhead = overhead
			if *overhead < 0 {
				err = problemf("%s: -overhead %d: want a number of tokens", p.flags.Name(), *overhead)
			}
		case f.Name == "window" && b.Window <= 0:
			err = problemf("%s: -window %d: want a positive number of tokens", p.flags.Name(), b.Window)
		case f.Name == "price" && !(b.Price > 0 && b.Price < 1e6):
			err = problemf("%s: -price %g: want a positive number of dollars", p.flags.Name(), b.Price)
		}
	})
	return b, rest, err
}

func refused(requests int) int {
	if requests > 0 {
		return exitFound
	}
	return exitOK
}

// found is a session file.
type found struct {
	path  string
	bytes int64
	at    time.Time // when it was written to
}

// places are where agents keep their sessions, below the home directory.
var places = [][]string{
	{".claude", "projects"}, {".codex", "sessions"}, {".openclaw", "agents"}, {".pi", "agent", "sessions"},
}

// sessionsIn returns the session files in directories, the newest first. A directory that is missing has none.
func sessionsIn(dirs ...string) (list []found, err error) {
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			isLog := strings.HasSuffix(plainName(name), ".jsonl") && filepath.Base(name) != "catalog.jsonl"
			if err != nil || d.IsDir() || !isLog {
				if errors.Is(err, fs.ErrNotExist) {
					return nil
				}
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode().IsRegular() {
				list = append(list, found{name, info.Size(), info.ModTime()})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(list, func(a, b found) int {
		return cmp.Or(b.at.Compare(a.at), strings.Compare(a.path, b.path))
	})
	return list, nil
}

// mostListed is how many sessions are listed.
const mostListed = 20

// choose returns the session to show. Without an argument it lists the newest ones on this disk, and asks which if
// there is somebody to ask; "" then stands for none. A number is that of a session in the list.
func (p *program) choose(rest []string) (string, error) {
	number := 0
	if len(rest) > 0 {
		var err error
		if number, err = strconv.Atoi(rest[0]); err != nil || number <= 0 {
			return rest[0], nil
		}
		if _, err := os.Stat(rest[0]); err == nil {
			return rest[0], nil
		}
	}
	var dirs []string
	for _, place := range places {
		dirs = append(dirs, filepath.Join(append([]string{p.home}, place...)...))
	}
	list, err := sessionsIn(dirs...)
	switch {
	case err != nil:
		return "", err
	case len(list) == 0:
		return "", problemf("inspect: there is no session of Claude Code, Codex, OpenClaw or pi in its usual place; " +
			"name a file, a directory or a key")
	case number > 0:
		return nth(list, number)
	}
	rows := [][]string{{"", "WRITTEN", "SIZE", "SESSION"}}
	for i, f := range list[:min(len(list), mostListed)] {
		name, err := filepath.Rel(p.home, f.path)
		if err != nil {
			name = f.path
		}
		name = inspect.Plain(filepath.Join("~", name))
		rows = append(rows, []string{fmt.Sprint(i + 1), date(f.at), size(f.bytes), name})
	}
	if err := p.table(rows); err != nil {
		return "", err
	}
	if p.ask == nil {
		fmt.Fprintf(p.stdout, "\n%s; winnow inspect 1 shows the first\n", count(len(list), "session"))
		return "", nil
	}
	answer := p.ask(fmt.Sprintf("\n%s. Which one? [1] ", count(len(list), "session")))
	if number, err = strconv.Atoi(cmp.Or(strings.TrimSpace(answer), "1")); err != nil {
		return "", problemf("inspect: %s is no number", answer)
	}
	return nth(list, number)
}

func nth(list []found, number int) (string, error) {
	if number > len(list) || number < 1 {
		return "", problemf("inspect: %d: there are %d sessions", number, len(list))
	}
	return list[number-1].path, nil
}

// askOn asks on a terminal.
func askOn(in io.Reader, out io.Writer) func(question string) string {
	return func(question string) (answer string) {
		fmt.Fprint(out, question)
		_, _ = fmt.Fscanln(in, &answer) // an empty line is an answer
		return answer
	}
}

// inspectAll prints a table of all sessions in a directory, with their sum.
func (p *program) inspectAll(dir string, basis inspect.Basis) (int, error) {
	list, err := sessionsIn(dir)
	if err != nil {
		return 0, err
	}
	rows := [][]string{
		{"SESSION", "LAST", "REQUESTS", "WINDOW", "COST", "WINNOW", "CHANGE", "LOST", "RECALLABLE",
			"LOST AT THE LIMIT"},
	}
	var sum inspect.Summary
	shown, unread := 0, 0
	bar := p.progress("replaying", int64(len(list)))
	for i, f := range list {
		bar.at(int64(i), p.now())
		s, err := summaryOf(f.path, basis)
		if err != nil {
			unread++
			continue
		}
		shown++
		if p.json {
			if err := p.print(s); err != nil {
				return 0, err
			}
		}
		sum.Add(s)
		name := strings.TrimSuffix(plainName(filepath.Base(f.path)), ".jsonl")
		rows = append(rows, s.Row(clip(name, 28), date(s.Last)))
	}
	bar.end()
	switch {
	case shown == 0:
		return 0, problemf("inspect: there is no session that a model answered in %s", dir)
	case p.json:
		return refused(sum.Refused), nil
	}
	rows = append(rows, sum.Row(count(shown, "session"), ""))
	if err := p.table(rows); err != nil {
		return 0, err
	}
	fmt.Fprint(p.stdout, "\nThe cost is what was billed or, where the file does not say it,\n"+
		"what compacting at the limit would cost: tokens, without fees such as\n"+
		"those of web searches. What one file copies from another counts twice.\n"+
		"Lost: names and lines that answers used and that their requests lacked,\n"+
		"of all that they used; recallable: what of it winnow's recall tool finds.\n"+
		"Each session in its own window, and at its model's price.\n")
	if sum.Unpriced > 0 {
		fmt.Fprintf(p.stdout, "Not in what was billed: %s at a price that is not known. A session\n"+
			"without others counts at its model's usual price.\n", count(sum.Unpriced, "request"))
	}
	if unread > 0 {
		fmt.Fprintf(p.stdout, "Left out: %s without an answer of a model.\n", count(unread, "file"))
	}
	return refused(sum.Refused), nil
}

func summaryOf(file string, basis inspect.Basis) (*inspect.Summary, error) {
	s, _, err := recording.OpenFile(file)
	if err != nil {
		return nil, err
	}
	return inspect.Summarize(inspect.Input{Name: filepath.Base(file), Session: s, Basis: basis})
}
