package digest

import "strings"

// The headings of a digest are those that a summarizer is asked for.
const (
	HeadGoal        = "## Goal"
	HeadConstraints = "## Constraints & Preferences"
	HeadProgress    = "## Progress"
	HeadDone        = "### Done"
	HeadInProgress  = "### In Progress"
	HeadBlocked     = "### Blocked"
	HeadDecisions   = "## Key Decisions"
	HeadNext        = "## Next Steps"
	HeadContext     = "## Critical Context"
)

// headings are the sections of a digest, in order. Those of progress stand under a heading of their own, and
// identifiers follow the last one.
var headings = [...]string{
	HeadGoal, HeadConstraints, HeadProgress, HeadDone, HeadInProgress, HeadBlocked, HeadDecisions, HeadNext,
	HeadContext,
}

// sectionOf returns the heading of a digest under which notes like those of a section belong, or "".
func sectionOf(heading string) string {
	switch strings.ToLower(strings.Trim(heading, "#* \t:")) {
	case "goal":
		return HeadGoal
	case "constraints & preferences", "constraints and preferences", "constraints":
		return HeadConstraints
	case "progress":
		return HeadProgress
	case "done":
		return HeadDone
	case "in progress":
		return HeadInProgress
	case "blocked":
		return HeadBlocked
	case "key decisions", "decisions":
		return HeadDecisions
	case "next steps":
		return HeadNext
	case "critical context":
		return HeadContext
	}
	return ""
}

// isOfProgress reports whether a section stands under the heading of progress.
func isOfProgress(kind string) bool {
	return kind == HeadProgress || strings.HasPrefix(kind, "### ")
}
