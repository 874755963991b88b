package minify

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// line is a line of a text, and the number in front of it.
type line struct {
	text      string
	number    int32
	width     int32 // bytes of the number, with what stands between it and the content; 0: there is none
	separator byte  // the first of these
}

func (l *line) content() string { return l.text[l.width:] }

// mayHaveNumber reports whether line may have a number. It sees at the first byte that most lines have none.
func mayHaveNumber(line string) bool {
	return line != "" && (line[0] == ' ' || runes.IsDigit(line[0]))
}

// countsFrom reports whether the number of l is n more than the number of first.
func (l *line) countsFrom(first *line, n int) bool {
	return l.width > 0 && int(l.number) == int(first.number)+n && l.separator == first.separator
}

// sizeOf returns the bytes of lines with their line feeds.
func sizeOf(list []line) (size int) {
	for i := range list {
		size += len(list[i].text) + 1
	}
	return size
}

// appendLines appends the lines of a text to list.
func appendLines(list []line, text string) []line {
	for {
		k := strings.IndexByte(text, '\n')
		one := text
		if k >= 0 {
			one = text[:k]
		}
		l := line{text: one}
		if mayHaveNumber(one) {
			if n := NumberOf(one); n.Width > 0 {
				l.number, l.width, l.separator = int32(n.Value), int32(n.Width), n.Separator[0]
			}
		}
		if list = append(list, l); k < 0 {
			return list
		}
		text = text[k+1:]
	}
}

// lines are the lines of a text, and where each of them stands.
type lines struct {
	list  []line
	first map[string]int // by a content, its first place
	next  []int          // by the place of a line: the next place of the same content; 0: it does not come again
}

// read makes l the lines of text.
func (l *lines) read(text string) {
	l.list = appendLines(l.list[:0], text)
	n := len(l.list)
	l.next, l.first = make([]int, n), make(map[string]int, n)
	for i := n - 1; i >= 0; i-- {
		content := l.list[i].content()
		l.next[i] = l.first[content] // 0 if there is none: nothing stands before the first line
		l.first[content] = i
	}
}
