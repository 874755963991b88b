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
		line = line[NumberOf(line).Width:]
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

// Run is a run of lines of a new text that an earlier one has too.
type Run struct {
	Lines int
	// Earlier is the number of its first line in the earlier text or, if that has none, which line it is. It is 0 where
	// this follows from the run before: between the two runs stand as many lines in both texts, or none in the earlier
	// one. Otherwise a reader would not see that lines between them were deleted.
	Earlier int
}

// Without returns text without the runs of lines that earlier has too, line by line and, but for the numbers in front
// of the lines, byte for byte. note returns the line that replaces a run. ok is false if this saves too little.
func Without(text, earlier string, note func(Run) string) (out string, ok bool) {
	body, endsLine := strings.CutSuffix(text, "\n")
	c := compare(linesOf(body), linesOf(strings.TrimSuffix(earlier, "\n")))
	var pieces []string
	saved, done, behind := 0, 0, 0 // done, behind: where the last run ends in the new text, and in the earlier one
	for i := 0; i < len(c.text); {
		r := c.longestRun(i, done)
		size := sizeOf(c.text[r.text:][:r.lines])
		if r.lines < leastLines || size < leastBytes {
			pieces = append(pieces, c.text[i].text)
			i++
			continue
		}
		said := Run{Lines: r.lines}
		if gap := r.earlier - behind; gap != 0 && gap != r.text-done {
			said.Earlier = r.earlier + 1
			if first := &c.earlier[r.earlier]; first.isNumbered() {
				said.Earlier = first.number
			}
		}
		line := note(said)
		saved += size - len(line) - 1
		pieces = append(pieces[:len(pieces)-(i-r.text)], line)
		done, behind = r.text+r.lines, r.earlier+r.lines
		i = done
	}
	if saved < LeastSaved {
		return "", false
	}
	if endsLine {
		pieces = append(pieces, "")
	}
	return strings.Join(pieces, "\n"), true
}
