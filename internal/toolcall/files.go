// Package toolcall reads what a tool call is about: the tool, the file, the command, how it ended, and
// which files an agent is working on.
package toolcall

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// Files knows the tools that work on a file, the arguments that name it, and the tools whose newest call holds.
type Files struct {
	read, modify, paths, plans, skills []string

	notes bool // the model has the tools for notes
}

// Common has the tools of common agents, each as baseName writes it. Sources: the reference (read, write, edit with
// path), the recorded sessions of Claude Code, Codex, opencode, Gemini CLI and OpenHands, and what Cline, Cursor and
// the file system server of MCP call theirs.
var Common = Files{
	read: []string{"read", "readfile", "readtextfile", "view", "viewfile", "cat", "openfile", "fsread", "notebookread",
		"getfile"},
	modify: []string{"write", "writefile", "writetofile", "edit", "editfile", "multiedit", "createfile", "create",
		"strreplace", "strreplaceeditor", "strreplacebasededittool", "searchreplace", "replace", "replaceinfile",
		"insert", "patch", "applypatch", "applydiff", "notebookedit", "fswrite", "appendfile", "deletefile"},
	paths: []string{"file_path", "path", "filePath", "filename", "file", "notebook_path", "target_file",
		"absolute_path", "filepath", "uri"},
	// Claude Code, opencode, Codex, Gemini CLI, deepagents, Roo Code, Copilot, Hermes, Crush, OpenHands
	plans: []string{"todowrite", "writetodos", "updateplan", "updatetodolist", "managetodolist", "todo", "todos",
		"updatetodos", "tasktracker"},
	// Claude Code, opencode, Copilot, Gemini CLI, Hermes
	skills: []string{"skill", "skills", "loadskill", "useskill", "activateskill", "readskill", "skillview"},
}

// isPath reports whether s may be the name of a file. A text with … in it was cut because it was too long to be one.
func isPath(s string) bool { return s != "" && !strings.ContainsAny(s, "\n<>…") }

// baseName returns the name of a tool in lower case, without underscores and dashes, and without the server or the
// namespace in front of it: "readfile" of mcp__server__read_file, of fs.readFile and of filesystem/read-file. It
// appends the name to room, since each call is asked for it several times.
func baseName(tool string, room []byte) []byte {
	tool = strings.TrimSpace(tool)
	if !runes.Only(tool) {
		tool = strings.ToLower(tool)
	}
	if i := strings.LastIndex(tool, "__"); i >= 0 {
		tool = tool[i+2:]
	}
	for i := range len(tool) {
		switch c := tool[i]; c {
		case '.', '/', ':':
			room = room[:0]
		case '_', '-':
		default:
			room = append(room, runes.ToLower(c))
		}
	}
	return room
}

// nameRoom is memory for the name of a tool; longer ones are rare.
type nameRoom [64]byte

// isOneOf reports whether a name is in list.
func isOneOf(name []byte, list []string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return s == string(name) })
}

// Reads reports whether a tool shows a file.
func (t *Files) Reads(tool string) bool {
	reads, _ := t.does(tool)
	return reads
}

// does reports whether a tool shows a file, and whether it changes one.
func (t *Files) does(tool string) (reads, modifies bool) {
	var room nameRoom
	name := baseName(tool, room[:0])
	return isOneOf(name, t.read), isOneOf(name, t.modify)
}

// More are the names of a host's own tools, and of arguments that name a file.
type More struct {
	Read, Modify, Paths, Plans, Skills []string

	Notes bool // calls of NoteTool and PhaseTool write notes
}

// With returns t with more tools and more arguments. Names of tools are compared as baseName writes them.
func (t *Files) With(more More) *Files {
	join := func(known, names []string) []string {
		known = slices.Clip(known)
		for _, name := range names {
			known = append(known, string(baseName(name, nil)))
		}
		return known
	}
	return &Files{
		read: join(t.read, more.Read), modify: join(t.modify, more.Modify),
		paths: append(slices.Clip(t.paths), more.Paths...),
		plans: join(t.plans, more.Plans), skills: join(t.skills, more.Skills), notes: more.Notes,
	}
}

// Use is what a call does to files.
type Use struct{ Read, Modified []string }

// Of returns the files that a call works on.
func (t *Files) Of(tool string, arguments json.RawMessage) (use Use) {
	reads, modifies := t.does(tool)
	if !reads && !modifies && !patches(arguments) {
		return use
	}
	args := t.Arguments(arguments)
	return args.use(reads, modifies)
}

// OfShell is Of with the files that a call has a shell show, as far as that can be told, where it changes none.
func (t *Files) OfShell(tool string, arguments json.RawMessage) (use Use) {
	args := t.Arguments(arguments)
	if reads, modifies := t.does(tool); reads || modifies || patches(arguments) {
		use = args.use(reads, modifies)
	}
	if len(use.Modified) == 0 {
		use.Read = append(use.Read, shownByShell(args.Command)...)
	}
	return use
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

// Action says what a tool does to the file that it names, judged by its own name. It is "" for reading, and for a tool
// that is not known.
func Action(tool string) string {
	tool = strings.ToLower(tool)
	for _, a := range [...]struct{ word, action string }{
		{"delete", "deleted"}, {"remove", "deleted"}, {"write", "wrote"}, {"create", "wrote"}, {"save", "wrote"},
		{"edit", "edited"}, {"replace", "edited"}, {"patch", "edited"}, {"insert", "edited"}, {"update", "edited"},
		{"append", "edited"}, {"apply", "edited"},
	} {
		if strings.Contains(tool, a.word) {
			return a.action
		}
	}
	return ""
}
