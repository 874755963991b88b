package toolcall

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExitCode(t *testing.T) {
	for _, tt := range []struct{ text, want, why string }{
		{"Exit code 1\nno such file", "1", "the first line"},
		{"Chunk ID: 0faf38\nProcess exited with code 2\nOutput:\n", "2", "who exited"},
		{"<returncode>-9</returncode>\n<output>\n</output>", "-9", "a tag"},
		{"x\n\nCommand exited with code 127", "127", "the last line"},
		{"x\n[Command finished with exit code 1]", "1", "OpenHands"},
		{"Command failed with exit code 2", "2", "alone"},
		{"x\n[exit code: 3]", "3", "in brackets"},
		{"x\n<shellId: 50 completed with exit code 0>", "0", "behind an id"},
		{"FAIL\nexit status 1\n", "1", "a status"},
		{"verify\tTest\t2026-02-17T07:53:58.5015431Z ##[error]Process completed with exit code 1.", "", "a line of another command's log"},
		{"It returns with exit code 2 if the file has been changed by somebody else.", "", "a sentence"},
		{"  if (code !== 0) throw new Error(`failed with exit code ${code}`)", "", "code"},
		{"<returncode>0</returncode>\n<output>\nmakemigrations --check exited with code 1\n</output>", "0", "what the tool says, and not what it ran"},
		{"Exit code: 0\nWall time: 1 s\nOutput:\nexit status 1", "0", "the same in another frame"},
		{"Process exited with code 3221225786", "3221225786", "a crash under Windows"},
		{"to help debug a " + strings.Repeat("silent ", 50) + "exit code 1 errors.\n" + strings.Repeat("x", 370), "", "half a line"},
		{"exit", "", "a word"},
		{"", "", "nothing"},
	} {
		assert.Equal(t, tt.want, exitCode(tt.text, false), tt.why)
	}
}
