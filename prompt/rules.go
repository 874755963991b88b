package prompt

import "strings"

// ExtractRules returns the sections of a markdown file, such as an AGENTS.md, that have the given headings, for
// winnow.CompactOptions.Rules, in the order of headings; "" if there are none. A heading has two or three #, in any
// case. Its section ends at the next heading of the same level or the one above.
func ExtractRules(markdown string, headings ...string) string {
	chunks := splitMarkdown(strings.ReplaceAll(markdown, "\r\n", "\n"), nil)
	var found []string
	for _, h := range headings {
		var text strings.Builder
		for _, c := range section(chunks, h) {
			text.WriteString(c.heading + c.body)
		}
		if text.Len() > 0 {
			found = append(found, strings.TrimSpace(text.String()))
		}
	}
	return strings.Join(found, "\n\n")
}
