package winnow

import (
	"strings"

	"github.com/winnowgo/winnow/internal/sections"
)

// ExtractRules returns the sections of a markdown file, such as an AGENTS.md, that have the given headings, for
// CompactOptions.Rules; "" if there are none. Without headings it takes "Session Startup" and "Red Lines". A heading
// has two or three #, in any case. Its section ends at the next heading of the same level or the one above.
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
