package winnow

// What the tests of the package need from inside.

// AllRecorded is the flag for tests with recorded sessions.
var AllRecorded = allRecorded

// Settings are the options that m goes by, all of them set, and its window.
func (m *Manager) Settings() (Options, int) { return m.opts, m.window }
