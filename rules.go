package winnow

import "strings"

// ExtractRules returns the sections of a markdown file (an AGENTS.md, say) that stand under the given
// headings, joined by a blank line, for [CompactOptions.Rules]. With no headings given it takes those of
// the reference system: "Session Startup" and "Red Lines".
//
// A heading has two or three #; upper and lower case are the same, and the first heading of a name is taken. Its
// section ends at the next heading of the same or a higher level; a first-level heading does not end it, and neither
// does one in a fenced code block. It returns "" if nothing is found.
func ExtractRules(markdown string, headings ...string) string {
	if len(headings) == 0 {
		headings = []string{"Session Startup", "Red Lines"}
	}
	var found []string
	for _, h := range headings {
		if s := section(markdown, strings.TrimSpace(h)); s != "" {
			found = append(found, s)
		}
	}
	return strings.Join(found, "\n\n")
}

// section returns the first section under name, its heading included.
func section(markdown, name string) string {
	var b strings.Builder
	level, fenced := 0, false // level: of the heading found; 0: none yet
	for line := range strings.Lines(markdown) {
		text := strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(strings.TrimLeft(text, " \t"), "```") {
			fenced = !fenced
		} else if l, title := heading(text); l > 0 && !fenced {
			if level > 0 && l <= level {
				break
			}
			if level == 0 && strings.EqualFold(title, name) {
				level = l
			}
		}
		if level > 0 {
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	return strings.TrimSpace(b.String())
}

// heading returns the level and the title of a heading of the second or third level, or 0.
func heading(line string) (level int, title string) {
	for level < len(line) && line[level] == '#' {
		level++
	}
	rest := line[level:]
	if level < 2 || level > 3 || rest == "" || rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	return level, strings.TrimSpace(rest)
}
