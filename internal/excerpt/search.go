package excerpt

import (
	"math/bits"
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
)

// A reportMark is a byte that may be part of what reportsError looks for, if the byte beside it is one of some.
type reportMark struct {
	mark    byte
	beside  int    // -1: the byte in front of it; 1: the one behind
	letters uint32 // that may stand there, in any case: a bit each
	wide    bool   // or a part of a character that is not ASCII
}

// endsOfReports are the letters that reportWords and the names of exceptions end with.
const endsOfReports = 1<<('c'-'a') | 1<<('d'-'a') | 1<<('e'-'a') | 1<<('l'-'a') | 1<<('n'-'a') | 1<<('r'-'a')

var (
	colonMark   = reportMark{':', -1, endsOfReports, true}
	bracketMark = reportMark{'[', -1, 1 << ('r' - 'a'), false}
)

// reportMarks are bytes, at least one of which is in every line that reports an error: see marksReport. The standard
// library finds the next place of each, which is many times as fast as reading a text letter by letter. Where one of
// two bytes will do, the one that is rarer in the text is looked for.
var reportMarks = [...][]reportMark{
	{colonMark},
	{{'\x9a', -1, 0, true}},
	{bracketMark},
	{{'x', 1, 1 << ('i' - 'a'), false}},
	{{'k', -1, 1 << ('c' - 'a'), false}, {'b', -1, 1 << ('e' - 'a'), false}},
	{{'R', -1, 1 << ('r' - 'a'), false}, {'O', -1, 1 << ('r' - 'a'), false}, {'E', 1, 1 << ('r' - 'a'), false}},
	{{'F', 1, 1 /* a */, false}, {'A', -1, 1 << ('f' - 'a'), false}, {'L', -1, 1 | 1<<('i'-'a'), false}},
}

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
	text      string
	isCrowded bool // with colons, see nextSign
	sign      int  // … where it found one
	marks     [len(reportMarks)]*reportMark
	next      [len(reportMarks)]int // where each mark is next; len(text) if nowhere, and -1 before the first look
}

func searchReports(text string) *reportSearch {
	r := &reportSearch{text: text, sign: -1}
	for k := range r.next {
		r.next[k], r.marks[k] = -1, rarest(reportMarks[k], text)
	}
	if r.isCrowded = isCrowded(text); r.isCrowded {
		for k := range r.next {
			if m := r.marks[k].mark; m == colonMark.mark || m == bracketMark.mark {
				r.next[k] = len(text) // nextSign finds both
			}
		}
	}
	return r
}

// sample is how much of a text is read to find out what is rare in it.
const sample = 8 << 10

// isCrowded reports whether a long text has a colon or a bracket in every few words.
func isCrowded(text string) bool {
	if len(text) < sample {
		return false
	}
	return strings.Count(text[:sample], ":")+strings.Count(text[:sample], "[") > sample/crowd
}

// crowd is how many bytes there are to a colon or a bracket in a text that is crowded with them: where they are nearer
// to each other, looking at all bytes, eight at a time, takes less than finding each by itself.
const crowd = 128

// rarest returns the mark that is the rarest where a text begins.
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

// from returns the first place at index at or behind it, or -1. From call to call, at must not get less. It may find
// lines that report nothing, but it leaves none out for which reportsError is true.
func (r *reportSearch) from(at int) int {
	nearest := len(r.text)
	if r.isCrowded {
		if r.sign < at {
			r.sign = nextSign(r.text, at)
		}
		nearest = r.sign
	}
	for k := range r.marks {
		if r.next[k] < at {
			r.next[k] = r.marks[k].next(r.text, at)
		}
		nearest = min(nearest, r.next[k])
	}
	if nearest == len(r.text) {
		return -1
	}
	return nearest
}

// sparse is how many bytes without a mark make the search of the standard library worth its call.
const sparse = 16

// next returns where, from index i of s on, m is the sign of a report, or len(s). Where marks are far apart the
// standard library finds the next one. Logs have one in each word or two: there it costs less to go on by eight bytes.
func (m *reportMark) next(s string, i int) int {
	const ones = 0x0101010101010101
	for i < len(s) {
		n := strings.IndexByte(s[i:], m.mark)
		if n < 0 {
			break
		}
		i += n
		for last := i; i+8 <= len(s) && i-last < sparse; i += 8 {
			w := ascii.LoadWord(s, i) ^ uint64(m.mark)*ones
			for found := (w - ones) &^ w & ascii.NonASCII; found != 0; found &= found - 1 {
				if last = i + bits.TrailingZeros64(found)/8; m.isAt(s, last) {
					return last
				}
			}
		}
		if i+8 > len(s) { // the end, byte by byte
			for ; i < len(s); i++ {
				if m.isAt(s, i) {
					return i
				}
			}
		}
	}
	return len(s)
}

// nextSign returns where, from index i of s on, a colon or a bracket is the sign of a report, or len(s).
func nextSign(s string, i int) int {
	const block = 4 * 8
	for i = max(i, 1); i+block <= len(s); i += block {
		w := s[i-1 : i+block]
		found := signs(ascii.LoadWord(w, 0), ascii.LoadWord(w, 1)) | signs(ascii.LoadWord(w, 8), ascii.LoadWord(w, 9)) |
			signs(ascii.LoadWord(w, 16), ascii.LoadWord(w, 17)) | signs(ascii.LoadWord(w, 24), ascii.LoadWord(w, 25))
		if found&ascii.NonASCII == 0 {
			continue
		}
		for k := i; k < i+block; k++ {
			if isSign(s, k) {
				return k
			}
		}
	}
	for ; i < len(s); i++ {
		if isSign(s, i) {
			return i
		}
	}
	return len(s)
}

// signs sets the high bit of each byte of at that may be a colon or a bracket which is the sign of a report, by the
// byte in front of it, in the same place of before. It leaves none out. What stands there is a letter, or not ASCII;
// but no letter with bit 0 and one of bits 3 and 4, nor one with bits 2 and 4: o, s, t, y and others.
func signs(before, at uint64) uint64 {
	const ones = 0x0101010101010101
	colon, bracket := at^':'*ones, at^'['*ones
	marks := (colon-ones)&^colon | (bracket-ones)&^bracket
	others := before<<7&(before<<4|before<<3) | before<<3&(before<<5)
	return marks & (before<<1&^others | before)
}

// isSign reports whether the byte of s at index i is a colon or a bracket, as the sign of a report.
func isSign(s string, i int) bool {
	switch s[i] {
	case ':':
		return colonMark.isAt(s, i)
	case '[':
		return bracketMark.isAt(s, i)
	}
	return false
}

// isAt reports whether the byte of s at index i is m, as the sign of a report.
func (m *reportMark) isAt(s string, i int) bool {
	k := i + m.beside
	if k < 0 || k >= len(s) || !m.mayBeBeside(s[k]) {
		return false
	}
	return s[i] == m.mark && marksReport(s, i)
}

// marksReport reports whether the byte of s at index i, which is a mark, is part of what reportsError looks for.
func marksReport(s string, i int) bool {
	switch s[i] {
	case ':': // behind one of reportWords, the name of an exception, or one of reportSigns
		start := i
		for start > 0 && ascii.IsLetter(s[start-1]) {
			start--
		}
		if start == i {
			return i > 0 && s[i-1] >= 0x80
		}
		w := lettersAt(s, start)
		return !isName(w.before) && w.beginsReport()
	case '\x9a': // the end of a wide colon, in reportSigns
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
