package sections

import (
	"fmt"
	"strings"

	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/markup"
)

// Reading a summary back: a host may keep it in its history and hand it to another manager, and a model
// may copy what it saw of one. The sections of code are taken out either way, so that they are never
// written twice.

// Read takes a summary message apart: the summarizer's text, and what code had put around it. What people said stands
// in front, and is for a [Dialogue]. In another place it is text: nobody knows who said it.
func Read(text string) (body string, c Carried) {
	inner := strings.TrimPrefix(text, Begin)
	if end := strings.LastIndex(inner, End); end >= 0 {
		inner = inner[:end]
	}
	inner = new(Dialogue).Take(inner)
	return Split(strings.ReplaceAll(inner, "<"+saidTag+">", "&lt;"+saidTag+">"))
}

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
			if line != "" && !strings.HasPrefix(line, "- ") {
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

// ownHeading returns the heading of code that line is, or "".
func ownHeading(line string) string {
	switch line := strings.TrimRight(line, "\n"); line {
	case FailuresHeading, digest.IdentifiersHeading:
		return line
	}
	return ""
}

// Escape is markup.Escape for a text of several lines.
func Escape(s string) string { return markup.Escape(lineEnds.Replace(s)) }

// forget drops what an earlier section of the same name said.
func (c *Carried) forget(section string) {
	switch section {
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
