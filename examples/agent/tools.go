package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/winnowgo/winnow"
)

// fileTools are the tools of this agent, besides those of Winnow.
var fileTools = []winnow.Tool{
	{Name: "list", Description: "Lists a directory.", Schema: schema("path")},
	{Name: "read", Description: "Reads a text file.", Schema: schema("path")},
	{Name: "search", Description: "Finds the lines of all files below a directory that match a regular expression.",
		Schema: schema("pattern", "path")},
}

// schema describes texts, of which the first is required.
func schema(names ...string) json.RawMessage {
	var properties []string
	for _, name := range names {
		properties = append(properties, fmt.Sprintf(`%q:{"type":"string"}`, name))
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{%s},"required":[%q]}`, strings.Join(properties, ","),
		names[0])
}

// callTool executes a call in a directory. It cannot reach files outside of it, not even through links; see [os.Root].
// Errors are results for the model.
func callTool(files *os.Root, p winnow.Part) winnow.Message {
	text, err := runTool(files, p)
	if err != nil {
		text = err.Error()
	}
	return winnow.Message{Role: winnow.RoleTool, ToolCallID: p.ID, ToolName: p.Name, IsError: err != nil,
		Parts: []winnow.Part{{Text: text}}}
}

func runTool(files *os.Root, p winnow.Part) (string, error) {
	var in struct{ Path, Pattern string }
	if err := json.Unmarshal(p.Arguments, &in); err != nil {
		return "", fmt.Errorf("the arguments are not as they should be: %w", err)
	}
	in.Path = path.Clean(in.Path)
	switch p.Name {
	case "list":
		entries, err := fs.ReadDir(files.FS(), in.Path)
		var names strings.Builder
		for _, e := range entries {
			names.WriteString(fs.FormatDirEntry(e) + "\n")
		}
		return names.String(), err
	case "read":
		return readFile(files, in.Path)
	case "search":
		return search(files, in.Path, in.Pattern)
	}
	return "", fmt.Errorf("there is no tool %q", p.Name)
}

func readFile(files *os.Root, name string) (string, error) {
	data, err := files.ReadFile(name)
	if err == nil && bytes.IndexByte(data, 0) >= 0 {
		err = fmt.Errorf("%s is not text", name)
	}
	return string(data), err
}

// maxMatches is how many lines a search finds. Winnow cuts results that are too long for the window; this keeps memory
// small.
const maxMatches = 300

var errEnough = errors.New("enough") // ends a search

func search(files *os.Root, dir, pattern string) (string, error) {
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	found := 0
	err = fs.WalkDir(files.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // skip unreadable files
		case e.IsDir() && name != "." && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		text, err := readFile(files, name)
		if err != nil {
			return nil
		}
		for line := range strings.Lines(text) {
			if !expression.MatchString(line) {
				continue
			}
			if found++; found > maxMatches {
				b.WriteString("… and more\n")
				return errEnough
			}
			fmt.Fprintf(&b, "%s: %s\n", name, strings.TrimSuffix(line, "\n"))
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return "", err
	}
	if found == 0 {
		return "nothing found", nil
	}
	return b.String(), nil
}
