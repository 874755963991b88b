// Package chat is the part of an agent that is the same for every SDK: the loop, and the tools.
package chat

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
)

// Tools are offered to the model, besides those of Winnow.
var Tools = []winnow.Tool{
	{Name: "list", Description: "Lists the files of a directory.", Schema: pathSchema},
	{Name: "read", Description: "Reads a text file.", Schema: pathSchema},
	winnow.RecallTool(),                      // what was left out of a request
	winnow.NotesTool(), winnow.CompactTool(), // what the model writes down, and when a phase of its work is done
}

var pathSchema = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)

// Run reads a question from each line of in, until it ends. ask calls the model and returns its answer: most APIs have
// one message in it.
func Run(
	ctx context.Context, in io.Reader, out io.Writer, store *session.Store, dir string, ask session.CallMessages,
) error {
	files, err := os.OpenRoot(dir) // the tools see nothing outside
	if err != nil {
		return err
	}
	defer files.Close()
	s, err := store.Open(ctx, "chat")
	if err != nil {
		return err
	}
	defer s.Close()
	a := agent{session: s, files: files, out: out, ask: ask}
	if s.Interrupted() != nil { // the last process was killed, or its last request failed
		fmt.Fprintln(out, "[going on where it was]")
		if err := a.turn(ctx); err != nil {
			return err
		}
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			if err := s.Append(ctx, session.User(text)); err != nil { // on disk when it returns
				return err
			}
		} // an empty line tries again: the last question is on disk
		if err := a.turn(ctx); err != nil {
			fmt.Fprintln(out, "\n[failed; an empty line tries again]", err)
		}
	}
	return lines.Err()
}

type agent struct {
	session *session.Session
	files   *os.Root
	out     io.Writer
	ask     session.CallMessages
}

// turn asks the model and runs its tools until it calls none.
func (a *agent) turn(ctx context.Context) error {
	if err := a.session.Abandon(ctx); err != nil { // calls that were cut off get a result that says so
		return err
	}
	for {
		answer, err := a.session.DoMessages(ctx, a.ask) // prepare, call, recover from an overflow, append
		var full *winnow.OverflowError
		switch {
		case errors.As(err, &full):
			return fmt.Errorf("the last message is too large for the model: %w", err) // Session.Rewind takes it back
		case err != nil:
			return err
		case len(answer.Calls()) == 0:
			fmt.Fprintln(a.out)
			return nil
		}
		for _, call := range answer.Calls() {
			result, err := a.result(ctx, call)
			if err != nil {
				return err
			}
			if err := a.session.Append(ctx, result); err != nil {
				return err
			}
		}
	}
}

// result runs a tool.
func (a *agent) result(ctx context.Context, call winnow.Part) (winnow.Message, error) {
	if result, ok, err := a.session.RunTool(ctx, call); ok || err != nil { // a tool of Winnow's
		return result, err
	}
	var args struct{ Path string }
	err := json.Unmarshal(call.Arguments, &args)
	text := ""
	if err == nil {
		text, err = a.run(call.Name, path.Clean(args.Path))
	}
	if err != nil {
		m := session.Result(call.ID, call.Name, err.Error())
		m.IsError = true
		return m, nil
	}
	fmt.Fprintf(a.out, "\n[%s %s]\n", call.Name, args.Path)
	return session.Result(call.ID, call.Name, text), nil
}

func (a *agent) run(tool, name string) (string, error) {
	switch tool {
	case "list":
		d, err := a.files.Open(name)
		if err != nil {
			return "", err
		}
		defer d.Close()
		names, err := d.Readdirnames(-1)
		return strings.Join(names, "\n"), err
	case "read":
		b, err := a.files.ReadFile(name)
		return string(b), err
	}
	return "", fmt.Errorf("there is no tool %q", tool)
}
