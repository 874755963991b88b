package digest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExitCode(t *testing.T) {
	for _, tt := range []struct{ text, want, why string }{
		{"Exit code 1\nno such file", "1", "the first line"},
		{"Chunk ID: 0faf38\nProcess exited with code 2\nOutput:\n", "2", "who exited"},
		{"<returncode>-9</returncode>\n<output>\n</output>", "-9", "a tag"},
		{"x\n\nCommand exited with code 127", "127", "the last line"},
		{"x\n[exit code: 3]", "3", "in brackets"},
		{"x\n<shellId: 50 completed with exit code 0>", "0", "behind an id"},
		{"FAIL\nexit status 1\n", "1", "a status"},
		{"verify\tTest\t2026-02-17T07:53:58.5015431Z ##[error]Process completed with exit code 1.", "", "a line of another command's log"},
		{"It returns with exit code 2 if the file has been changed by somebody else.", "", "a sentence"},
		{"  if (code !== 0) throw new Error(`failed with exit code ${code}`)", "", "code"},
		{"exit", "", "a word"},
		{"", "", "nothing"},
	} {
		assert.Equal(t, tt.want, exitCode(tt.text), tt.why)
	}
}

// An exit code in a text that a tool shows does not say how the call went.
func TestFailedCalls(t *testing.T) {
	n := New()
	n.Called("1", "read", []byte(`{"path":"a.sh"}`))
	n.Returned(Result{CallID: "1", Tool: "read", Text: "#!/bin/sh\nexit code 1\n"})
	n.Called("2", "exec", []byte(`{"command":"make"}`))
	n.Returned(Result{CallID: "2", Tool: "exec", Text: "no rule\nexit code 2\n"})
	assert.Equal(t, []string{"exec: no rule exit code 2"}, n.failures)
	assert.Equal(t, []string{"`make` → exit 2"}, n.commands)
}
