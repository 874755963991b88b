// Package examples_test runs the programs of this directory as a newcomer does.
package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each program explains itself with -h, which is not an error, and shows something without arguments: in the root of
// the repository, with no network, no key and nothing piped in.
func TestProgramsRunWithoutArguments(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: builds all programs")
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "./...")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	programs, err := os.ReadDir(bin)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(programs), 5)
	for _, p := range programs {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			run := func(args ...string) string {
				cmd := exec.CommandContext(t.Context(), filepath.Join(bin, p.Name()), args...)
				cmd.Dir = ".."
				cmd.Env = append(os.Environ(), "OPENAI_API_KEY=", "ANTHROPIC_API_KEY=", "TMPDIR="+t.TempDir())
				out, err := cmd.CombinedOutput()
				assert.NoError(t, err, "%v: %s", args, out)
				return string(out)
			}
			assert.Regexp(t, `(?i)usage`, run("-h"))
			assert.Greater(t, len(run()), 200, "something to look at")
		})
	}
}
