package winnow

// What the tests of the package need from inside.

var (
	ReportsError = reportsError
	NextReport   = nextReport
	TailMatters  = tailMatters
	LineEnd      = lineEnd
	LineStart    = lineStart
	CharCount    = charCount
	HeadEnd      = headEnd
	TailStart    = tailStart
	CharsAtLeast = charsAtLeast
	MatchStar    = matchStar
)

const (
	TrimGap    = trimGap
	ExcerptGap = excerptGap
)

// Excerpt is what is kept of a text, and how many of its characters.
func Excerpt(s string, keep int) (text string, kept int) {
	e := newExcerpt(s, keep)
	return e.String(), e.kept()
}
