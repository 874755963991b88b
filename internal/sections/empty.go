package sections

import (
	"slices"
	"strings"
)

// WithoutEmpty returns s without the headings below which nothing is said, or only a word such as "none". A heading
// without a text of its own stays where it has sections below it.
func WithoutEmpty(s string) string {
	var kept []string
	below := 0 // the level of the section behind that is kept
	lines := strings.Split(s, "\n")
	for end := len(lines); end > 0; {
		start := end - 1
		for start > 0 && headingLevel(lines[start]) == 0 {
			start--
		}
		section := strings.TrimSpace(strings.Join(lines[start:end], "\n"))
		level := headingLevel(lines[start])
		_, content, _ := strings.Cut(section, "\n")
		if level == 0 || level < below || !saysNothing(content) {
			kept, below = append(kept, section), level
		}
		end = start
	}
	slices.Reverse(kept)
	return strings.TrimSpace(strings.Join(kept, "\n\n"))
}

// noContent is what models write below a heading for which they have nothing.
var noContent = []string{"", "none", "n/a", "na", "nothing", "none yet", "unknown", "not specified", "not available",
	"tbd", "无"}

func saysNothing(text string) bool {
	for line := range strings.Lines(text) {
		word := strings.ToLower(strings.Trim(line, " \t\r\n-*•_.…()[]<>`"))
		if !slices.Contains(noContent, word) {
			return false
		}
	}
	return true
}
