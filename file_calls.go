package winnow

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/runes"
)

// Which files a call works on.

// fileTools are the tools that work on a file, and the arguments that name it.
type fileTools struct{ read, modify, paths []string }

// commonFileTools are those of common agents. Sources: the reference (read, write, edit with path) and the
// recorded sessions of Claude Code, Codex, opencode, Gemini CLI, OpenHands.
var commonFileTools = fileTools{
	read:   []string{"read", "read_file", "readfile", "view", "cat", "open_file", "fs_read", "notebookread", "get_file"},
	modify: []string{"write", "write_file", "writefile", "edit", "edit_file", "multiedit", "create_file", "create", "str_replace", "str_replace_editor", "str_replace_based_edit_tool", "replace", "insert", "patch", "apply_patch", "notebookedit", "fs_write", "append_file", "delete_file"},
	paths:  []string{"file_path", "path", "filePath", "filename", "file", "notebook_path", "target_file", "absolute_path", "filepath", "uri"},
}

// fileTools returns the common tools and the host's own.
func (o *CompactOptions) fileTools() *fileTools {
	t := commonFileTools
	for _, name := range o.ReadTools {
		t.read = append(slices.Clip(t.read), fold(name))
	}
	for _, name := range o.ModifyTools {
		t.modify = append(slices.Clip(t.modify), fold(name))
	}
	t.paths = append(slices.Clip(t.paths), o.PathArguments...)
	return &t
}

// addFiles takes the files out of a call.
func (c *carried) addFiles(tools *fileTools, call *Part) {
	name := fold(call.Name)
	if i := strings.LastIndex(name, "__"); i >= 0 { // mcp__server__tool
		name = name[i+2:]
	}
	reads, modifies := slices.Contains(tools.read, name), slices.Contains(tools.modify, name)
	if !reads && !modifies && !bytes.Contains(call.Arguments, []byte("*** ")) { // a patch that a shell applies
		return
	}
	args := readArguments(call.Arguments, tools.paths)
	for _, path := range args.patched {
		if isPath(path) {
			c.Modified = appendNewest(c.Modified, path)
		}
	}
	switch {
	case !isPath(args.file) || !reads && !modifies:
	case modifies && args.command != "view": // an editor's command that only looks
		c.Modified = appendNewest(c.Modified, args.file)
	default:
		c.Read = appendNewest(c.Read, args.file)
	}
}

// isPath says that s may be the name of a file. What has … in it was too long to be one.
func isPath(s string) bool { return s != "" && !strings.ContainsAny(s, "\n<>…") }

// appendNewest puts s at the end of list, once.
func appendNewest(list []string, s string) []string {
	if list = appendOnce(list, s); len(list) > 2*maxSectionFiles {
		list = slices.Clone(newest(list, maxSectionFiles))
	}
	return list
}

// callArguments is what is read of the arguments of a call.
type callArguments struct {
	command string
	file    string
	patched []string // files named in a patch
}

// readArguments reads the argument keys of the common agents; paths are those that name a file.
func readArguments(raw json.RawMessage, paths []string) callArguments {
	var a callArguments
	var fields map[string]json.RawMessage
	if t := bytes.TrimSpace(raw); len(t) == 0 || t[0] != '{' || json.Unmarshal(t, &fields) != nil {
		a.patch(jsontext.Unquote(raw))
		return a
	}
	for _, key := range []string{"command", "cmd", "script", "chars"} {
		if a.command = commandText(fields[key]); a.command != "" {
			break
		}
	}
	for _, key := range paths {
		if a.file = jsonString(fields[key]); a.file != "" {
			a.file = sectionLine(strings.TrimSpace(runes.Clip(a.file, identifier.MaxBytes)))
			break
		}
	}
	for _, key := range []string{"input", "patch", "command", "cmd"} {
		if bytes.Contains(fields[key], []byte("*** ")) {
			a.patch(commandText(fields[key]))
		}
	}
	return a
}

func (a *callArguments) patch(text string) {
	for _, m := range patchFile.Get().FindAllStringSubmatch(text, 64) {
		a.patched = append(a.patched, sectionLine(strings.TrimSpace(runes.Clip(m[1], identifier.MaxBytes))))
	}
}

func jsonString(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// commandText is a command that is a string, or a list whose last element is the script of a shell.
func commandText(raw json.RawMessage) string {
	if s := jsonString(raw); s != "" {
		return s
	}
	var words []string
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &words) != nil || len(words) == 0 {
		return ""
	}
	if len(words) == 3 && strings.HasPrefix(words[1], "-") {
		return words[2]
	}
	return strings.Join(words, " ")
}
