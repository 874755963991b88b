// Command phases writes recorded sessions in which the model ends phases of its work: at the end of each turn, behind
// each finished step of a plan, commit, or passed test. What it keeps is what the recorded model said there. A replay
// of the result shows what that costs and what is missing afterwards. It does not show whether a model writes good
// notes.
//
//	go run ./internal/test/phases -o DIR -at turns [-window N] [-data DIR]
package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

func main() {
	data := flag.String("data", filepath.Join("..", "shared", "corpus"), "recorded sessions")
	out := flag.String("o", "", "where the sessions go")
	at := flag.String("at", "turns", "where phases end: turns, plans, commits or tests")
	window := flag.Int("window", 64_000, "the context window of the replay: it decides which ends are refused")
	flag.Parse()
	if err := run(*data, *out, *at, *window); err != nil {
		fmt.Fprintln(os.Stderr, "phases:", err)
		os.Exit(1)
	}
}

func run(data, out, at string, window int) error {
	files, err := filepath.Glob(filepath.Join(data, "*.jsonl.gz"))
	if err != nil {
		return err
	}
	if len(files) == 0 || out == "" {
		return errors.New("no sessions in -data, or no -o")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var all played
	for _, file := range files {
		s, _, err := recording.OpenFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		c, err := withPhases(s.Messages, at, window)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := write(filepath.Join(out, filepath.Base(file)), c.history); err != nil {
			return err
		}
		all.ended += c.ended
		all.refused += c.refused
	}
	fmt.Printf("%d sessions, %d phases ended, %d refused as too small\n", len(files), all.ended, all.refused)
	return nil
}

func write(file string, history []winnow.Message) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	return errors.Join(winnow.WriteMessages(z, history), z.Close(), f.Close())
}

// played is a session with the ends of its phases.
type played struct {
	history        []winnow.Message
	ended, refused int
}

const (
	mostKept = 1_000 // characters of what is kept of a phase: a paragraph, as the tool asks for
	mostNote = 200   // characters of the note that stays of it when the next phase has ended
)

// withPhases plays a session on a manager, and adds the model's calls with the manager's own answers.
func withPhases(recorded []winnow.Message, at string, window int) (c played, err error) {
	m, err := winnow.New(window, &winnow.Options{Tools: &winnow.ToolOptions{Notes: true}})
	if err != nil {
		return c, err
	}
	ctx, said := context.Background(), ""
	for i := range recorded {
		x := &recorded[i]
		if x.Role == winnow.RoleAssistant {
			if at == "turns" && said != "" && isEndOfTurn(recorded, i) {
				c.end(m, recording.Text(x))
			}
			if _, err := m.Prepare(ctx, c.history); err != nil && !errors.Is(err, winnow.ErrOverflow) {
				return c, err
			}
			if text := recording.Text(x); text != "" {
				said = text
			}
		}
		c.history = append(c.history, *x)
		isLastResult := x.Role == winnow.RoleTool && (i+1 == len(recorded) || recorded[i+1].Role != winnow.RoleTool)
		if isLastResult && i+1 < len(recorded) && said != "" && endsStep(recorded, i, at) {
			c.end(m, said)
		}
	}
	return c, nil
}

// isEndOfTurn reports whether the answer at i has no calls, and a person's message follows.
func isEndOfTurn(recorded []winnow.Message, i int) bool {
	for _, p := range recorded[i].Parts {
		if p.Kind == winnow.KindToolCall {
			return false
		}
	}
	return i+1 < len(recorded) && recording.BeginsTurn(&recorded[i+1])
}

var (
	plan   = regexp.MustCompile(`(?i)todo|plan`)
	commit = regexp.MustCompile(`\bgit\b[^|;&\n]*\bcommit\b`)
	tests  = regexp.MustCompile(`\b(go test|pytest|cargo test|(npm|pnpm|yarn|bun)( run)? test|make test|vitest|jest)\b`)
	failed = regexp.MustCompile(`(?i)\bfail(ed|ures?)?\b|\berrors?\b|exit (code|status):? [1-9]`)
	done   = regexp.MustCompile(`"status":\s*"(completed|done)"`)
)

// endsStep reports whether one of the newest results, the last of which is at i, ends what at names.
func endsStep(recorded []winnow.Message, i int, at string) bool {
	calls := map[string]winnow.Part{}
	for k := i; k >= 0; k-- {
		if recorded[k].Role == winnow.RoleAssistant {
			for _, p := range recorded[k].Parts {
				if p.Kind == winnow.KindToolCall {
					calls[p.ID] = p
				}
			}
			break
		}
	}
	for k := i; k >= 0 && recorded[k].Role == winnow.RoleTool; k-- {
		call, result := calls[recorded[k].ToolCallID], &recorded[k]
		arguments := string(call.Arguments)
		switch {
		case result.IsError:
		case at == "plans" && plan.MatchString(call.Name) && done.MatchString(arguments),
			at == "commits" && commit.MatchString(arguments),
			at == "tests" && tests.MatchString(arguments) && !failed.MatchString(recording.Text(result)):
			return true
		}
	}
	return false
}

// end adds a note and the end of a phase, in one answer of the model's.
func (c *played) end(m *winnow.Manager, said string) {
	n := c.ended + c.refused
	id := func(tool string) string { return fmt.Sprintf("phase_%d_%s", n, tool) }
	note := call(id("note"), winnow.NotesTool().Name,
		map[string]string{"name": fmt.Sprint("phase ", n), "text": cut(said, mostNote)})
	phase := call(id("end"), winnow.CompactTool().Name, map[string]string{"keep": cut(said, mostKept)})
	c.history = append(c.history, winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{note, phase}})
	noted := m.TakeNote(c.history, note.Arguments)
	ended := m.EndPhase(c.history, phase.Arguments)
	c.history = append(c.history, noted, ended)
	if ended.IsError {
		c.refused++
	} else {
		c.ended++
	}
}

func call(id, tool string, arguments map[string]string) winnow.Part {
	text, _ := json.Marshal(arguments) // texts always can be
	return winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: tool, Arguments: text}
}

func cut(s string, most int) string {
	r := []rune(s)
	return string(r[:min(len(r), most)])
}
