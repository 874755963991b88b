package toolcall

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	own := Common.With(More{Read: []string{"Peek", "editor_peek"}, Modify: []string{"paint"}, Paths: []string{"canvas"}})
	for _, tc := range []struct {
		tool, arguments string
		want            Use
		reason          string
	}{
		{"read_file", `{"path":"a.go"}`, Use{Read: []string{"a.go"}}, "a common tool"},
		{"mcp__disk__Write", `{"file_path":"a.go"}`, Use{Modified: []string{"a.go"}}, "the server in front does not count, nor case"},
		{"str_replace_editor", `{"command":"view","path":"a.go"}`, Use{Read: []string{"a.go"}}, "an editor that only looks"},
		{"fs.readFile", `{"path":"a.go"}`, Use{Read: []string{"a.go"}}, "a namespace, and camel case"},
		{"filesystem/read-file", `{"path":"a.go"}`, Use{Read: []string{"a.go"}}, "another namespace, and dashes"},
		{"mcp__fs__strReplace", `{"path":"a.go"}`, Use{Modified: []string{"a.go"}}, "a server, and camel case"},
		{"bash", `{"command":"cat a.go"}`, Use{}, "a shell command is not read"},
		{"bash", `{"command":["bash","-lc","apply_patch\n*** Update File: a.go\n"]}`, Use{Modified: []string{"a.go"}}, "but a patch in it is"},
		{"apply_patch", `"*** Add File: a.go\n*** Delete File: b.go"`, Use{Modified: []string{"a.go", "b.go"}}, "arguments that are one string"},
		{"peek", `{"canvas":"a.go"}`, Use{Read: []string{"a.go"}}, "the host's own tool and argument"},
		{"paint", `{"canvas":"a\nb"}`, Use{Modified: []string{"a b"}}, "a name is one line"},
		{"MultiEditV2", `{"path":"a.go"}`, Use{Modified: []string{"a.go"}}, "a word in the name of a tool that nobody knows"},
		{"editor_peek", `{"canvas":"a.go"}`, Use{Read: []string{"a.go"}}, "the host says that it reads"},
		{"write", `{"path":"<a>"}`, Use{}, "not a path"},
		{"write", `{"path":7`, Use{}, "not JSON"},
	} {
		assert.Equal(t, tc.want, own.Of(tc.tool, json.RawMessage(tc.arguments)), "%s %s: %s", tc.tool, tc.arguments, tc.reason)
	}
	assert.Empty(t, Common.Of("peek", json.RawMessage(`{"path":"a.go"}`)).Read, "With leaves Common as it is")
}

func TestOutcome(t *testing.T) {
	for _, tc := range []struct{ details, exit, status string }{
		{`{"exitCode":2,"status":" failed "}`, "2", "failed"},
		{`{"exitCode":"2","status":7}`, "2", ""},
		{`{"exitCode":"two","status":""}`, "", ""},
		{`[1]`, "", ""},
		{``, "", ""},
	} {
		exit, status := Outcome(json.RawMessage(tc.details))
		assert.Equal(t, tc.exit, exit, tc.details)
		assert.Equal(t, tc.status, status, tc.details)
	}
}

func TestWrites(t *testing.T) {
	for tool, want := range map[string]bool{"Write": true, "fs_delete": true, "str_replace": true, "read": false, "": false,
		"mcp__editor__open": false} { // the name of a server says nothing of its tools
		assert.Equal(t, want, Writes(tool), tool)
	}
}
