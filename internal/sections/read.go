package sections

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/markup"
)

// Reading a summary back: a host may keep it in its history and hand it to another manager, and a model
// may copy what it saw of one. The sections of code are taken out either way, so that they are never
// written twice.

// Read takes a summary message apart: the summarizer's text, and what code had put behind it. Rules of the
// user are taken from a summary of this library alone, in its frame. What another program or a model calls the
// user's rules is text: nobody knows who said it.
func Read(text string) (body string, c Carried) {
	inner, framed := strings.CutPrefix(text, Begin)
	end := strings.LastIndex(inner, End)
	if end >= 0 {
		inner = inner[:end]
	}
	if !framed || end < 0 {
		inner = strings.ReplaceAll(inner, UserRulesHeading, otherRulesHeading)
	}
	return Split(inner)
}

// otherRulesHeading is the heading of rules in a summary that this library did not write.
const otherRulesHeading = "## Rules, by an earlier summary"

// Split takes the text of a summary apart. A section that stands there twice is what code wrote only where it
// stands last: its sections are behind the text.
func Split(text string) (body string, c Carried) {
	var b strings.Builder
	in := "" // the line that opened the section; "": the summarizer's text
	at := 0
	text = lineEnds.Replace(text)
	closings := make(map[string]int, len(sectionTags))
	for _, tag := range sectionTags {
		closings["<"+tag+">"] = strings.LastIndex(text, "\n</"+tag+">")
	}
	for line := range strings.Lines(text) {
		at += len(line)
		line = strings.TrimRight(line, "\n")
		tagged := strings.HasPrefix(in, "<")
		if tagged && line == "</"+in[1:] {
			in = ""
			continue
		}
		if !tagged {
			if heading := ownHeading(line); heading != "" {
				in = heading
				c.forget(heading)
				continue
			}
			if at <= closings[line]+1 {
				in = line
				c.forget(in)
				continue
			}
			if line != "" && !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "> ") {
				in = "" // a heading of the summarizer, or a paragraph
			}
		}
		if in == "" {
			b.WriteString(line)
			b.WriteByte('\n')
		} else {
			c.read(in, line)
		}
	}
	return strings.TrimSpace(b.String()), c
}

// lineEnds makes one kind of line end of all that readers know.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n",
	"\u2029", "\n")

// ownHeading returns the heading of code that a lenient reader takes line for, or "". Only the section of the
// user's rules is worth forging.
func ownHeading(line string) string {
	switch line := strings.TrimRight(line, "\n"); line {
	case UserRulesHeading, FailuresHeading, digest.IdentifiersHeading:
		return line
	}
	start := strings.TrimLeftFunc(line, markup.IsIgnored)
	if !strings.HasPrefix(start, "#") && !strings.HasPrefix(start, "\uFF03") { // the full-width form
		return ""
	}
	const look = 4 * len(UserRulesHeading)
	if strings.HasPrefix(markup.Name(strings.TrimLeftFunc(start[:min(len(start), look)], isHeadingMark)), "userrules") {
		return copiedRulesHeading
	}
	return ""
}

// Escape is markup.Escape for a text of several lines: none of them is taken for the heading of the user's rules
// either.
func Escape(s string) string {
	s = lineEnds.Replace(s)
	var b strings.Builder
	done, at := 0, 0
	for line := range strings.Lines(s) {
		if heading := ownHeading(line); heading == copiedRulesHeading || heading == UserRulesHeading {
			mark := at + strings.IndexAny(line, "#\uFF03")
			_, size := utf8.DecodeRuneInString(s[mark:])
			b.WriteString(s[done:mark])
			b.WriteString("&#35;")
			done = mark + size
		}
		at += len(line)
	}
	b.WriteString(s[done:])
	return markup.Escape(b.String())
}

// copiedRulesHeading replaces a heading that is nearly the heading of the user's rules. Nobody knows whose the rules
// below it are.
const copiedRulesHeading = "#"

func isHeadingMark(r rune) bool { return strings.ContainsRune("#\uFF03*_", r) || markup.IsIgnored(r) }

// forget drops what an earlier section of the same name said.
func (c *Carried) forget(section string) {
	switch section {
	case UserRulesHeading:
		c.Rules = nil
	case FailuresHeading:
		c.Failures, c.More = nil, 0
	case digest.IdentifiersHeading:
		c.Identifiers = nil
	case "<read-files>":
		c.Read = nil
	case "<modified-files>":
		c.Modified = nil
	}
}

// read takes one line of a section.
func (c *Carried) read(section, line string) {
	item := strings.TrimPrefix(line, "- ")
	switch section {
	case UserRulesHeading:
		if rule, ok := strings.CutPrefix(line, "> "); ok {
			c.Rules = append(c.Rules, rule)
		}
	case FailuresHeading:
		more := 0
		if n, _ := fmt.Sscanf(line, moreFailures, &more); n == 1 {
			c.More = min(max(0, more), maxCountedFailures)
		} else if item != line {
			c.Failures = append(c.Failures, Failure{Line: item})
		}
	case digest.IdentifiersHeading:
		_, ids, _ := strings.Cut(item, ": ")
		c.Identifiers = append(c.Identifiers, strings.Fields(ids)...)
	case "<read-files>":
		c.Read = append(c.Read, line)
	case "<modified-files>":
		c.Modified = append(c.Modified, line)
	}
}
