package minify

import (
	"hash/maphash"
	"math/bits"
	"slices"
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

// lines are the lines of a text, and where each of them stands. It is a hash table of its own, because a text is read
// for each result that repeats something, and filling a map takes three times as long.
type lines struct {
	// drawn for each Finder, so that nobody can write a text whose lines all have one hash: each line would then be
	// compared with all others
	seed  maphash.Seed
	list  []line
	first []int32 // by the hash of a content: its first place, counted from 1; 0: free. If taken, the next free one.
	next  []int32 // by the place of a line: the next place of the same content; 0: it does not come again
}

// read makes l the lines of text.
func (l *lines) read(text string) {
	if l.seed == (maphash.Seed{}) {
		l.seed = maphash.MakeSeed()
	}
	l.list = appendLines(l.list[:0], text)
	n := len(l.list)
	l.next = slices.Grow(l.next[:0], n)[:n]
	l.first = slices.Grow(l.first[:0], 2<<bits.Len(uint(n)))[:2<<bits.Len(uint(n))]
	clear(l.first)
	for i := n - 1; i >= 0; i-- {
		first := l.find(l.list[i].content())
		l.next[i] = max(0, *first-1)
		*first = int32(i) + 1
	}
}

// find returns the element of l.first that has the first place of a line, or the free one where it belongs.
func (l *lines) find(content string) *int32 {
	mask := len(l.first) - 1
	for i := int(maphash.String(l.seed, content)) & mask; ; i = (i + 1) & mask {
		if k := l.first[i]; k == 0 || l.list[k-1].content() == content {
			return &l.first[i]
		}
	}
}
