package toolcall

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/lazyregexp"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/runes"
)

// Arguments has what is known of the arguments of a call.
type Arguments struct {
	Command string   // what a shell runs
	File    string   // the file that it works on
	Patched []string // files named in a patch
}

func (a *Arguments) patch(text string) {
	for _, m := range patchFile.Get().FindAllStringSubmatch(text, 64) {
		a.Patched = append(a.Patched, markup.Line(strings.TrimSpace(runes.Clip(m[1], identifier.MaxBytes))))
	}
}

// Arguments reads the keys of the common agents, and those by which t names a file.
func (t *Files) Arguments(raw json.RawMessage) Arguments {
	var a Arguments
	var fields map[string]json.RawMessage
	if object := bytes.TrimSpace(raw); len(object) == 0 || object[0] != '{' || json.Unmarshal(object, &fields) != nil {
		a.patch(jsontext.Unquote(raw))
		return a
	}
	for _, key := range commandKeys {
		if a.Command = commandText(fields[key]); a.Command != "" {
			break
		}
	}
	for _, key := range t.paths {
		if a.File = jsonString(fields[key]); a.File != "" {
			a.File = markup.Line(strings.TrimSpace(runes.Clip(a.File, identifier.MaxBytes)))
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

// commandKeys are the arguments that hold what a shell runs.
var commandKeys = []string{"command", "cmd", "script", "chars"}

var patchFile = lazyregexp.New(`(?m)^\*\*\* (?:Update|Add|Delete) File: (.+)$`)

func jsonString(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// commandText reads a command, which is a string, or a list whose last element is the script of a shell.
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
