package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
)

// tool is the description of a tool for the model.
type tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters"` // JSON Schema
	run         func(ctx context.Context, in input) (string, error)
}

// input holds the arguments that a tool may get.
type input struct {
	Path    string `json:"path"`
	Offset  int    `json:"offset"`
	Limit   int    `json:"limit"`
	Pattern string `json:"pattern"`
	Command string `json:"command"`
}

// tools work in one directory. They cannot reach files outside of it, not even through links; see [os.Root].
type tools struct {
	root *os.Root
	list []tool
}

// Limits of a tool's output. winnow cuts results that are too long for the window; these limits keep memory small.
const (
	maxFile     = 1 << 20
	maxMatches  = 300
	maxEntries  = 1_000
	maxOutput   = 256 << 10
	maxRunTime  = time.Minute
	maxKillTime = 2 * time.Second // for processes that survive the kill
)

func openTools(dir string, commands bool) (*tools, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	t := &tools{root: root}
	text, whole := map[string]any{"type": "string"}, map[string]any{"type": "integer"}
	t.list = []tool{
		{"list", "Lists a directory.", schema(map[string]any{"path": text}, "path"), t.dir},
		{"read", "Reads a text file, from line offset (1 is the first) on, limit lines.",
			schema(map[string]any{"path": text, "offset": whole, "limit": whole}, "path"), t.read},
		{"search", "Finds the lines of all files below a directory that match a regular expression.",
			schema(map[string]any{"pattern": text, "path": text}, "pattern"), t.search},
	}
	if commands {
		t.list = append(t.list, tool{"run", "Runs a shell command in the directory.",
			schema(map[string]any{"command": text}, "command"), t.run})
	}
	return t, nil
}

func schema(properties map[string]any, required ...string) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

func (t *tools) close() { t.root.Close() }

// call executes a call of the model. Errors are results for the model.
func (t *tools) call(ctx context.Context, p winnow.Part) winnow.Message {
	text, err := t.do(ctx, p)
	if err != nil {
		text = strings.TrimLeft(strings.TrimRight(text, "\n")+"\n"+err.Error(), "\n")
	}
	return winnow.Message{Role: winnow.RoleTool, ToolCallID: p.ID, ToolName: p.Name, IsError: err != nil,
		Parts: []winnow.Part{{Text: text}}}
}

func (t *tools) do(ctx context.Context, p winnow.Part) (string, error) {
	var in input
	if err := json.Unmarshal(p.Arguments, &in); err != nil {
		return "", fmt.Errorf("the arguments are not as they should be: %w", err)
	}
	if in.Path == "" {
		in.Path = "."
	}
	for i := range t.list {
		if t.list[i].Name == p.Name {
			return t.list[i].run(ctx, in)
		}
	}
	return "", fmt.Errorf("there is no tool %q", p.Name)
}

func (t *tools) dir(_ context.Context, in input) (string, error) {
	entries, err := fs.ReadDir(t.root.FS(), path.Clean(in.Path))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, e := range entries {
		if i == maxEntries {
			fmt.Fprintf(&b, "… and %d more\n", len(entries)-i)
			break
		}
		if e.IsDir() {
			fmt.Fprintf(&b, "%s/\n", e.Name())
		} else if info, err := e.Info(); err == nil {
			fmt.Fprintf(&b, "%s  %d bytes\n", e.Name(), info.Size())
		}
	}
	return b.String(), nil
}

func (t *tools) read(_ context.Context, in input) (string, error) {
	f, err := t.root.Open(in.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", fmt.Errorf("%s is not text", in.Path)
	}
	lines := strings.SplitAfter(string(data), "\n")
	from := min(max(in.Offset-1, 0), len(lines))
	lines = lines[from:]
	if in.Limit > 0 {
		lines = lines[:min(in.Limit, len(lines))]
	}
	return strings.Join(lines, ""), nil
}

// errEnough ends a search.
var errEnough = errors.New("enough")

func (t *tools) search(ctx context.Context, in input) (string, error) {
	pattern, err := regexp.Compile(in.Pattern)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	found := 0
	err = fs.WalkDir(t.root.FS(), path.Clean(in.Path), func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil // skip unreadable files
		case e.IsDir() && name != "." && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		return t.searchFile(name, pattern, &b, &found)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return "", err
	}
	if found == 0 {
		return "nothing found", nil
	}
	return b.String(), nil
}

func (t *tools) searchFile(name string, pattern *regexp.Regexp, b *strings.Builder, found *int) error {
	f, err := t.root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	scan := bufio.NewScanner(f)
	for n := 1; scan.Scan(); n++ {
		if bytes.IndexByte(scan.Bytes(), 0) >= 0 {
			return nil // not text
		}
		if !pattern.Match(scan.Bytes()) {
			continue
		}
		if *found++; *found > maxMatches {
			fmt.Fprintf(b, "… and more\n")
			return errEnough
		}
		fmt.Fprintf(b, "%s:%d: %s\n", name, n, scan.Text())
	}
	return nil
}

// run runs a command in the directory, which is also its home, without the keys in the environment. The command is not
// sandboxed otherwise.
func (t *tools) run(ctx context.Context, in input) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, maxRunTime)
	defer cancel()
	dir := t.root.Name()
	cmd := exec.CommandContext(ctx, "sh", "-c", in.Command)
	killAll(cmd)
	cmd.Dir, cmd.WaitDelay = dir, maxKillTime
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8"}
	var out output
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// output keeps the beginning of the output.
type output struct {
	text []byte
	left int // number of bytes left out
}

func (o *output) Write(p []byte) (int, error) {
	room := min(len(p), maxOutput-len(o.text))
	o.left += len(p) - room
	o.text = append(o.text, p[:room]...)
	return len(p), nil
}

func (o *output) String() string {
	text := strings.ToValidUTF8(string(o.text), "\uFFFD")
	if o.left > 0 {
		text += fmt.Sprintf("\n… and %d more bytes", o.left)
	}
	return text
}
