package digest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// An exit code in a text that a tool shows does not say how the call went.
func TestFailedCalls(t *testing.T) {
	n := New()
	n.Called("1", "read", []byte(`{"path":"a.sh"}`))
	n.Returned(Result{CallID: "1", Tool: "read", Text: "#!/bin/sh\nexit code 1\n"})
	n.Called("2", "exec", []byte(`{"command":"make"}`))
	n.Returned(Result{CallID: "2", Tool: "exec", Text: "no rule\nexit code 2\n"})
	assert.Len(t, n.failures, 1)
	assert.Equal(t, "exec: no rule exit code 2", n.failures[0].note())
	assert.Equal(t, []string{"`make` → exit 2"}, n.commands)
}

// A digest says what was done to files: not what an edit was to do that failed.
func TestFilesOfFailedCalls(t *testing.T) {
	t.Parallel()
	n := New()
	call := func(id, tool, arguments, result string, failed bool) {
		n.Next()
		n.Called(id, tool, []byte(arguments))
		n.Returned(Result{CallID: id, Text: result, IsError: failed})
	}
	call("1", "write", `{"path":"good.go"}`, "written", false)
	call("2", "edit", `{"path":"bad.go"}`, "no such file", true)
	call("3", "edit", `{"path":"same.go"}`, "No replacement was performed: old_str did not appear in same.go", false)
	call("4", "apply_patch", `{"input":"*** Update File: a.go\n*** Delete File: b.go\n"}`, "Success.", false)
	call("5", "apply_patch", `{"input":"*** Update File: c.go\n"}`, "Failed to find the lines in c.go", false)
	n.Next()
	n.Called("6", "edit", []byte(`{"path":"open.go"}`))
	n.End()
	assert.Equal(t, []string{"wrote good.go", "edited a.go", "deleted b.go", "edited open.go"}, n.files.lines())
	assert.Len(t, n.failures, 3)
	assert.Contains(t, n.failures[1].note(), "edit: same.go: ")
}

// A path that a digest has no room for is left out: half a path is another path.
func TestPathsAreWhole(t *testing.T) {
	t.Parallel()
	var paths []string
	n := New()
	for i := range 40 {
		path := fmt.Sprintf("packages/a_rather_long_name_%d/src/generated/another_long_name/file_%d.go", i, i)
		paths = append(paths, "- edited "+path)
		n.Next()
		n.Called(path, "edit", []byte(`{"path":"`+path+`"}`))
		n.Returned(Result{CallID: path, Text: "done"})
	}
	n.End()
	for _, limit := range []int{200, 400, 1_000, 2_000} {
		for line := range strings.Lines(n.Write(limit)) {
			if strings.HasPrefix(line, "- edited ") {
				assert.Contains(t, paths, strings.TrimSpace(line), limit)
			}
		}
	}
}
