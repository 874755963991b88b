package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
	"github.com/winnowgo/winnow/internal/test/recording"
	"github.com/winnowgo/winnow/prompt"
	"github.com/winnowgo/winnow/session/transcript"
)

// opened is a session that has been read.
type opened struct {
	name    string
	from    string // the file, or the key
	session *recording.Session
	sees    []winnow.Message // what the model sees of it now
}

// read returns a session. name is a file, a directory with sessions, or a key in the store.
func (p *program) read(ctx context.Context, name string) (*opened, error) {
	s, file, err := recording.OpenFile(name)
	switch {
	case err == nil:
		return &opened{filepath.Base(file), file, s, sees(ctx, s)}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case !p.isStore():
		return nil, problemf("there is no file %s, and no store in %s", name, p.dir)
	}
	store, err := p.open(false)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	t := &transcript.Transcript{Format: transcript.Winnow}
	for e, err := range store.Entries(ctx, name) {
		if err != nil {
			return nil, unknown(err, name)
		}
		t.Entries = append(t.Entries, e)
	}
	view, err := store.Read(ctx, name)
	if err != nil {
		return nil, unknown(err, name)
	}
	t.Report.Lines = len(t.Entries)
	return &opened{filepath.Base(name), name, recording.Of(t), view.History}, nil
}

// sees returns the messages that the model sees: after a compaction, not all of the session.
func sees(ctx context.Context, s *recording.Session) []winnow.Message {
	if s.From == nil {
		return s.Messages
	}
	view, ok := inspect.View(ctx, s.From.Entries)
	if !ok {
		return s.Messages
	}
	return view
}

func (p *program) report(ctx context.Context, args []string) (int, error) {
	basis, rest, err := p.basis(args, 1, 1)
	if err != nil {
		return 0, err
	}
	o, err := p.read(ctx, rest[0])
	if err != nil {
		return 0, err
	}
	basis, estimator, err := basis.Complete(o.session)
	if err != nil {
		return 0, err
	}
	manager, err := winnow.New(basis.Window, &winnow.Options{Model: basis.Model, Estimator: estimator})
	if err != nil {
		return 0, err
	}
	defer manager.Close()
	request, err := manager.Prepare(ctx, o.sees)
	if err != nil {
		return 0, err
	}
	r := prompt.NewReport(&prompt.Assembly{Limits: prompt.Limits{Window: basis.Window}}, request, winnow.Usage{})
	r.SessionKey = o.from
	if p.json {
		_, err = fmt.Fprintln(p.stdout, r.JSON())
		return exitOK, err
	}
	return exitOK, p.windowTable(r, &basis)
}

// mostLargest is how many messages are listed.
const mostLargest = 5

// windowTable prints what fills the window.
func (p *program) windowTable(r *prompt.Report, basis *inspect.Basis) error {
	t := r.Tokens
	fmt.Fprintf(p.stdout, "%s: %s of %s tokens are used, %s are kept for the answer, %s are free\n",
		inspect.Plain(r.SessionKey),
		number(t.Used), number(t.Window), number(t.Reserve), number(t.Free))
	fmt.Fprintf(p.stdout, "Window: %s. Shares are of the tokens used.\n\n", basis.WindowFrom())
	if err := p.table(filledRows(r)); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout)
	rows := [][]string{{"LARGEST", "MESSAGE", "TOKENS"}}
	for _, m := range r.Largest[:min(len(r.Largest), mostLargest)] {
		name := string(m.Role)
		if m.Tool != "" {
			name = "result of " + inspect.Plain(m.Tool)
		}
		rows = append(rows, []string{name, number(m.Index), number(m.Tokens)})
	}
	if err := p.table(rows); err != nil || len(r.Edits) == 0 {
		return err
	}
	fmt.Fprintln(p.stdout)
	rows = [][]string{{"EDITED", "MESSAGES", "SAVES"}}
	for _, e := range r.Edits {
		rows = append(rows, []string{recording.Past(e.Op), number(e.Count), number(e.Saved)})
	}
	return p.table(rows)
}

// filledRows are the parts of what is used. What the bill has beyond the messages is a part too; if the bill has less
// than the estimates, each of these is made smaller alike.
func filledRows(r *prompt.Report) [][]string {
	names, counts := []string{}, []string{}
	tokens, sum := []int{}, 0
	for _, k := range r.History {
		names, counts = append(names, inspect.Plain(k.Kind)), append(counts, number(k.Count))
		tokens, sum = append(tokens, k.Tokens), sum+k.Tokens
	}
	if used := r.Tokens.Used; used > sum {
		names, counts = append(names, "what is not recorded: the system prompt, tools"), append(counts, "")
		tokens = append(tokens, used-sum)
	} else {
		tokens = scaled(tokens, sum, used)
	}
	rows := [][]string{{"FILLED BY", "PARTS", "TOKENS", "SHARE"}}
	for i, share := range recording.Shares(tokens) {
		rows = append(rows, []string{names[i], counts[i], number(tokens[i]), recording.Share(share, tokens[i])})
	}
	return rows
}

// scaled returns parts of a new whole in the proportions of the old one. They add up to it.
func scaled(parts []int, old, whole int) []int {
	out := make([]int, len(parts))
	before, at := 0, 0
	for i, n := range parts {
		before += n
		to := whole * before / max(1, old)
		out[i], at = to-at, to
	}
	return out
}
