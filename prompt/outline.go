package prompt

import (
	"strings"
)

// chunk is a heading of a Markdown text with what stands under it, up to the next heading of any level. The text
// before the first heading is a chunk without one.
type chunk struct {
	level   int    // of the heading; 0: none
	title   string // of the heading
	heading string // its line, with the line end
	body    string
	isRule  bool // belongs to a section of rules
}

// defaultRules are the headings that [winnow.ExtractRules] takes by default.
var defaultRules = []string{"Session Startup", "Red Lines"}

// splitMarkdown splits a text at its headings. Those in fenced code are none.
func splitMarkdown(text string, rules []string) []chunk {
	var chunks []chunk
	current := chunk{}
	start := 0 // of the body of current
	var f fence
	for at := 0; at < len(text); {
		line := lineAt(text, at)
		if inside := f.line(line); !inside {
			if level, title := heading(line); level > 0 {
				if current.body = text[start:at]; current.level > 0 || current.body != "" {
					chunks = append(chunks, current)
				}
				current = chunk{level: level, title: title, heading: line}
				start = at + len(line)
			}
		}
		at += len(line)
	}
	if current.body = text[start:]; current.level > 0 || current.body != "" {
		chunks = append(chunks, current)
	}
	markRules(chunks, rules)
	return chunks
}

// lineAt returns the line of text that begins at i, with its line end.
func lineAt(text string, i int) string {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return text[i : i+n+1]
	}
	return text[i:]
}

// heading returns the level of a heading of the form "## Title", or 0.
func heading(line string) (level int, title string) {
	for level < len(line) && line[level] == '#' {
		level++
	}
	rest := strings.TrimRight(line[level:], "\r\n")
	if level == 0 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	return level, strings.TrimSpace(rest)
}

// markRules marks the sections that [winnow.ExtractRules] finds: the first of each name at the second or third level,
// up to the next heading of these levels that is not below it.
func markRules(chunks []chunk, names []string) {
	for _, name := range names {
		level := 0
		for i := range chunks {
			c := &chunks[i]
			isSection := c.level == 2 || c.level == 3
			if level > 0 && isSection && c.level <= level {
				break
			}
			if level == 0 && isSection && strings.EqualFold(c.title, strings.TrimSpace(name)) {
				level = c.level
			}
			c.isRule = c.isRule || level > 0
		}
	}
}

// fence follows the lines of a Markdown text and knows which stand in a fenced code block (CommonMark 4.5).
type fence struct {
	mark  byte // of the open fence; 0: none is open
	width int
}

// line takes the next line and says whether it belongs to a fenced block, its first and last line included.
func (f *fence) line(line string) bool {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	s := line[indent:]
	if s == "" || s[0] != '`' && s[0] != '~' || indent > 3 && f.mark == 0 {
		return f.mark != 0
	}
	width := len(s) - len(strings.TrimLeft(s, s[:1]))
	rest := s[width:]
	switch {
	case f.mark == 0:
		if width < 3 || s[0] == '`' && strings.Contains(rest, "`") {
			return false
		}
		f.mark, f.width = s[0], width
	case s[0] == f.mark && width >= f.width && strings.TrimSpace(rest) == "":
		f.mark = 0
	}
	return true
}

// units splits a text into what is never split: lines, and fenced blocks as a whole.
func units(text string, yield func(unit string, fenced bool) bool) {
	var f fence
	start := 0 // of an open fenced block
	for at := 0; at < len(text); {
		wasOpen := f.mark != 0
		line := lineAt(text, at)
		inside := f.line(line)
		isOpen := f.mark != 0
		if inside && !wasOpen {
			start = at
		}
		at += len(line)
		switch {
		case isOpen:
			continue
		case inside:
			if !yield(text[start:at], true) {
				return
			}
		default:
			if !yield(line, false) {
				return
			}
		}
	}
	if f.mark != 0 {
		yield(text[start:], true)
	}
}
