package winnow_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAPI holds the exported names and their comments to testdata/api.txt: code that moves changes nothing there, and
// a change that is meant shows in the diff of one file.
func TestAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("compared in whole runs, as the bytes of requests are")
	}
	t.Parallel()
	cmd := exec.Command("go", "doc", "-all", ".")
	got, err := cmd.Output()
	require.NoError(t, err)
	goldenFile(t, "testdata/api.txt", string(got))
}
