package bpe

import (
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/ascii"
)

const (
	// A long text is encoded in segments of about this many bytes, each cut where a token ends whatever the text. Of the
	// whole at once the library would need 120 bytes of memory for each byte.
	segmentBytes = 32 << 10
	// Encoding a piece takes time by the square of its length, so a run of one class of characters above this many bytes
	// is cut. No word that a person writes is as long; rulers, padding, base64 and Chinese without punctuation are.
	maxRunBytes = 384
	// Texts up to shortText bytes can afford longer runs: they take a second at worst. Bytes that are not UTF-8 would take
	// three seconds, because each of them is encoded as the three bytes of U+FFFD.
	maxRunBytesShort = 4096
	shortText        = 256 << 10
	// A run is cut where no token reaches across; that is looked for over this many bytes before its end.
	cutWindow = 256
	// Tokens that reach further to one side than this are not looked for.
	cutReach = 16
	// Where a token reaches across every place, as in the same character over and over, the cut comes after a multiple of
	// this many characters: tokens of one repeated character hold 2 to 64 of them, and digits go by three.
	cutChars = 3 * 64
	// A long row of bytes that are not UTF-8 is cut after this many. Each is encoded as U+FFFD, and the tokens of that
	// character alone hold 1 to 8 of it.
	cutInvalid = 48
)

// segmentEnd returns where to cut s: where a run of one class gets longer than maxRun bytes, or behind segmentBytes
// where a token ends whatever the text.
func (e *Encoding) segmentEnd(s string, maxRun int) int {
	var run pieceRun
	equal, last := 0, rune(-1) // length of the row of equal characters, and that character
	invalidEnd := 0            // behind cutInvalid of that row
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if run.begins(r) {
			if i >= 8*segmentBytes {
				return i // no sure place so far; between two classes is nearly one
			}
			run.bytes, run.chars, run.mark = 0, 0, i
		}
		if equal++; r != last {
			equal, last = 1, r
		}
		if equal == cutInvalid+1 {
			invalidEnd = i
		}
		if r == utf8.RuneError && size == 1 && equal > maxRunBytes/3 {
			return invalidEnd
		}
		if run.chars++; equal > cutChars && equal%cutChars == 1 || equal < cutChars && run.chars%cutChars == 1 {
			run.mark = i
		}
		if run.bytes >= maxRun && run.mark > 0 {
			return e.runEnd(s, run.mark, i, run.class)
		}
		if i >= segmentBytes && tokenEnds(s, i) {
			return i
		}
		run.bytes += utf8.RuneLen(r) // three for a byte that is no UTF-8: it is encoded as U+FFFD
		i += size
	}
	return len(s)
}

// A pieceRun is a run of characters that the patterns can take for one piece.
type pieceRun struct {
	class        byte // of pieceClass; 'L' or '.' holds marks as well
	lineEnds     bool // signs are followed by line ends, behind which only slashes belong to the piece
	bytes, chars int
	mark         int // where a multiple of cutChars ended last
}

// begins moves to the next character, r, and says whether a run begins with it.
func (p *pieceRun) begins(r rune) bool {
	class := pieceClass(r)
	lineEnd := p.class == '.' && (r == '\n' || r == '\r')
	switch {
	case class == 'M' && (p.class == 'L' || p.class == '.'), lineEnd, p.lineEnds && r == '/':
		class = p.class
	case class == 'M':
		class = 'L'
	}
	begins := class != p.class || p.lineEnds && !lineEnd && r != '/'
	p.class, p.lineEnds = class, lineEnd || p.lineEnds && !begins
	return begins
}

// runEnd returns where to cut a run of one class that goes on at i: where no token can reach across, so
// that the cut changes no count, or else at mark.
func (e *Encoding) runEnd(s string, mark, i int, class byte) int {
	if class != 'L' && class != '.' {
		return mark // digits go by three, and white space is best cut by length
	}
	for at := i - 2*utf8.UTFMax; at > max(0, i-cutWindow); at-- { // the last characters may belong to what follows
		if utf8.RuneStart(s[at]) && !e.crossed(s, at) {
			return at
		}
	}
	return mark
}

// crossed says that there is a token of bytes around s[at] that reaches from before it to behind it.
func (e *Encoding) crossed(s string, at int) bool {
	for reach := 2; reach <= 2*cutReach; reach++ { // short ones first: most places have one
		for left := max(1, reach-cutReach); left <= min(cutReach, reach-1); left++ {
			from, to := at-left, at+reach-left
			if from < 0 || to > len(s) {
				continue
			}
			if _, ok := e.ranks[s[from:to]]; ok {
				return true
			}
		}
	}
	return false
}

// pieceClass tells the classes of characters of which a piece of text, in the patterns, is made. The patterns
// take a mark ('M') for a letter or for a sign, whichever makes the longer piece.
func pieceClass(r rune) byte {
	switch {
	case r < utf8.RuneSelf && ascii.IsLetter(byte(r)) || r >= utf8.RuneSelf && unicode.IsLetter(r):
		return 'L'
	case r >= utf8.RuneSelf && unicode.IsMark(r):
		return 'M'
	case unicode.IsNumber(r):
		return 'N'
	case unicode.IsSpace(r):
		return ' '
	}
	return '.'
}

// tokenEnds says that a token ends before s[i] in both patterns: a line begins with a letter or a digit, or
// a space stands between two words.
func tokenEnds(s string, i int) bool {
	word := func(c byte) bool { return ascii.IsLetter(c) || ascii.IsDigit(c) }
	before := s[i-1]
	return before == '\n' && word(s[i]) || word(before) && s[i] == ' ' && i+1 < len(s) && ascii.IsLetter(s[i+1])
}
