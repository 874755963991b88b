package winnow

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// What the tests of the package need from inside.

var (
	ReportsError = reportsError
	MatchStar    = matchStar
)

const (
	TrimGap    = trimGap
	ExcerptGap = excerptGap
)

// TailMatters says whether the end of a text is worth keeping.
func TailMatters(s string) bool { return tailMatters(s[runes.Tail(s, tailSearchChars):]) }

// Excerpt is what is kept of a text, and how many of its characters.
func Excerpt(s string, keep int) (text string, kept int) {
	e := newExcerpt(s, runes.Count(s), keep, false)
	var b strings.Builder
	e.write(&b)
	return b.String(), e.kept()
}

// AllRecorded is the flag for tests with recorded sessions.
var AllRecorded = allRecorded

// NextReport returns where the quick look for lines that report an error finds something, or -1.
func NextReport(s string) int { return searchReports(s).from(0) }

// Settings are the options that m goes by, all of them set, and its window.
func (m *Manager) Settings() (Options, int) { return m.opts, m.window }
