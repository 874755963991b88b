package sections

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A failure is listed with its reason, and not with what the command printed before that.
func TestFailureReason(t *testing.T) {
	scope := strings.Repeat("• Packages in scope: core, cli\n", 12)
	for _, tt := range []struct{ name, text, want string }{
		{"a command", "Exit code 1\n" + scope + "error: no such target\nat make\n", "t: error: no such target at make"},
		{"a command in a frame", "<returncode>1</returncode>\n<output>\n" + scope + "ValueError: x", "t: ValueError: x"},
		{"another frame", "Chunk ID: 1\nProcess exited with code 2\nOutput:\n" + scope + "fatal: x", "t: fatal: x"},
		{"a tool that quotes", "String to replace not found: " + strings.Repeat("some text ", 30) + "\nerror: x",
			"t: String to replace not found: " + strings.Repeat("some text ", 20) + "some..."},
		{"colours", "\x1b[31mred\x1b[0m", "t: red"},
	} {
		assert.Equal(t, tt.want, failureLine("t", tt.text, nil), tt.name)
	}
}
