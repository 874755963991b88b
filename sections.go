package winnow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Sections of a summary that code owns and no model can lose. Formats and numbers of the failures, the
// files and the rules are the reference's.

const (
	maxListedFailures = 8
	maxFailureChars   = 240
	maxRulesChars     = 2_000
	maxSectionFiles   = 200 // of each list; the newest stay
	rulesCut          = "\n...[truncated]..."
)

// carried is what code owns of the history that a summary stands for. It grows over compactions, within caps.
type carried struct {
	Failures []failure `json:"failures,omitempty"` // in order
	More     int       `json:"more,omitempty"`     // failures besides
	Read     []string  `json:"read,omitempty"`     // files that were read, oldest first
	Modified []string  `json:"modified,omitempty"` // files that were written or edited, oldest first
}

// failure is a tool call that failed.
type failure struct {
	Call string `json:"call"` // its id
	Line string `json:"line"` // as it is listed
}

// add returns c with what messages hold besides.
func (c carried) add(messages []Message) carried {
	c.Failures, c.Read, c.Modified = slices.Clone(c.Failures), slices.Clone(c.Read), slices.Clone(c.Modified)
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case RoleTool:
			c.addFailure(m)
		case RoleAssistant:
			for k := range m.Parts {
				if m.Parts[k].Kind == KindToolCall {
					c.addFiles(&m.Parts[k])
				}
			}
		}
	}
	c.Read, c.Modified = newest(c.Read, maxSectionFiles), newest(c.Modified, maxSectionFiles)
	return c
}

func newest(list []string, n int) []string { return list[max(0, len(list)-n):] }

func (c *carried) addFailure(m *Message) {
	if !m.IsError || m.ToolCallID == "" || isMissingResult(m) || slices.ContainsFunc(c.Failures, func(f failure) bool { return f.Call == m.ToolCallID }) {
		return
	}
	if len(c.Failures) == maxListedFailures {
		c.More++
		return
	}
	c.Failures = append(c.Failures, failure{m.ToolCallID, failureLine(m)})
}

// failureLine is one line on a result that is an error: NAME (META): TEXT.
func failureLine(m *Message) string {
	name := strings.TrimSpace(m.ToolName)
	if name == "" {
		name = "tool"
	}
	var texts []string
	for i := range m.Parts {
		if m.Parts[i].Kind == KindText {
			texts = append(texts, m.Parts[i].Text)
		}
	}
	text := strings.Join(strings.Fields(strings.Join(texts, "\n")), " ")
	meta := failureMeta(m.Details)
	switch {
	case text == "" && meta != "":
		text = "failed"
	case text == "":
		text = "failed (no output)"
	case charsAtLeast(text, maxFailureChars+1):
		text = text[:headEnd(text, maxFailureChars-3)] + "..."
	}
	if meta != "" {
		name += " (" + meta + ")"
	}
	return name + ": " + text
}

// failureMeta names the two fields of Details that a summary may name.
func failureMeta(details json.RawMessage) string {
	exit, status := toolOutcome(details)
	var out []string
	if status != "" {
		out = append(out, "status="+status)
	}
	if exit != "" {
		out = append(out, "exitCode="+exit)
	}
	return strings.Join(out, " ")
}

// failuresSection lists the first failures and says how many there are besides.
func (c *carried) failuresSection() string {
	if len(c.Failures) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\n## Tool Failures")
	for _, f := range c.Failures {
		b.WriteString("\n- " + escapeSummary(f.Line))
	}
	if c.More > 0 {
		fmt.Fprintf(&b, "\n- ...and %d more", c.More)
	}
	return b.String()
}

// Tools of common agents that work on a file, and the arguments that name it. Sources: the reference (read,
// write, edit with path) and the recorded sessions of Claude Code, Codex, opencode, Gemini CLI, OpenHands.
var (
	readTools     = []string{"read", "read_file", "readfile", "view", "cat", "open_file", "fs_read", "notebookread", "get_file"}
	modifyTools   = []string{"write", "write_file", "writefile", "edit", "edit_file", "multiedit", "create_file", "create", "str_replace", "str_replace_editor", "str_replace_based_edit_tool", "replace", "insert", "patch", "apply_patch", "notebookedit", "fs_write", "append_file", "delete_file"}
	pathArguments = []string{"path", "file_path", "filepath", "filePath", "file", "filename", "notebook_path", "target_file", "absolute_path", "uri"}
)

func (c *carried) addFiles(call *Part) {
	name := fold(call.Name)
	if i := strings.LastIndex(name, "__"); i >= 0 { // mcp__server__tool
		name = name[i+2:]
	}
	reads, modifies := slices.Contains(readTools, name), slices.Contains(modifyTools, name)
	if !reads && !modifies {
		return
	}
	path, command := pathArgument(call.Arguments)
	if path == "" {
		return
	}
	if command == "view" { // an editor's command that only looks
		reads, modifies = true, false
	}
	if modifies {
		c.Modified = appendNewest(c.Modified, path)
		return
	}
	c.Read = appendNewest(c.Read, path)
}

// appendNewest puts s at the end of list, once.
func appendNewest(list []string, s string) []string {
	if i := slices.Index(list, s); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if len(list) >= 2*maxSectionFiles {
		list = slices.Clone(newest(list, maxSectionFiles))
	}
	return append(list, s)
}

// pathArgument returns the file that a call names, and the call's "command" argument if it has one.
func pathArgument(arguments json.RawMessage) (path, command string) {
	if len(arguments) == 0 || len(arguments) > 1<<22 {
		return "", ""
	}
	var fields map[string]json.RawMessage
	if json.NewDecoder(bytes.NewReader(arguments)).Decode(&fields) != nil {
		return "", ""
	}
	text := func(name string) (s string) {
		if json.Unmarshal(fields[name], &s) != nil || strings.ContainsAny(s, "\n<>") || len(s) > 1_000 {
			return ""
		}
		return strings.TrimSpace(s)
	}
	for _, name := range pathArguments {
		if path = text(name); path != "" {
			break
		}
	}
	return path, text("command")
}

// filesSection lists what was read and what was modified, sorted; a file that was modified is not listed
// as read.
func (c *carried) filesSection() string {
	read := slices.DeleteFunc(slices.Clone(c.Read), func(s string) bool { return slices.Contains(c.Modified, s) })
	return fileList("read-files", read) + fileList("modified-files", c.Modified)
}

func fileList(tag string, files []string) string {
	if len(files) == 0 {
		return ""
	}
	sorted := slices.Sorted(slices.Values(files))
	return "\n\n<" + tag + ">\n" + strings.Join(sorted, "\n") + "\n</" + tag + ">"
}

// rulesSection holds the rules that the host wants to survive.
func rulesSection(rules string) string {
	rules = strings.TrimSpace(rules)
	if rules == "" {
		return ""
	}
	if end := headEnd(rules, maxRulesChars); end < len(rules) {
		rules = rules[:end] + rulesCut
	}
	return "\n\n<workspace-critical-rules>\n" + rules + "\n</workspace-critical-rules>"
}

const (
	summaryBegin = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
	summaryEnd   = "\n</summary>"
)

// escapeSummary keeps text from closing the summary that it is in, or from opening a section of it.
func escapeSummary(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	for _, tag := range []string{"summary", "read-files", "modified-files", "workspace-critical-rules"} {
		s = strings.ReplaceAll(s, "</"+tag, "<\\/"+tag)
		s = strings.ReplaceAll(s, "<"+tag+">", "<\\"+tag+">")
	}
	return s
}

// summaryBody returns what a summary message stands for, without what is put around it.
func summaryBody(m *Message) string {
	s := joinedText(m)
	s = strings.TrimPrefix(s, summaryBegin)
	if i := strings.LastIndex(s, summaryEnd); i >= 0 {
		s = s[:i]
	}
	return s
}
