package sections

import "strings"

// An outline is the sections of a markdown text by their headings.

// Section returns the first section of a text under a heading of the second or third level, the heading included. Case
// does not matter. A heading of the first level does not end the section, and neither does one in a code block.
func Section(text, name string) string {
	var b strings.Builder
	level, fenced := 0, false // level: of the heading found; 0: none yet
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "```") {
			fenced = !fenced
		} else if l, title := heading(line); l > 0 && !fenced {
			if level > 0 && l <= level {
				break
			}
			if level == 0 && strings.EqualFold(title, name) {
				level = l
			}
		}
		if level > 0 {
			b.WriteString(line)
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
	isSpaced := strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "\t")
	if level < 2 || level > 3 || !isSpaced {
		return 0, ""
	}
	return level, strings.TrimSpace(rest)
}
