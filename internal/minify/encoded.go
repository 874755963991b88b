package minify

import (
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
)

const (
	// Data is left out from this length on. A key, a token of an API or a small picture may have to be passed on as it
	// is: few are this long, and no model copies a text of this length.
	leastData = 2_000
	// How many bytes of data stay: the beginning shows what it was.
	dataHead = 64
	// Data is wrapped at 64 characters (PEM) or at 76 (MIME).
	shortestWrapped = 60
)

// withoutData keeps only the beginning of base64 and hexadecimal data. It looks at every 2000th byte, because a run
// that is long enough covers one of these.
func withoutData(s string) string {
	r := rewriter{text: s}
	done := 0
	for place := leastData - 1; place < len(s); place += leastData {
		i := place
		if s[i] == '\n' {
			i--
		}
		if i < done || !isEncoded(s[i]) {
			continue
		}
		start, end := i, i+1
		for start > done && isEncoded(s[start-1]) {
			start--
		}
		for end < len(s) && isEncoded(s[end]) {
			end++
		}
		if end-start >= leastData {
			if isData(s, start, end) {
				r.shorten(start+dataHead, end)
			}
			done = end
			continue
		}
		if end-start >= shortestWrapped {
			done = r.unwrap(start, end, done)
		}
	}
	return r.result()
}

// shorten replaces text[from:to] by a note that says how much is left out, unless the note is longer.
func (r *rewriter) shorten(from, to int) {
	if note := "[... " + strconv.Itoa(to-from) + " characters left out]"; len(note) < to-from {
		r.replace(from, to, note)
	}
}

// isEncoded reports whether c may stand in base64 or in hexadecimal data.
func isEncoded(c byte) bool {
	return ascii.Class[c]&(ascii.Alpha|ascii.Digit) != 0 || c == '+' || c == '/' || c == '='
}

// beginnings are the first bytes of common files in base64: PNG, JPEG, GIF, WebP and WAV, PDF, ZIP, GZIP, WOFF, WOFF2,
// OGG.
var beginnings = []string{"iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "JVBERi0", "UEsDB", "H4sI", "d09GR", "d09GMg",
	"T2dnUw"}

// hasKnownBeginning reports whether the data in s from index start on belongs to a data URL or begins like a known
// file.
func hasKnownBeginning(s string, start int) bool {
	if strings.HasSuffix(s[:start], "base64,") {
		return true
	}
	for _, b := range beginnings {
		if strings.HasPrefix(s[start:], b) {
			return true
		}
	}
	return false
}

// isData reports whether s[start:end], a run in one line, is data and not a token.
func isData(s string, start, end int) bool {
	if hasKnownBeginning(s, start) {
		return true
	}
	isPart := start > 0 && isJoint(s[start-1]) || end < len(s) && isJoint(s[end]) // of a JSON web token or a URL
	return !isPart && looksRandom(s[start:end])
}

func isJoint(c byte) bool { return strings.IndexByte(".-_%&?~", c) >= 0 }

// looksRandom reports whether run has such letters and digits as base64 or hexadecimal data has. A ruler or a number
// does not.
func looksRandom(run string) bool {
	run = strings.TrimPrefix(run, "0x")
	lower, upper, digit, other := 0, 0, 0, 0
	for i := range len(run) {
		switch c := run[i]; {
		case ascii.IsDigit(c):
			digit++
		case c >= 'a' && c <= 'f':
			lower++
		case c >= 'A' && c <= 'F':
			upper++
		default:
			other++
		}
	}
	least := len(run) / 64 // of each; random data has far more
	switch {
	case digit < least:
		return false
	case other == 0:
		return lower >= least || upper >= least
	}
	return min(lower, upper, other) >= least
}

// unwrap keeps only the first line of wrapped data, and returns where the data ends. text[start:end] is one line of it.
// All its lines except the last have one length. Lists of hashes look the same, so only what is known to be data is
// left out. Keys stay. The data does not begin before done.
func (r *rewriter) unwrap(start, end, done int) int {
	s, width := r.text, end-start
	if !beginsLine(s, start) || !endsLine(s, end) {
		return end
	}
	first := start
	for first-width-1 >= done && isEncodedLine(s, first-width-1, width) {
		first -= width + 1
	}
	last := end // of the lines of full width
	for isEncodedLine(s, last+1, width) {
		last += width + 1
	}
	if n := encodedLength(s, last+1); n > 0 && n < width && endsLine(s, last+1+n) {
		last += 1 + n
	}
	if last-first < leastData {
		return last
	}
	switch frame := frameOf(s, first); {
	case strings.Contains(frame, "KEY"): // whoever asked for a key needs it whole
	case frame != "", isData(s, first, last) && strings.IndexByte(s[first:last], '+') >= 0:
		r.shorten(first+width+1, last)
	}
	return last
}

// frameOf returns the line in front of index i of s if that line begins a certificate or a key (PEM), or "".
func frameOf(s string, i int) string {
	before := s[:max(0, i-1)]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	if strings.HasPrefix(line, "-----BEGIN ") && strings.HasSuffix(line, "-----") {
		return line
	}
	return ""
}

// isEncodedLine reports whether a line of width encoded bytes begins at index i of s.
func isEncodedLine(s string, i, width int) bool {
	if i < 0 || i+width > len(s) || !beginsLine(s, i) || !endsLine(s, i+width) {
		return false
	}
	return encodedLength(s[:i+width], i) == width
}

func beginsLine(s string, i int) bool { return i == 0 || s[i-1] == '\n' }

func endsLine(s string, i int) bool { return i == len(s) || i < len(s) && s[i] == '\n' }

// encodedLength returns how many encoded bytes s has in a row from index i on.
func encodedLength(s string, i int) int {
	n := 0
	for i+n < len(s) && isEncoded(s[i+n]) {
		n++
	}
	return n
}
