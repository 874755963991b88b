package prompt

import (
	"slices"
	"strings"
)

// chunk is a heading of a Markdown text with its body, up to the next heading of any level. The text before the first
// heading is a chunk without a heading.
type chunk struct {
	level   int    // level of the heading; 0: no heading
	title   string // of the heading
	heading string // line of the heading, with the line end
	body    string
	isRule  bool // belongs to a section of rules
}

// splitMarkdown splits a text at its headings, except those in fenced code.
func splitMarkdown(text string, rules []string) []chunk {
	var chunks []chunk
	current := chunk{}
	start := 0 // start of the body of current
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
	for _, name := range rules {
		for i, found := 0, section(chunks, name); i < len(found); i++ {
			found[i].isRule = true
		}
	}
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
	isSeparated := rest == "" || rest[0] == ' ' || rest[0] == '\t'
	if level == 0 || level > 6 || !isSeparated {
		return 0, ""
	}
	return level, strings.TrimSpace(rest)
}

// section returns the chunks of the first section with a name at the second or third level, up to the next heading of
// the same level or the one above.
func section(chunks []chunk, name string) []chunk {
	isSection := func(c chunk) bool { return c.level == 2 || c.level == 3 }
	from := slices.IndexFunc(chunks, func(c chunk) bool {
		return isSection(c) && strings.EqualFold(c.title, strings.TrimSpace(name))
	})
	if from < 0 {
		return nil
	}
	found := chunks[from:]
	end := slices.IndexFunc(found[1:], func(c chunk) bool { return isSection(c) && c.level <= found[0].level })
	if end < 0 {
		return found
	}
	return found[:1+end]
}

// fence follows the lines of a Markdown text and knows which ones are in a fenced code block (CommonMark 4.5),
// including blocks in list items and quotes.
type fence struct {
	mark   byte // character of the open fence; 0: no fence is open
	width  int
	indent int  // the closing line may be indented by three more columns
	quoted bool // the fence is in a quote, and ends with it
	inList bool // the lines belong to a list item, whose blocks are indented
}

// line takes the next line and says whether it belongs to a fenced block, its first and last line included.
func (f *fence) line(line string) bool {
	s, indent := unindent(line, 0)
	if s == "" {
		f.leaveQuote()
		return f.mark != 0
	}
	if f.quoted && s[0] != '>' {
		f.leaveQuote()
	}
	if f.mark != 0 {
		f.close(s, indent)
		return true
	}
	return f.open(s, indent)
}

func (f *fence) leaveQuote() {
	if f.quoted {
		f.mark, f.quoted = 0, false
	}
}

// open checks for the first line of a fenced block.
func (f *fence) open(s string, indent int) bool {
	isIndented := indent > 3 // code, except inside a list item
	quoted := false
	for {
		n := markerLen(s)
		if n == 0 {
			break
		}
		if s[0] == '>' {
			quoted = true
		} else {
			f.inList = true
		}
		s, indent = unindent(s[n:], indent+n)
	}
	if indent < 2 && !quoted {
		f.inList = false
	}
	isCode := isIndented && !f.inList
	if s == "" || s[0] != '`' && s[0] != '~' || isCode {
		return false
	}
	width := len(s) - len(strings.TrimLeft(s, s[:1]))
	if width < 3 || s[0] == '`' && strings.Contains(s[width:], "`") {
		return false
	}
	f.mark, f.width, f.indent, f.quoted = s[0], width, 0, quoted
	if f.inList {
		f.indent = indent
	}
	return true
}

// close looks for the last line of the open block.
func (f *fence) close(s string, indent int) {
	for f.quoted && s != "" && s[0] == '>' {
		s, indent = unindent(s[1:], indent+1)
	}
	if s == "" || s[0] != f.mark || indent > f.indent+3 && !f.quoted {
		return
	}
	width := len(s) - len(strings.TrimLeft(s, s[:1]))
	if width >= f.width && strings.TrimSpace(s[width:]) == "" {
		f.mark, f.quoted = 0, false
	}
}

// unindent returns a line that begins in a column without its white space, and the column where the rest begins. Tabs
// stop at every fourth.
func unindent(line string, column int) (string, int) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		case '\r', '\n':
		default:
			return line[i:], column
		}
	}
	return "", column
}

// markerLen returns the length of the quote or list item marker at the beginning of s, without white space after it.
func markerLen(s string) int {
	if s == "" {
		return 0
	}
	n := 1
	switch {
	case s[0] == '>':
		return 1
	case s[0] == '-' || s[0] == '*' || s[0] == '+':
	case '0' <= s[0] && s[0] <= '9':
		for n < len(s) && n < 9 && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		if n == len(s) || s[n] != '.' && s[n] != ')' {
			return 0
		}
		n++
	default:
		return 0
	}
	if n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
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
