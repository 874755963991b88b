package winnow_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each dependency of the package is paid by every user. It has the pauses between attempts, and
// nothing else.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	require.NoError(t, err)
	modules := []string{"github.com/winnowgo/winnow", "github.com/cenkalti/backoff/v5"}
	packages := strings.Fields(string(out))
	require.Contains(t, packages, "github.com/winnowgo/winnow")
	for _, path := range packages {
		allowed := false
		for _, m := range modules {
			allowed = allowed || path == m || strings.HasPrefix(path, m+"/")
		}
		assert.True(t, allowed, "%s", path)
		for _, part := range []string{"/adapters/", "/winnowtest", "/provider"} {
			assert.NotContains(t, path, part, "for tests, or a module of its own")
		}
	}
}
