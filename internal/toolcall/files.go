// Package toolcall reads what a tool call is about: the tool, the file, the command, how it ended, and
// which files an agent is working on.
package toolcall

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/jsontext"
)

// Files knows the tools that work on a file, the arguments that name it, and the tools whose newest call holds.
type Files struct {
	read, modify, paths, plans, skills, asks []string

	notes bool // the model has the tools for notes
}

// Common has the tools of common agents, each as baseName writes it. Sources: the reference (read with path), the
// recorded sessions of Claude Code, Codex, opencode, Gemini CLI and OpenHands, and what Cline, Cursor and the file
// system server of MCP call theirs.
var Common = Files{
	read: []string{"read", "readfile", "readtextfile", "view", "viewfile", "cat", "openfile", "fsread", "notebookread",
		"getfile"},
	paths: []string{"file_path", "path", "filePath", "filename", "file", "notebook_path", "target_file",
		"absolute_path", "filepath", "uri", "relative_path"},
	// Claude Code, opencode, Codex, Gemini CLI, deepagents, Roo Code, Copilot, Hermes, Crush, OpenHands
	plans: []string{"todowrite", "writetodos", "updateplan", "updatetodolist", "managetodolist", "todo", "todos",
		"updatetodos", "tasktracker"},
	// Claude Code, opencode, Copilot, Gemini CLI, Hermes
	skills: []string{"skill", "skills", "loadskill", "useskill", "activateskill", "readskill", "skillview"},
	asks:   commonAsks,
}

// isPath reports whether s may be the name of a file. A text with … in it was cut because it was too long to be one.
func isPath(s string) bool { return s != "" && !strings.ContainsAny(s, "\n<>…") }

// baseName returns the name of a tool in lower case, without underscores and dashes, and without the server or the
// namespace in front of it: "readfile" of mcp__server__read_file, of fs.readFile and of filesystem/read-file.
func baseName(tool string) string {
	tool = strings.ToLower(strings.TrimSpace(tool))
	tool = tool[strings.LastIndexAny(tool, "./:")+1:]
	tool = tool[strings.LastIndex(tool, "__")+1:]
	return withoutDashes.Replace(tool)
}

var withoutDashes = strings.NewReplacer("_", "", "-", "")

// Reads reports whether a tool shows a file.
func (t *Files) Reads(tool string) bool {
	reads, _ := t.does(tool)
	return reads
}

// does reports whether a tool shows a file, and whether it changes one.
func (t *Files) does(tool string) (reads, modifies bool) {
	name := baseName(tool)
	reads = slices.Contains(t.read, name)
	return reads, slices.Contains(t.modify, name) || !reads && Writes(tool)
}

// Writes reports whether the name of a tool says that it changes the file that it is given.
func Writes(tool string) bool {
	name := baseName(tool)
	return slices.ContainsFunc(changing, func(word string) bool { return strings.Contains(name, word) })
}

// changing are words of which one is in the name of each tool of the common agents that changes a file.
var changing = []string{"write", "edit", "create", "replace", "insert", "patch", "apply", "append", "update", "save",
	"delete", "remove"}

// More are the names of a host's own tools, and of arguments that name a file.
type More struct {
	Read, Modify, Paths, Plans, Skills, Asks []string

	Notes bool // calls of NoteTool and PhaseTool write notes
}

// With returns t with more tools and more arguments. Names of tools are compared as baseName writes them.
func (t *Files) With(more More) *Files {
	join := func(known, names []string, write func(string) string) []string {
		return append(slices.Clip(known), each(names, write)...)
	}
	return &Files{
		read: join(t.read, more.Read, baseName), modify: join(t.modify, more.Modify, baseName),
		paths: append(slices.Clip(t.paths), more.Paths...),
		plans: join(t.plans, more.Plans, baseName), skills: join(t.skills, more.Skills, baseName),
		asks: join(t.asks, more.Asks, askName), notes: more.Notes,
	}
}

// Use is what a call does to files.
type Use struct {
	Read, Modified []string

	byCommand bool // a shell or an interpreter does it
}

// Of returns the files that a call works on.
func (t *Files) Of(tool string, arguments json.RawMessage) (use Use) {
	reads, modifies := t.does(tool)
	if !reads && !modifies && !patches(arguments) {
		return use
	}
	args := t.Arguments(arguments)
	return args.use(reads, modifies)
}

// OfShell is Of with the files that a call has a shell write or show, and the file that a tool that is not known is
// given beside a text, as far as that can be told. What a shell shows counts where it changes nothing. Where arguments
// name neither a file nor a command, the objects in them may.
func (t *Files) OfShell(tool string, arguments json.RawMessage) Use {
	use, isTold := t.ofShell(tool, arguments)
	if isTold {
		return use
	}
	inObject := func(value []byte) {
		more, _ := t.ofShell(tool, value)
		use.Modified, use.Read = append(use.Modified, more.Modified...), append(use.Read, more.Read...)
		use.byCommand = use.byCommand || more.byCommand
	}
	jsontext.Members(arguments, func(_ string, value []byte) {
		if value[0] == '[' {
			jsontext.Elements(value, inObject)
		} else {
			inObject(value)
		}
	})
	return use
}

// ofShell also reports whether the arguments name a file or a command.
func (t *Files) ofShell(tool string, arguments json.RawMessage) (use Use, isTold bool) {
	if len(arguments) == 0 || arguments[0] != '{' && !patches(arguments) {
		return use, false
	}
	args := t.Arguments(arguments)
	reads, modifies := t.does(tool)
	isKnown := reads || modifies || patches(arguments)
	switch {
	case isKnown:
		use = args.use(reads, modifies)
	case args.File != "" && args.write(arguments):
		use = args.use(false, true)
	}
	switch {
	case isKnown:
	case args.isCode: // it may write to any file that it names
		use.Modified, use.byCommand = append(use.Modified, namedIn(args.Command)...), true
	case args.Command != "":
		use.Modified, use.byCommand = append(use.Modified, writtenByShell(args.Command)...), true
	}
	if len(use.Modified) == 0 {
		use.Read = append(use.Read, shownByShell(args.Command)...)
	}
	return use, args.File+args.Command != "" || args.Patched != nil
}

// write reports whether the arguments of a tool that is not known may write to the file that they name: they have an
// old text and a new one, or a text of several lines that is no command.
func (a *Arguments) write(raw json.RawMessage) bool {
	return replaces(raw) || a.Command == "" && a.Pattern == "" && bytes.Contains(raw, []byte(`\n`))
}

// replaces reports whether the arguments have an old text and a new one.
func replaces(arguments json.RawMessage) bool {
	var keys []string
	jsontext.Members(arguments, func(key string, value []byte) {
		if value[0] == '"' {
			keys = append(keys, key)
		}
	})
	return slices.ContainsFunc(keys, func(key string) bool {
		return slices.ContainsFunc(keys, func(old string) bool { return IsOldOf(old, key) })
	})
}

// IsOldOf reports whether one key names the old text and the other one the new one: old_str and new_str, search and
// replace.
func IsOldOf(old, other string) bool {
	old, other = strings.ToLower(old), strings.ToLower(other)
	if strings.HasPrefix(other, "repl") {
		return old == "search" || old == "find" || old == "regex"
	}
	return strings.Contains(other, "new") && old == strings.Replace(other, "new", "old", 1)
}

// patches reports whether a call may hold a patch, which a shell may apply too.
func patches(arguments json.RawMessage) bool { return bytes.Contains(arguments, []byte("*** ")) }

// use returns the files that a call with these arguments works on, by what its tool does.
func (a *Arguments) use(reads, modifies bool) (use Use) {
	for _, p := range a.Patched {
		if isPath(p.File) {
			use.Modified = append(use.Modified, p.File)
		}
	}
	switch {
	case !isPath(a.File) || !reads && !modifies:
	case modifies && a.Command != "view": // an editor's command that only looks
		use.Modified = append(use.Modified, a.File)
	default:
		use.Read = append(use.Read, a.File)
	}
	return use
}
