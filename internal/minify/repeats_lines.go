package minify

import "strings"

// line is a line of a text.
type line struct {
	text    string
	content string // the text without the number in front of it
	number  int
}

func (l *line) isNumbered() bool { return len(l.content) < len(l.text) }

// linesOf returns the lines of a text.
func linesOf(text string) []line {
	list := make([]line, 0, strings.Count(text, "\n")+1)
	for s := range strings.SplitSeq(text, "\n") {
		n := NumberOf(s)
		list = append(list, line{s, s[n.Width:], n.Value})
	}
	return list
}

// sizeOf returns the bytes of lines with their line feeds.
func sizeOf(list []line) (size int) {
	for i := range list {
		size += len(list[i].text) + 1
	}
	return size
}

// comparison is a new text and an earlier one, and where each line of the earlier one stands.
type comparison struct {
	text, earlier []line
	first         map[string]int // by a content, its first place
	next          []int          // by the place of a line: the next one of the same content; 0: there is none
}

func compare(text, earlier []line) *comparison {
	n := len(earlier)
	c := &comparison{text, earlier, make(map[string]int, n), make([]int, n)}
	for i := n - 1; i >= 0; i-- {
		content := earlier[i].content
		c.next[i] = c.first[content] // 0 if there is none: nothing stands before the first line
		c.first[content] = i
	}
	return c
}

// run is a run of lines, and where it begins in both texts.
type run struct{ text, earlier, lines int }

// longestRun returns the longest run that begins with line i of the new text, with the lines in front of it that belong
// to it and do not stand before line from. These were not found by themselves if they stand in too many places of the
// earlier text, as blank lines do.
func (c *comparison) longestRun(i, from int) (longest run) {
	content := c.text[i].content
	k, isThere := c.first[content]
	if len(content) < leastFirst || !isThere {
		return run{}
	}
	for range mostPlaces {
		r := run{i, k, 1}
		for c.goOn(i+r.lines, k+r.lines) {
			r.lines++
		}
		if r.lines > longest.lines {
			longest = r
		}
		if k = c.next[k]; k == 0 {
			break
		}
	}
	for longest.text > from && longest.earlier > 0 && c.goOn(longest.text, longest.earlier) &&
		c.text[longest.text-1].content == c.earlier[longest.earlier-1].content {
		longest.text, longest.earlier, longest.lines = longest.text-1, longest.earlier-1, longest.lines+1
	}
	return longest
}

// goOn reports whether line i of the new text and line k of the earlier one belong to the run of the lines before them:
// they are the same but for their numbers, and these count on.
func (c *comparison) goOn(i, k int) bool {
	if i >= len(c.text) || k >= len(c.earlier) {
		return false
	}
	a, b := &c.text[i], &c.earlier[k]
	return a.text == b.text || a.content == b.content && a.countsOn(&c.text[i-1]) && b.countsOn(&c.earlier[k-1])
}

// countsOn reports whether l has no number, or the one behind that of the line before it.
func (l *line) countsOn(before *line) bool { return !l.isNumbered() || l.number == before.number+1 }
