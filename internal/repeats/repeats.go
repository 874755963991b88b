// Package repeats finds lines of a text that an earlier text has too.
package repeats

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
)

const (
	// A shorter run of lines is not worth a note in its place. In the recorded sessions, 4, 5 and 6 lines cost the same
	// within 0.05 %.
	leastLines, leastBytes = 4, 200
	// LeastSaved is how many bytes must be saved; otherwise the text stays as it is.
	LeastSaved = 200
	// leastMarked is the length in bytes from which on a line gets a mark. Few other texts have so long a line by
	// chance, and most runs of lines that are worth a note have one.
	leastMarked = 40
	// mostPlaces bounds how many places of a line in the earlier text are looked at: a blank line has many.
	mostPlaces = 16
)

// Marks returns a hash of each long line of text together with the line behind it. Texts that share many lines share
// marks, so marks tell at little cost which texts are worth a comparison. Equal marks prove nothing: anybody can write
// lines with equal hashes. A text that is too short to save anything has no marks.
func Marks(text string) (marks []uint32) {
	if len(text) < LeastSaved {
		return nil
	}
	marks = make([]uint32, 0, len(text)/(2*leastMarked)) // one allocation for most texts
	before, isLong := uint64(0), false
	for line := range strings.SplitSeq(text, "\n") {
		h := hash(line)
		if isLong {
			marks = append(marks, uint32(mix(before^h, 0x94d049bb133111eb)>>32))
		}
		before, isLong = h, len(line) >= leastMarked
	}
	return marks
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo + 1
}

func hash(line string) uint64 {
	h := uint64(len(line)) + 0x243f6a8885a308d3
	if len(line) < 8 {
		for i := range len(line) {
			h = mix(h^uint64(line[i]), 0xbf58476d1ce4e5b9)
		}
		return h
	}
	for i := 0; i+8 < len(line); i += 8 {
		h = mix(h^ascii.LoadWord(line, i), 0x9e3779b97f4a7c15)
	}
	return mix(h^ascii.LoadWord(line, len(line)-8), 0x9e3779b97f4a7c15) // may overlap the one before it
}

// Finder finds lines that an earlier text has too. It uses its memory again for the next text.
type Finder struct {
	text    []string // lines of the new text
	earlier lines
	runs    []run
}

// run is a run of lines of the new text that the earlier one has too, and the note that replaces it.
type run struct {
	first, lines int
	note         string
}

// Without returns text without the runs of lines that earlier has too, line by line and byte for byte. note returns the
// line that replaces a run of the given number of lines. ok is false if this saves too little.
func (f *Finder) Without(text, earlier string, note func(lines int) string) (out string, ok bool) {
	f.earlier.read(strings.TrimSuffix(earlier, "\n"))
	body, endsLine := strings.CutSuffix(text, "\n")
	f.text, f.runs = appendLines(f.text[:0], body), f.runs[:0]
	saved := 0
	for i := 0; i < len(f.text); {
		n, size := f.earlier.longestRun(f.text[i:])
		if n < leastLines || size < leastBytes {
			i++
			continue
		}
		short := note(n)
		saved += size - len(short) - 1
		f.runs = append(f.runs, run{i, n, short})
		i += n
	}
	if saved < LeastSaved {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(text) - saved + len("\n")) // exactly: the text is kept for a long time, with its spare room
	f.write(&b, endsLine)
	return b.String(), true
}

// write writes the new text without the runs. endsLine says that a line feed stands behind its last line.
func (f *Finder) write(b *strings.Builder, endsLine bool) {
	runs := f.runs
	for i := 0; i < len(f.text); {
		if len(runs) > 0 && runs[0].first == i {
			b.WriteString(runs[0].note)
			i += runs[0].lines
			runs = runs[1:]
		} else {
			b.WriteString(f.text[i])
			i++
		}
		if i < len(f.text) || endsLine {
			b.WriteByte('\n')
		}
	}
}

// appendLines appends the lines of a text to list.
func appendLines(list []string, text string) []string {
	for {
		k := strings.IndexByte(text, '\n')
		if k < 0 {
			return append(list, text)
		}
		list, text = append(list, text[:k]), text[k+1:]
	}
}

// lines are the lines of a text, and where each of them stands. It is a hash table of its own, because a text is read
// for each result that repeats something, and filling a map takes three times as long.
type lines struct {
	// drawn for each Finder, so that nobody can write a text whose lines all have one hash: each line would then be
	// compared with all others
	seed  maphash.Seed
	list  []string
	first []int32 // by the hash of a line: its first place, counted from 1; 0: free. If taken, the next free one.
	next  []int32 // by the place of a line: the next place of the same line; 0: it does not come again
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
		first := l.find(l.list[i])
		l.next[i] = max(0, *first-1)
		*first = int32(i) + 1
	}
}

// find returns the element of l.first that has the first place of line, or the free one where it belongs.
func (l *lines) find(line string) *int32 {
	mask := len(l.first) - 1
	for i := int(maphash.String(l.seed, line)) & mask; ; i = (i + 1) & mask {
		if k := l.first[i]; k == 0 || l.list[k-1] == line {
			return &l.first[i]
		}
	}
}

// longestRun returns how many lines at the beginning of text also stand together in l, and their bytes with line ends.
func (l *lines) longestRun(text []string) (longest, size int) {
	at := *l.find(text[0]) - 1
	if at < 0 {
		return 0, 0
	}
	for range mostPlaces {
		n := 0
		for k := int(at); n < len(text) && k < len(l.list) && text[n] == l.list[k]; k++ {
			n++
		}
		longest = max(longest, n)
		if at = l.next[at]; at == 0 {
			break
		}
	}
	for _, line := range text[:longest] {
		size += len(line) + 1
	}
	return longest, size
}
