package excerpt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The reason of a failure is the line of the output that says why, and not the lines in front of it.
func TestReason(t *testing.T) {
	header := strings.Repeat("• Packages in scope: core, cli\n", 20)
	trace := "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    x()\n"
	for _, tt := range []struct{ name, text, want string }{
		{"a compiler behind a header", header + "src/index.ts(892,11): error TS2322: no\nERROR: command failed\n",
			"src/index.ts(892,11)"},
		{"a place behind a header", header + "./a_test.go:5:2: \"path\" imported and not used\nFAIL a [build failed]", "./a_test.go"},
		{"a warning in front of it", header + "a.py:3: SyntaxWarning: \"is\"\nKeyError: 1\n", "KeyError: 1"},
		{"a place that is a host's", header + "10.0.0.1:80 listens\n12:03.5 on\nError: no\n", "Error: no"},
		{"an exception behind its traceback", header + trace + "ValueError: no\n", "ValueError: no"},
		{"the first of two exceptions", header + trace + "KeyError: 1\n\nDuring handling:\n\n" + trace + "a.b.C: no", "KeyError: 1"},
		{"frames that are not indented", header + "Traceback (most recent call last):\nFile \"a.py\", line 3\nDEBUG: x\nOSError: no", "OSError: no"},
		{"a test", header + "--- FAIL: TestX (0.00s)\n", "--- FAIL: TestX"},
		{"an exit code does not say why it failed", header + "error: script exited with code 1\nexit status 2\n" + header + "panic: no\n", "panic: no"},
		{"a count of zero failures does not say why it failed", header + "Failed: 0\nError: no x\n", "Error: no x"},
		{"an exit code, where nothing says more", header + "ERROR: process \"npm ci\" failed: exit code: 1\nexit status 1\n", "ERROR: process"},
		{"zero failures, where nothing says more", header + "Failed: 0\n", header[:40]},
		{"frames of a test", header + "a/run.py:28: in call\n    f()\na/main.py:7: in f\n    return g()\nE   ValueError: no\n", "a/main.py:7"},
		{"a place with the code there", header + "a.c:7: no\n    f()\nb\nError: x\n", "a.c:7"},
		{"names of code", header + "- .map_err(|e| HintsError::WriteError(e))\n+ x\nerror: no\n", "error: no"},
		{"another language", header + "错误：没有文件\n", "错误：没有文件"},
		{"at the end of a long text", strings.Repeat(header, 60) + "fatal: no\n", "fatal: no"},
		{"in the first half anyway", "Exit code 1\nnpm error: E404\n" + header, "Exit code 1"},
		{"a short text", "Exit code 1\n" + "Error: no", "Exit code 1"},
		{"nothing reports: the end", "Exit code 1\n" + header + "x\n", header[:40]},
		{"a verdict at the end", header + "Tests  1 failed\nDuration  3s\n", "Tests  1 failed"},
		{"a traceback that is cut", header + "Traceback (most recent call last):\n  File \"a.py\"", header[:40]},
		{"nothing", "", ""},
	} {
		got := tt.text[Reason(tt.text, 160):]
		assert.True(t, strings.HasPrefix(got, tt.want), "%s: %.60q", tt.name, got)
	}
}

func FuzzReason(f *testing.F) {
	f.Add("Traceback (most recent call last):\nA.B: x", 3)
	f.Add("a.go:12:3: x\nfail 3 failed\n(1,2): ", 0)
	f.Fuzz(func(t *testing.T, text string, chars int) {
		if i := Reason(text, chars); i > 0 && text[i-1] != '\n' {
			t.Fatal("it is not the beginning of a line")
		}
	})
}
