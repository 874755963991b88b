// Command durable is an agent that you can kill at any moment, even with kill -9. Start it again, and it continues
// where it was.
//
//	go run ./examples/durable             # count the words of ten chapters, one tool call each
//	go run ./examples/durable -dir talk   # directory of the conversation
//
// The model is a script, so it needs no network. Press Ctrl-C, kill it, or pull the plug, and run it again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/winnowgo/winnow/session"
)

func main() {
	dir := flag.String("dir", filepath.Join(os.TempDir(), "winnow-durable"), "directory of the conversations")
	pause := flag.Duration("pause", 300*time.Millisecond, "how long the model thinks and a tool works")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *dir, *pause); err != nil {
		fmt.Fprintln(os.Stderr, "durable:", err)
		os.Exit(1)
	}
}

// run works until the task is done.
func run(ctx context.Context, out io.Writer, dir string, pause time.Duration) (err error) {
	store, err := session.OpenDirectory(dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	s, err := store.Open(ctx, "chapters")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	a := agent{out: out, session: s, pause: pause}
	if err := a.resume(ctx); err != nil {
		return err
	}
	return a.work(ctx)
}

// agent is the loop that every agent has.
type agent struct {
	out     io.Writer
	session *session.Session
	pause   time.Duration
}

// resume finishes the work that the last process left.
func (a *agent) resume(ctx context.Context) error {
	n := len(a.session.View().History)
	i := a.session.Interrupted()
	switch {
	case n == 0:
		fmt.Fprintln(a.out, "A new conversation.")
		return a.session.Append(ctx, session.User(task))
	case i == nil:
		fmt.Fprintf(a.out, "The task was done already, in %d messages. Begin anew.\n", n)
		if err := a.session.Reset(ctx, "done", nil); err != nil {
			return err
		}
		return a.session.Append(ctx, session.User(task))
	case len(i.Calls) > 0:
		fmt.Fprintf(a.out, "Going on after %d messages. A call of %s was interrupted; the model is told so.\n", n,
			i.Calls[0].Name)
		return a.session.Abandon(ctx)
	}
	fmt.Fprintf(a.out, "Going on after %d messages.\n", n)
	return nil
}

// work asks the model and runs its tools until it calls none.
func (a *agent) work(ctx context.Context) error {
	for {
		answer, err := a.session.Do(ctx, a.model)
		if err != nil {
			return err
		}
		if text := answer.Text(); text != "" {
			fmt.Fprintln(a.out, text)
		}
		calls := answer.Calls()
		if len(calls) == 0 {
			return nil
		}
		for _, call := range calls {
			result := a.runTool(call)
			if err := a.session.Append(ctx, session.Result(call.ID, call.Name, result)); err != nil {
				return err
			}
			fmt.Fprintln(a.out, " ", result)
		}
	}
}
