package minify

import (
	"hash/crc32"
	"strings"

	"github.com/winnowgo/winnow/internal/mem"
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
	// A run is not looked for from a shorter line on: it is found from its first longer line, and the short ones in
	// front of that are added. Otherwise, blocks of 190 blank lines would take 200 comparisons in each place for
	// each byte.
	leastFirst = 8
)

// Marks returns a hash of each long line of text together with the line behind it, both without their numbers. Texts
// that share many lines share marks, so marks tell at little cost which texts are worth a comparison. Equal marks prove
// nothing: anybody can write lines with equal hashes. A text that is too short to save anything has no marks.
func Marks(text string) (marks []uint32) {
	if len(text) < LeastSaved {
		return nil
	}
	before, isLong := uint32(0), false
	for line := range strings.SplitSeq(text, "\n") {
		if mayHaveNumber(line) {
			line = line[NumberOf(line).Width:]
		}
		content := mem.Bytes(line)
		if isLong {
			marks = append(marks, crc32.Update(before, castagnoli, content))
		}
		before, isLong = crc32.Checksum(content, castagnoli), len(line) >= leastMarked
	}
	return marks
}

// castagnoli is the polynomial for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Finder finds lines that an earlier text has too. It uses its memory again for the next text.
type Finder struct {
	text    []line // of the new text
	earlier lines
	runs    []run
}

// Run is a run of lines of a new text that an earlier one has too.
type Run struct {
	Lines   int
	Numbers Numbers
	First   int // the number of its first line in the new text, if the lines are Renumbered
	// Earlier is the number of its first line in the earlier text or, if that has none, which line it is. It is 0 where
	// this follows from the run before: between the two runs stand as many lines in both texts, or none in the earlier
	// one. Otherwise a reader would not see that lines between them were deleted.
	Earlier int
}

// Numbers says how the numbers that a viewer put in front of the lines of a run differ between the two texts.
type Numbers uint8

const (
	Same       Numbers = iota // the lines are the same byte for byte, with their numbers if they have some
	Renumbered                // the new text has numbers, and the earlier one has others or none
	Unnumbered                // only the earlier text has numbers
)

// run is a run of lines, where it begins in both texts, and the note that replaces it.
type run struct {
	text, earlier int
	lines         int
	numbers       Numbers
	note          string
}

// Without returns text without the runs of lines that earlier has too, line by line and, but for the numbers in front
// of the lines, byte for byte. note returns the line that replaces a run. ok is false if this saves too little.
func (f *Finder) Without(text, earlier string, note func(Run) string) (out string, ok bool) {
	f.earlier.read(strings.TrimSuffix(earlier, "\n"))
	body, endsLine := strings.CutSuffix(text, "\n")
	f.text, f.runs = appendLines(f.text[:0], body), f.runs[:0]
	saved, done := 0, 0
	for i := 0; i < len(f.text); {
		r := f.longestRun(i, done)
		size := sizeOf(f.text[r.text:][:r.lines])
		if r.lines < leastLines || size < leastBytes {
			i++
			continue
		}
		said := Run{Lines: r.lines, Numbers: r.numbers}
		if gap := r.earlier - f.behind(); gap != 0 && gap != r.text-done {
			said.Earlier = r.earlier + 1
			if first := &f.earlier.list[r.earlier]; first.width > 0 {
				said.Earlier = int(first.number)
			}
		}
		if r.numbers == Renumbered {
			said.First = int(f.text[r.text].number)
		}
		r.note = note(said)
		saved += size - len(r.note) - 1
		f.runs = append(f.runs, r)
		i = r.text + r.lines
		done = i
	}
	if saved < LeastSaved {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(text) - saved + len("\n")) // exactly: the text is kept for a long time, with its spare room
	f.write(&b, endsLine)
	return b.String(), true
}

// behind returns which line of the earlier text stands behind the last run.
func (f *Finder) behind() int {
	if len(f.runs) == 0 {
		return 0
	}
	last := &f.runs[len(f.runs)-1]
	return last.earlier + last.lines
}

// longestRun returns the longest run that begins with line i of the new text, with the lines in front of it that belong
// to it and do not stand before line from. These were not found by themselves if they stand in too many places of the
// earlier text, as blank lines do.
func (f *Finder) longestRun(i, from int) (longest run) {
	content := f.text[i].content()
	if len(content) < leastFirst {
		return run{}
	}
	at, isThere := f.earlier.first[content]
	if !isThere {
		return run{}
	}
	for range mostPlaces {
		r := f.runAt(i, at)
		if r.lines > longest.lines || r.lines == longest.lines && r.numbers == Same {
			longest = r
		}
		if at = f.earlier.next[at]; at == 0 {
			break
		}
	}
	for longest.lines > 0 && longest.text > from && longest.earlier > 0 && f.goesOn(&longest, -1) {
		longest.text, longest.earlier, longest.lines = longest.text-1, longest.earlier-1, longest.lines+1
	}
	return longest
}

// runAt returns the run that begins with line i of the new text and line k of the earlier one.
func (f *Finder) runAt(i, k int) run {
	r := run{text: i, earlier: k}
	switch a := &f.text[i]; {
	case a.text == f.earlier.list[k].text:
	case a.width > 0:
		r.numbers = Renumbered
	default:
		r.numbers = Unnumbered
	}
	for i+r.lines < len(f.text) && k+r.lines < len(f.earlier.list) && f.goesOn(&r, r.lines) {
		r.lines++
	}
	return r
}

// goesOn reports whether the lines that stand n lines behind the beginning of r (before it, if n is negative) belong to
// it: they are the same and, in a text with numbers that differ, their numbers count on from the first ones. So the
// numbers of all lines follow from the first.
func (f *Finder) goesOn(r *run, n int) bool {
	a, b := &f.text[r.text+n], &f.earlier.list[r.earlier+n]
	if r.numbers == Same {
		return a.text == b.text
	}
	x, y := a.text, b.text
	if r.numbers == Renumbered {
		if !a.countsFrom(&f.text[r.text], n) {
			return false
		}
		x = a.content()
	}
	if first := &f.earlier.list[r.earlier]; first.width > 0 {
		if !b.countsFrom(first, n) {
			return false
		}
		y = b.content()
	}
	return x == y
}

// write writes the new text without the runs. endsLine says that a line feed stands behind its last line.
func (f *Finder) write(b *strings.Builder, endsLine bool) {
	runs := f.runs
	for i := 0; i < len(f.text); {
		if len(runs) > 0 && runs[0].text == i {
			b.WriteString(runs[0].note)
			i += runs[0].lines
			runs = runs[1:]
		} else {
			b.WriteString(f.text[i].text)
			i++
		}
		if i < len(f.text) || endsLine {
			b.WriteByte('\n')
		}
	}
}
