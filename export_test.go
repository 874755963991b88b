package winnow

// What the tests of the package need from inside.

// AllRecorded is the flag for tests with recorded sessions, Times the one for random histories.
var (
	AllRecorded = allRecorded
	Times       = times
)

// Settings are the options that m goes by, all of them set, and its window.
func (m *Manager) Settings() (Options, int) { return m.opts, m.window }

// HandleOf returns the handle of message i of a history.
func HandleOf(m *Manager, history []Message, i int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return handlesOf(m.know(history)).Of(i)
}
