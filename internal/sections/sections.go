// Package sections has the sections of a summary that code owns and no model can lose: what people said, failures,
// files, identifiers, what is in force, and the rules of the host. Formats and numbers of the failures, the files and
// the host's rules are the reference's.
package sections

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/runes"
)

const (
	maxListedFailures = 8   // the reference's
	MaxFailureChars   = 240 // the reference's
	// A written line may be longer than the collected one, because some of it is escaped.
	maxFailureLineChars = 2 * (MaxFailureChars + 2*markup.AttributeChars)
	maxPathChars        = 2 * identifier.MaxBytes // escaped, likewise
	maxRulesChars       = 2_000                   // the reference's
	maxCountedFailures  = 1_000_000               // of an earlier summary, which may say anything
	maxSectionFiles     = 200                     // of each list; the newest stay
	rulesCut            = "\n...[truncated]..."
)

// failuresSection lists failures, n at most, and says how many there are besides.
func (c *Carried) failuresSection(n int) string {
	if len(c.Failures) == 0 || n <= 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\n" + FailuresHeading)
	listed := newest(c.Failures, n)
	for _, f := range listed {
		b.WriteString("\n- " + markup.Value(f.Line, maxFailureLineChars))
	}
	if more := c.More + len(c.Failures) - len(listed); more > 0 {
		fmt.Fprintf(&b, "\n"+moreFailures, more)
	}
	return b.String()
}

const (
	FailuresHeading = "## Tool Failures"
	moreFailures    = "- ...and %d more"
)

// filesSection lists what was read and what was modified, the newest n of each, sorted; a file that was
// modified is not listed as read.
func (c *Carried) filesSection(n int) string {
	read := slices.DeleteFunc(slices.Clone(c.Read), func(s string) bool { return slices.Contains(c.Modified, s) })
	return fileList("read-files", newest(read, n)) + fileList("modified-files", newest(c.Modified, n))
}

func fileList(tag string, files []string) string {
	if len(files) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\n<" + tag + ">\n")
	for _, file := range slices.Sorted(slices.Values(files)) {
		b.WriteString(fileLine(file) + "\n")
	}
	b.WriteString("</" + tag + ">")
	return b.String()
}

// fileLine is the line of a file. A name that begins like a heading or a quote is written as what it is: a path.
func fileLine(path string) string {
	path = markup.Value(path, maxPathChars)
	if strings.HasPrefix(path, "#") || strings.HasPrefix(path, ">") {
		return "./" + path
	}
	return path
}

// Rules holds the rules that the host wants to survive.
func Rules(rules string) string {
	rules = strings.TrimSpace(rules)
	if rules == "" {
		return ""
	}
	if end := runes.Head(rules, maxRulesChars); end < len(rules) {
		rules = rules[:end] + rulesCut
	}
	return "\n\n<workspace-critical-rules>\n" + Escape(rules) + "\n</workspace-critical-rules>"
}

const (
	Begin = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
	End   = "\n</summary>"
)

// sectionTags are the tags that only code may write into a summary.
var sectionTags = [...]string{"summary", "read-files", "modified-files", "workspace-critical-rules", inForceTag,
	saidTag}

// Behind returns the failures, the files and the rules of the host, as they stand behind the text of a summary, within
// room tokens. The rules stay whole, whatever the room. The lists are halved until the rest fits.
func (c *Carried) Behind(tokens func(string) int, rules string, room int) string {
	for n := maxSectionFiles; ; n /= 2 {
		if s := c.failuresSection(n) + c.filesSection(n) + rules; n == 0 || tokens(s) <= room {
			return s
		}
	}
}
