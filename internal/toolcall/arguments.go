package toolcall

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/prose"
	"github.com/winnowgo/winnow/internal/runes"
)

// Arguments has what is known of the arguments of a call.
type Arguments struct {
	Command string  // what a shell runs
	File    string  // the file that it works on
	Pattern string  // what a search looks for
	Patched []Patch // files named in a patch
	Patch   string  // the patch

	isCode bool // Command is a program's text
}

// Patch is what a patch does to a file.
type Patch struct{ File, Action string }

// patchActions says what the words in front of a file's name in a patch mean.
var patchActions = map[string]string{
	"Update File": "edited", "Add File": "wrote", "Delete File": "deleted", "Move to": "wrote",
}

func (a *Arguments) patch(text string) {
	a.Patch = text
	for _, m := range patchFile.Get().FindAllStringSubmatch(text, 64) {
		file := markup.Line(strings.TrimSpace(runes.Clip(m[2], identifier.MaxBytes)))
		a.Patched = append(a.Patched, Patch{file, patchActions[m[1]]})
	}
}

// Arguments reads the keys of the common agents, and those by which t names a file.
func (t *Files) Arguments(raw json.RawMessage) Arguments {
	var a Arguments
	object := bytes.TrimSpace(raw)
	if len(object) == 0 || object[0] != '{' {
		a.patch(jsontext.Unquote(raw))
		return a
	}
	fields := membersOf(object)
	for _, key := range commandKeys {
		if a.Command = commandText(fields[key]); a.Command != "" {
			break
		}
	}
	a.File = markup.Line(strings.TrimSpace(runes.Clip(firstText(fields, t.paths), identifier.MaxBytes)))
	if code, _ := jsontext.Decode(fields["code"]); a.Command+a.File == "" && strings.Contains(code, "(") {
		a.Command, a.isCode = code, true // of a notebook
	}
	a.Pattern = firstText(fields, patternKeys)
	for _, key := range []string{"input", "patch", "command", "cmd"} {
		if value := fields[key]; bytes.Contains(value, []byte("*** ")) {
			a.patch(commandText(value))
		}
	}
	return a
}

// commandKeys are the arguments that hold what a shell runs.
var commandKeys = []string{"command", "cmd", "script", "chars"}

// patternKeys are the arguments that hold what a search looks for.
var patternKeys = []string{"pattern", "query", "regex", "search_term"}

// membersOf returns the members of a JSON object by their keys. They are read where they lie: package json copies each.
func membersOf(object []byte) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	jsontext.Members(object, func(key string, value []byte) { fields[key] = value })
	return fields
}

// firstText returns the text of the first of the keys that has one.
func firstText(fields map[string]json.RawMessage, keys []string) string {
	for _, key := range keys {
		if text, _ := jsontext.Decode(fields[key]); text != "" {
			return text
		}
	}
	return ""
}

var patchFile = prose.NewPattern(`(?m)^\*\*\* (Update File|Add File|Delete File|Move to): (.+)$`)

// commandText reads a command, which is a string, or a list whose last element is the script of a shell.
func commandText(raw json.RawMessage) string {
	if s, _ := jsontext.Decode(raw); s != "" {
		return s
	}
	var words []string
	_ = json.Unmarshal(raw, &words) // what is no list has no words
	if len(words) == 3 && strings.HasPrefix(words[1], "-") {
		return words[2]
	}
	return strings.Join(words, " ")
}
