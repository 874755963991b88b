package winnow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// Sections of a summary that code owns and no model can lose. Formats and numbers of the failures, the
// files and the rules are the reference's.

const (
	maxListedFailures = 8
	maxFailureChars   = 240
	// What is written may be longer than what was collected, by what was escaped in it.
	maxFailureLineChars = 2 * (maxFailureChars + 2*markup.AttributeChars)
	maxPathChars        = 2 * identifier.MaxBytes
	maxRulesChars       = 2_000
	maxCountedFailures  = 1_000_000
	maxSectionFiles     = 200 // of each list; the newest stay
	rulesCut            = "\n...[truncated]..."
)

// carried is what code owns of the history that a summary stands for. It grows over compactions, within caps.
type carried struct {
	Rules       []string  `json:"rules,omitempty"`    // sentences of the user that demand or forbid something, oldest first
	Failures    []failure `json:"failures,omitempty"` // in order
	More        int       `json:"more,omitempty"`     // failures besides
	Read        []string  `json:"read,omitempty"`     // files that were read, oldest first
	Modified    []string  `json:"modified,omitempty"` // files that were written or edited, oldest first
	Identifiers []string  `json:"identifiers,omitempty"`
}

// failure is a tool call that failed.
type failure struct {
	Call string `json:"call,omitempty"` // its id, if it is known
	Line string `json:"line"`           // as it is listed
}

// add returns c with what more lists of messages hold, in order. Of the failures the first of the new ones
// are kept, and the newest of the old ones as far as there is room.
func (c carried) add(tools *toolcall.Files, lists ...[]Message) carried {
	old := c.Failures
	c.Failures, c.Read, c.Modified, c.Rules = nil, slices.Clone(c.Read), slices.Clone(c.Modified), slices.Clone(c.Rules)
	called, n := toolNamesOf(lists...), 0
	for _, messages := range lists {
		for i := range messages {
			m := &messages[i]
			n++
			switch m.Role {
			case RoleTool:
				c.addFailure(m, called.of(n-1, m))
			case RoleUser:
				c.addRules(m)
			case RoleAssistant:
				for k := range m.Parts {
					if m.Parts[k].Kind == KindToolCall {
						c.addFiles(tools.Of(m.Parts[k].Name, m.Parts[k].Arguments))
					}
				}
			}
		}
	}
	kept := newest(old, maxListedFailures-len(c.Failures))
	c.More += len(old) - len(kept)
	c.Failures = append(slices.Clip(kept), c.Failures...)
	c.Read, c.Modified, c.Rules = newest(c.Read, maxSectionFiles), newest(c.Modified, maxSectionFiles), newest(c.Rules, maxCarriedRules)
	return c
}

// addFiles takes in the files that a call works on.
func (c *carried) addFiles(use toolcall.Use) {
	for _, path := range use.Modified {
		c.Modified = appendNewest(c.Modified, path)
	}
	for _, path := range use.Read {
		c.Read = appendNewest(c.Read, path)
	}
}

// appendNewest puts s at the end of list, once.
func appendNewest(list []string, s string) []string {
	if list = appendOnce(list, s); len(list) > 2*maxSectionFiles {
		list = slices.Clone(newest(list, maxSectionFiles))
	}
	return list
}

func newest[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

func (c *carried) addFailure(m *Message, tool string) {
	call := strings.ToValidUTF8(m.ToolCallID, "\uFFFD") // as a snapshot keeps it
	if !m.IsError || call == "" || isMissingResult(m) || slices.ContainsFunc(c.Failures, func(f failure) bool { return f.Call == call }) {
		return
	}
	if len(c.Failures) == maxListedFailures {
		c.More++
		return
	}
	c.Failures = append(c.Failures, failure{call, failureLine(m, tool)})
}

// failureLine is one line on the result of a tool that is an error: NAME (META): TEXT.
func failureLine(m *Message, tool string) string {
	name := strings.TrimSpace(markup.Attribute(tool))
	if name == "" {
		name = "tool"
	}
	var texts []string
	for i := range m.Parts {
		if m.Parts[i].Kind == KindText {
			texts = append(texts, m.Parts[i].Text)
		}
	}
	text := markup.Line(strings.Join(strings.Fields(strings.Join(texts, "\n")), " "))
	meta := failureMeta(m.Details)
	switch {
	case text == "" && meta != "":
		text = "failed"
	case text == "":
		text = "failed (no output)"
	case runes.AtLeast(text, maxFailureChars+1):
		text = text[:runes.Head(text, maxFailureChars-3)] + "..."
	}
	if meta != "" {
		name += " (" + meta + ")"
	}
	return name + ": " + text
}

// failureMeta names the two fields of Details that a summary may name.
func failureMeta(details json.RawMessage) string {
	exit, status := toolcall.Outcome(details)
	var out []string
	if status = markup.Attribute(status); status != "" {
		out = append(out, "status="+status)
	}
	if exit != "" {
		out = append(out, "exitCode="+exit)
	}
	return strings.Join(out, " ")
}

// failuresSection lists failures, n at most, and says how many there are besides.
func (c *carried) failuresSection(n int) string {
	if len(c.Failures) == 0 || n <= 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\n" + failuresHeading)
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
	failuresHeading = "## Tool Failures"
	moreFailures    = "- ...and %d more"
)

// filesSection lists what was read and what was modified, the newest n of each, sorted; a file that was
// modified is not listed as read.
func (c *carried) filesSection(n int) string {
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

// rulesSection holds the rules that the host wants to survive.
func rulesSection(rules string) string {
	rules = strings.TrimSpace(rules)
	if rules == "" {
		return ""
	}
	if end := runes.Head(rules, maxRulesChars); end < len(rules) {
		rules = rules[:end] + rulesCut
	}
	return "\n\n<workspace-critical-rules>\n" + escapeText(rules) + "\n</workspace-critical-rules>"
}

const (
	summaryBegin = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
	summaryEnd   = "\n</summary>"
)

// sectionTags are the tags that only code may write into a summary.
var sectionTags = [...]string{"summary", "read-files", "modified-files", "workspace-critical-rules"}

// layout is the sections behind the text of a summary, in their order. What the text says already of the
// user's rules is left out of them when the text is there.
type layout struct {
	userRules, failures, files, rules string
	userRulesRoom                     int // tokens
}

func (l *layout) String() string { return l.userRules + l.failures + l.files + l.rules }

// layOut returns the sections within room tokens. The host's rules stay whole, whatever the room; of the
// others the longest lists give way first.
func (c *carried) layOut(e Estimator, rules string, room int) layout {
	l := layout{rules: rules, userRulesRoom: max(leastRulesTokens, count.Share(room, userRulesShare))}
	l.userRules = c.userRulesSection(e, "", l.userRulesRoom)
	for n := maxSectionFiles; ; n /= 2 {
		l.failures, l.files = c.failuresSection(n), c.filesSection(n)
		if n == 0 || textTokens(e, l.String()) <= room {
			return l
		}
	}
}
