package winnow

import (
	"os"
	"testing"
)

// sharedDir returns the directory of the data that stays outside the project (recorded sessions, samples
// counted by true tokenizers): $WINNOW_SHARED, or ../shared. It skips the test if neither exists.
func sharedDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("WINNOW_SHARED")
	if dir == "" {
		dir = "../shared"
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no shared data (set WINNOW_SHARED): %v", err)
	}
	return dir
}
