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
		} else if l := headingLevel(line); l > 1 && l < 4 && !fenced {
			if level > 0 && l <= level {
				break
			}
			if level == 0 && strings.EqualFold(strings.TrimSpace(line[l:]), name) {
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

// headingLevel is 1 to 6 for a heading of Markdown, and 0 for another line.
func headingLevel(line string) int {
	rest := strings.TrimLeft(line, "#")
	if n := len(line) - len(rest); n <= 6 && (strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "\t")) {
		return n
	}
	return 0
}
