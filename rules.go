package winnow

import (
	"strings"

	"github.com/winnowgo/winnow/internal/sections"
)

// ExtractRules returns the sections of a markdown file (an AGENTS.md, say) that have the given headings, joined by a
// blank line, for [CompactOptions.Rules]. The headings are part of the sections. Without headings it takes those of the
// reference system: "Session Startup" and "Red Lines".
//
// A heading has two or three #. Case does not matter. If several headings have a name, the first one counts. Its
// section ends at the next heading of the same or a higher level, except that a first-level heading does not end it,
// and neither does a heading in a fenced code block. ExtractRules returns "" if nothing is found.
func ExtractRules(markdown string, headings ...string) string {
	if len(headings) == 0 {
		headings = []string{"Session Startup", "Red Lines"}
	}
	var found []string
	for _, h := range headings {
		if s := sections.Section(markdown, strings.TrimSpace(h)); s != "" {
			found = append(found, s)
		}
	}
	return strings.Join(found, "\n\n")
}
