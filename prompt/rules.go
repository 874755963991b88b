package prompt

import (
	"strings"

	"github.com/winnowgo/winnow/internal/sections"
)

// ExtractRules returns the sections of a markdown file, such as an AGENTS.md, that have the given headings, for
// winnow.CompactOptions.Rules, in the order of headings; "" if there are none. A heading has two or three #, in any
// case. Its section ends at the next heading of the same level or the one above.
func ExtractRules(markdown string, headings ...string) string {
	var found []string
	for _, h := range headings {
		if s := sections.Section(markdown, strings.TrimSpace(h)); s != "" {
			found = append(found, s)
		}
	}
	return strings.Join(found, "\n\n")
}
