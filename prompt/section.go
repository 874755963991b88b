package prompt

import (
	"slices"
	"strings"
)

// Mode says how much of the prompt an agent gets.
type Mode string

const (
	Full    Mode = "full"    // the agent that talks to people; the default
	Minimal Mode = "minimal" // a sub-agent or a scheduled job
	None    Mode = "none"    // only the line that says who the agent is
)

// Section is a text that the host adds to the system prompt.
type Section struct {
	// unique name of the section in cuts, changes and the report. The prompt does not show it: put a heading into Text
	Name string
	Text string // text in the prompt

	// the modes that show it (the reference's for a section of this name; for any other name Full and Minimal)
	Modes    []Mode
	Max      int  // characters; a longer text is cut (0: no limit)
	Priority int  // its weight when the budget is shared (1)
	Required bool // never cut: if it does not fit, Assemble fails
	Volatile bool // changes often (a date, found memories): sent in a message, never in the system prompt
}

// Names of the parts that Assemble makes itself.
const (
	nameTooling = "Tooling"
	nameSkills  = "Skills"
	nameContext = "Project Context"
)

// fullOnly names the sections that the reference leaves out in the minimal mode.
var fullOnly = []string{
	"skills", "memory recall", "self-update", "model aliases", "documentation", "authorized senders", "reply tags",
	"messaging", "voice", "silent replies", "heartbeats",
}

// identityName is the section that every mode has.
const identityName = "identity"

// standsIn reports whether a section is in the prompt of a mode.
func (s *Section) standsIn(m Mode) bool {
	if len(s.Modes) > 0 {
		return slices.Contains(s.Modes, m)
	}
	return byName(s.Name, m)
}

// byName is the reference's rule for a section with a name.
func byName(name string, m Mode) bool {
	switch m {
	case Full:
		return true
	case Minimal:
		return !slices.ContainsFunc(fullOnly, func(s string) bool { return strings.EqualFold(s, name) })
	}
	return strings.EqualFold(name, identityName)
}
