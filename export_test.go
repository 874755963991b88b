package winnow

import (
	"os"
	"testing"
)

// What the tests of the package need from inside.

const MaxRetries = maxRetries

var FlushDue = flushDue

// Settings are the options that m goes by, all of them set, and its window.
func (m *Manager) Settings() (Options, int) { return m.opts, m.window }

// HandleOf returns the handle of message i of a history.
func HandleOf(m *Manager, history []Message, i int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return handlesOf(m.know(history)).Of(i)
}

// SharedDir returns the directory of the data that stays outside the project (recorded sessions, samples
// counted by true tokenizers): $WINNOW_SHARED, or ../shared. It skips the test if neither exists.
func SharedDir(t testing.TB) string {
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
