package winnow

import (
	"fmt"
	"strings"
)

// Reading a summary back: a host may keep it in its history and hand it to another manager, and a model
// may copy what it saw of one. The sections of code are taken out either way, so that they are never
// written twice.

// summaryText returns what a summary message says, without what is put around it.
func summaryText(m *Message) string {
	s := strings.TrimPrefix(joinedText(m), summaryBegin)
	if i := strings.LastIndex(s, summaryEnd); i >= 0 {
		s = s[:i]
	}
	return s
}

// splitSummary takes a summary apart: the summarizer's text, and what code had put behind it.
func splitSummary(text string) (body string, c carried) {
	var b strings.Builder
	in := "" // the line that opened the section; "": the summarizer's text
	at := 0
	closings := make(map[string]int, len(sectionTags))
	for _, tag := range sectionTags {
		closings["<"+tag+">"] = strings.LastIndex(text, "\n</"+tag+">")
	}
	for line := range strings.Lines(text) {
		at += len(line)
		line = strings.TrimRight(line, "\r\n")
		tagged := strings.HasPrefix(in, "<")
		if tagged && line == "</"+in[1:] {
			in = ""
			continue
		}
		if !tagged {
			if line == userRulesHeading || line == failuresHeading || line == identifiersHeading || at <= closings[line]+1 {
				in = line
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

// read takes one line of a section.
func (c *carried) read(section, line string) {
	item := strings.TrimPrefix(line, "- ")
	switch section {
	case userRulesHeading:
		if rule, ok := strings.CutPrefix(line, "> "); ok {
			c.Rules = append(c.Rules, rule)
		}
	case failuresHeading:
		more := 0
		if n, _ := fmt.Sscanf(line, moreFailures, &more); n == 1 {
			c.More = max(0, more)
		} else if item != line {
			c.Failures = append(c.Failures, failure{Line: item})
		}
	case identifiersHeading:
		_, ids, _ := strings.Cut(item, ": ")
		c.Identifiers = append(c.Identifiers, strings.Fields(ids)...)
	case "<read-files>":
		c.Read = append(c.Read, line)
	case "<modified-files>":
		c.Modified = append(c.Modified, line)
	}
}
