package excerpt

import (
	"math/bits"
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
)

// A reportMark is a byte that may be part of a report of an error, if the byte beside it is one of the given ones.
type reportMark struct {
	mark    byte
	beside  int    // -1: the byte in front of it; 1: the one behind
	letters uint32 // that may stand there, a bit for each, in upper or lower case
	wide    bool   // a byte of a character that is not ASCII may stand there too
}

// endsOfReports are the letters that reportWords and the names of exceptions end with.
const endsOfReports = 1<<('c'-'a') | 1<<('d'-'a') | 1<<('e'-'a') | 1<<('l'-'a') | 1<<('n'-'a') | 1<<('r'-'a')

// wideColon is the last byte of the colon that Chinese, Japanese and Korean texts use.
const wideColon = '\x9a'

var (
	colonMark   = reportMark{':', -1, endsOfReports, true}
	bracketMark = reportMark{'[', -1, 1 << ('r' - 'a'), false}
)

// reportMarks are bytes of which at least one is in every line that reports an error, see marksReport. The standard
// library finds the next place of each, which is many times as fast as reading a text letter by letter. Where one of
// several bytes will do, the rarest in the text is looked for.
var reportMarks = [...][]reportMark{
	{colonMark},
	{{wideColon, -1, 0, true}},
	{bracketMark},
	{{'x', 1, 1 << ('i' - 'a'), false}}, // exitMark
	{{'k', -1, 1 << ('c' - 'a'), false}, {'b', -1, 1 << ('e' - 'a'), false}},
	{{'R', -1, 1 << ('r' - 'a'), false}, {'O', -1, 1 << ('r' - 'a'), false}, {'E', 1, 1 << ('r' - 'a'), false}},
	{{'F', 1, 1 /* a */, false}, {'A', -1, 1 << ('f' - 'a'), false}, {'L', -1, 1 | 1<<('i'-'a'), false}},
}

// exitMark is the mark of "exit" and "exited".
var exitMark = &reportMarks[3][0]

// mayBeBeside reports whether c may stand beside m.
func (m *reportMark) mayBeBeside(c byte) bool {
	if c >= 0x80 {
		return m.wide
	}
	letter := c | 0x20 - 'a'
	return letter < 26 && m.letters>>letter&1 != 0
}

// reportSearch finds, front to back, the places of a text that may report an error.
type reportSearch struct {
	text    string
	last    string // the line that was found last
	lastAt  int    // where it begins, or the last line that equals it
	isWide  bool   // the text may have characters that are not ASCII
	crowded crowded
	sign    int // where crowded.nextSign found one
	marks   [len(reportMarks)]*reportMark
	next    [len(reportMarks)]int // where each mark is next; len(text): nowhere; -1: not searched yet
}

// searchReports begins a search in text. isWide says that text may have characters that are not ASCII.
func searchReports(text string, isWide bool) *reportSearch {
	r := &reportSearch{isWide: isWide, crowded: crowdedWith(text)}
	for k := range r.marks {
		r.marks[k] = rarest(reportMarks[k], text)
	}
	r.begin(text)
	return r
}

// begin begins the search in another piece of the text, with the marks and settings of searchReports.
func (r *reportSearch) begin(text string) {
	r.text, r.last, r.sign = text, "", -1
	for k := range r.next {
		r.next[k] = -1
		switch m := r.marks[k].mark; {
		case r.crowded.signs && (m == colonMark.mark || m == bracketMark.mark): // nextSign finds both
			r.next[k] = len(text)
		case !r.isWide && m == wideColon:
			r.next[k] = len(text)
		}
	}
}

// sample is how many bytes of a text are read to find out what is rare in it.
const sample = 4 << 10

// rarest returns the one of marks that is the rarest at the beginning of text.
func rarest(marks []reportMark, text string) *reportMark {
	if len(marks) == 1 || len(text) < sample {
		return &marks[0]
	}
	best, least := 0, sample
	for k := range marks {
		if n := strings.Count(text[:sample], string(marks[k].mark)); n < least {
			best, least = k, n
		}
	}
	return &marks[best]
}

// line returns where the first line that reports an error begins and ends, from index at on, which is the beginning or
// the end of a line. It passes over lines that equal the one found last. start is -1 if there is no such line. at must
// not decrease from call to call.
func (r *reportSearch) line(at int) (start, end int) {
	for end = at; ; {
		at = r.from(end)
		if at < 0 {
			return -1, len(r.text)
		}
		start = end + strings.LastIndexByte(r.text[end:at], '\n') + 1
		if k := strings.IndexByte(r.text[at:], '\n'); k >= 0 {
			end = at + k
		} else {
			end = len(r.text)
		}
		switch line := r.text[start:end]; {
		case line == r.last:
			end, r.lastAt = r.behindRepeats(end, start-r.lastAt), start
		case reportsError(line):
			r.last, r.lastAt = line, start
			return start, end
		}
	}
}

// repeats is how many bytes are compared at once in a text that repeats itself. The comparison ends at the first
// difference, so a large number costs little.
const repeats = 512

// behindRepeats returns the end of a line, at or behind end, which is one too. All lines between the two are the same
// as those that stand `period` bytes before them, so only the line that was found last can report an error again. A
// program that tries again prints the same lines thousands of times.
func (r *reportSearch) behindRepeats(end, period int) int {
	s, i := r.text, end
	for i+repeats <= len(s) && s[i:i+repeats] == s[i-period:i-period+repeats] {
		i += repeats
	}
	for ; i+8 <= len(s); i += 8 {
		if diff := ascii.LoadWord(s, i) ^ ascii.LoadWord(s, i-period); diff != 0 {
			i += bits.TrailingZeros64(diff) / 8
			break
		}
	}
	return end + max(0, strings.LastIndexByte(s[end:i], '\n'))
}

// from returns the first place from index at on that may report an error, or -1. The line there may report nothing, but
// no line for which reportsError is true is left out. at must not decrease from call to call.
func (r *reportSearch) from(at int) int {
	nearest := len(r.text)
	if r.crowded.signs {
		if r.sign < at {
			r.sign = r.crowded.nextSign(r.text, at, r.isWide)
		}
		nearest = r.sign
	}
	for k, m := range r.marks {
		if r.next[k] < at {
			if m == exitMark && r.crowded.exits {
				r.next[k] = nextExit(r.text, at)
			} else {
				r.next[k] = m.next(r.text, at)
			}
		}
		nearest = min(nearest, r.next[k])
	}
	if nearest == len(r.text) {
		return -1
	}
	return nearest
}

// next returns the index, from i on, where m is the sign of a report in s, or len(s).
func (m *reportMark) next(s string, i int) int {
	for i < len(s) {
		n := strings.IndexByte(s[i:], m.mark)
		if n < 0 {
			break
		}
		if i += n; m.isAt(s, i) {
			return i
		}
		i++
	}
	return len(s)
}

// isSign reports whether the byte of s at index i is a colon or a bracket that is the sign of a report.
func isSign(s string, i int) bool {
	switch s[i] {
	case ':':
		return colonMark.isAt(s, i)
	case '[':
		return bracketMark.isAt(s, i)
	}
	return false
}

// isAt reports whether the byte of s at index i is m and is the sign of a report.
func (m *reportMark) isAt(s string, i int) bool {
	k := i + m.beside
	if k < 0 || k >= len(s) || !m.mayBeBeside(s[k]) {
		return false
	}
	return s[i] == m.mark && marksReport(s, i)
}

// beforeLast has, for the last letter of each of reportWords and of the names of exceptions, the letters in front of
// it, a bit for each. It tells most words apart from these before a word is read.
var beforeLast = [32]uint32{
	'c' & 31: 1 << ('i' & 31),
	'd' & 31: 1 << ('e' & 31),
	'e' & 31: 1 << ('r' & 31),
	'l' & 31: 1<<('a'&31) | 1<<('i'&31),
	'n' & 31: 1 << ('o' & 31),
	'r' & 31: 1 << ('o' & 31),
}

// marksReport reports whether the byte of s at index i, which is a mark, is part of what reportsError looks for.
func marksReport(s string, i int) bool {
	switch s[i] {
	case ':': // behind one of reportWords, the name of an exception, or one of reportSigns
		if i > 1 && s[i-1] < 0x80 && beforeLast[s[i-1]&31]>>(s[i-2]&31)&1 == 0 {
			return false
		}
		start := i
		for start > 0 && ascii.IsLetter(s[start-1]) {
			start--
		}
		if start == i {
			return i > 0 && s[i-1] >= 0x80
		}
		w := lettersAt(s, start)
		return !isName(w.before) && w.beginsReport()
	case wideColon: // in reportSigns
		return i > 0 && s[i-1] == '\xbc'
	case '[':
		return strings.HasSuffix(s[:i], "error")
	case 'x':
		return i > 0 && strings.HasPrefix(s[i-1:], "exit")
	case 'k':
		return strings.HasSuffix(s[:i], "racebac")
	case 'b':
		return strings.HasSuffix(s[:i], "race") && strings.HasPrefix(s[i:], "back")
	case 'R':
		return i > 1 && strings.HasPrefix(s[i-2:], "ERROR")
	case 'O':
		return i > 2 && strings.HasPrefix(s[i-3:], "ERROR")
	case 'E':
		return strings.HasPrefix(s[i:], "ERROR")
	case 'F':
		return strings.HasPrefix(s[i:], "FA")
	case 'L':
		return strings.HasSuffix(s[:i], "FAI") || strings.HasSuffix(s[:i], "FATA")
	case 'A':
		return i > 0 && s[i-1] == 'F'
	}
	return false
}
