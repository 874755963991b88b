package toolcall

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Many hosts mark no result as an error. Then its text says whether the call failed.
func TestFailed(t *testing.T) {
	for _, tt := range []struct {
		tool, arguments, text string
		want                  bool
		reason                string
	}{
		{"edit", `{"path":"a.go"}`, "String to replace not found", true, "a refused edit"},
		{"edit", `{"path":"a.go"}`, "Edited a.go", false, "an edit"},
		{"shell", `{"cmd":"apply_patch\n*** Update File: a.go\n"}`, "Exit code: 1\nOutput:\nno such hunk", true, "a patch by a shell"},
		{"read", `{"path":"a.go"}`, "Error: ENOENT: no such file\n", true, "a file that is not there"},
		{"read", `{"path":"a.go"}`, "Error: ENOENT\nis what we want", false, "a file that has such a line"},
		{"str_replace_editor", `{"command":"view","path":"a.go"}`, "The path a.go does not exist.", true, "an editor that looks"},
		{"bash", `{"command":"make"}`, "Exit code 2\nno rule", true, "an exit code"},
		{"bash", `{"command":"make"}`, "<returncode>0</returncode>\nx exited with code 1", false, "that of another program"},
		{"bash", `{"command":"grep -rn foo ."}`, "Process exited with code 1\nOutput:\n", false, "nothing was found"},
		{"bash", `{"command":"grep -rn foo ."}`, "Process exited with code 2\nOutput:\n", true, "a search that failed"},
		{"bash", `{"command":"go test ./... && npm test"}`, "Process exited with code 1\nOutput:\n--- FAIL: TestX", true, "tests failed"},
		{"bash", `{"command":"cd x && test -f y"}`, "Process exited with code 1\nOutput:\n", false, "a condition that does not hold"},
		{"bash", `{"command":"diff a b"}`, "1c1\nexit code 1", false, "the files differ"},
		{"bash", `{"command":"git show"}`, "commit 1\n  why it ended with\n  exit code 1.\n\n a.go | 2 +-", false, "a commit's message"},
		{"bash", `{"command":"cat x"}`, "Exit code 1\ncat: x: No such file", true, "a file that is not there"},
		{"bash", `{"command":"cat x"}`, "\n<shellId: 51 completed with exit code 128>", true, "a frame at the end"},
		{"bash", `{"command":"git push"}`, "fatal: no upstream", true, "a program's own word"},
		{"bash", `{"command":"git log"}`, "fix: the error of yesterday", false, "a commit"},
		{"bash", `{"command":"cat log"}`, "Error: in a file", false, "text of a file"},
		{"mcp__jira__create_issue", `{"title":"x"}`, "Error: 403 Forbidden", true, "a service"},
		{"mcp__jira__create_issue", `{"title":"x"}`, `{"success":false,"message":"no"}`, true, "a service, in JSON"},
		{"bash", `{"command":"rm -rf x"}`, "User rejected this command.", true, "denied by a person"},
		{"bash", `{"command":"rm -rf x"}`, "Permission to use Bash has been denied.", true, "denied by a rule"},
		{"bash", `{"command":"sleep 9"}`, "Command timed out after 5s", true, "stopped"},
		{"bash", `{"command":"git status"}`, "nothing to commit, working tree clean", false, "nothing is wrong"},
		{"mcp__jira__create", `{}`, `{"errorMessages":[],"errors":{"priority":"Priority is required."}}`, true, "by its fields"},
		{"graphql", `{}`, `{"data":null,"errors":[{"message":"no such field"}]}`, true, "in a list"},
		{"graphql", `{}`, `{"data":{"id":1},"errors":[]}`, false, "none in the list"},
		{"bash", `{"command":"rm -rf x"}`, "The user rejected the command.", true, "with an article"},
		{"bash", `{"command":"rm -rf x"}`, "The user doesn't want to proceed. The tool use was rejected.", true, "in the second sentence"},
		{"bash", `{"command":"make"}`, "Command execution timed out", true, "stopped, by another name"},
		{"bash", `{"command":"ls"}`, "The timed release is in releases/1.2", false, "timed, but not out"},
		{"bash", `{"command":"ls"}`, "User guide for accounts of blocked users", false, "a word that denies nothing"},
		{"bash", `{"command":"ls"}`, "Request and operation logs of forbidden pages: none", false, "nor does this"},
		{"bash", `{"command":"cat build.log"}`, "make: *** [all] Error 2\nProcess exited with code 1", false, "the last line of a log"},
		{"bash", `{"command":"tail -3 ci.log"}`, "FAIL\nexit status 1\n", false, "the last line of a log"},
		{"bash", `{"command":"cat x"}`, "cat: x: No such file\n\nCommand exited with code 1", true, "a host's line behind a blank one"},
		{"bash", `{"command":"cat x"}`, "cat: x: No such file\n[exit code: 1]", true, "in brackets"},
		{"bash", `{"command":"cat x"}`, "Command exited with code 1", true, "nothing else"},
		{"bash", `{"command":"make"}`, "x\nCommand exited with code 1", true, "the end of what a program wrote"},
		{"bash", `{"command":"git push"}`, "To github.com:a/b\n ! [rejected] main -> main\nerror: failed to push\nhint: pull first", true, "above a hint"},
		{"bash", `{"command":"npx vitest run | tail"}`, "Tests  1 failed | 1 passed\nDuration  300ms", true, "a count above a time"},
		{"bash", `{"command":"dotnet test | tail"}`, "Failed!  - Failed:     1, Passed:     2", true, "a count behind its word"},
		{"bash", `{"command":"npx vitest run | tail"}`, "Tests  0 failed | 2 passed\nerrors: 0", false, "counts of none"},
		{"bash", `{"command":"npx tsc"}`, "src/b.ts(1,1): error TS2304: Cannot find name 'x'.", true, "a compiler"},
		{"bash", `{"command":"go vet ./..."}`, "# a\n./a.go:12:2: undefined: x", true, "a compiler without the word"},
		{"bash", `{"command":"python3 a.py"}`, "Traceback (most recent call last):\n  x\nKeyError: 'x'", true, "an interpreter"},
		{"execute_python", `{"code":"f(1)"}`, "---\nTraceback (most recent call last)\nFile x\n\nKeyError: 'x'", true, "a cell of a notebook"},
		{"bash", `{"command":"make | tail"}`, "make: *** [Makefile:12: x.o] Error 1", true, "make"},
		{"bash", `{"command":"sudo -u me createdb x"}`, "createdb: database \"x\" is there", true, "a program that another one runs"},
		{"bash", `{"command":"python3 -c 'passed = 0; print(passed)'"}`, "Passed: 254, Failed: 0", false, "a word of a text is no program"},
		{"bash", `{"command":"./run"}`, "Segmentation fault (core dumped)", true, "a shell's word"},
		{"powershell", `{"command":"foo"}`, "'foo' is not recognized as an internal or external command,\r\noperable program.", true, "Windows"},
		{"bash", `{"command":"./test.sh"}`, "FAIL: one\nPASS: two\nPASS: three", false, "a case among others"},
		{"bash", `{"command":"python3 a.py"}`, "Exit code 0\nKeyError: 'x'", false, "the exit code says more"},
		{"run", `{}`, `{"errors":"none found"}`, false, "JSON that says that there are none"},
		{"get_metrics", `{}`, "Error rate: 0.1 %", false, "a measure"},
		{"get_metrics", `{}`, "Errors: 0", false, "a count"},
		{"run_query", `{"sql":"select"}`, "TypeError: x is no function", true, "an exception"},
		{"查询", `{"条件":"x"}`, "错误：权限不足", true, "in Chinese"},
		{"get_metrics", `{}`, "Error: 0, Warning: 2", false, "counts"},
		{"bash", `{"command":"./train"}`, "mean_squared_error: 0.12", false, "a measure of a program"},
		{"run_query", `{"sql":"select"}`, "Error:\nno such table", true, "the reason stands in the next line"},
		{"grep", `{"pattern":"x"}`, "Error: in a file", false, "a match"},
		{"read", `{"path":"a.go"}`, "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>",
			false, "an empty file"},
		{"read", `{"path":"a.go"}`, "File unchanged since last read. The content from the earlier result is not repeated.",
			false, "a file that was shown before"},
		{"read", `{"path":"a.go"}`, "     1\treturn errors.New(\"not found\")", false, "a line of a file, with its number"},
	} {
		c := Common.Call(tt.tool, json.RawMessage(tt.arguments))
		assert.Equal(t, tt.want, c.Failed(tt.text), "%s %s: %s", tt.tool, tt.arguments, tt.reason)
	}
}

// TestSaysUnchanged: a notice is short by its own bytes, and not by those of its small letters: K, the sign of Kelvin,
// has three of them, and k has one.
func TestSaysUnchanged(t *testing.T) {
	t.Parallel()
	assert.True(t, SaysUnchanged("File NOT changed since it was read"))
	assert.False(t, SaysUnchanged("File unchanged: \u212A"+strings.Repeat(" and then more of it", 20)))
	assert.False(t, SaysUnchanged("package main"))
}
