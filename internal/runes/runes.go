// Package runes counts and cuts text by characters, and says what a character or a byte is.
package runes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// AtLeast reports whether s has n characters or more. It reads no further than it must.
func AtLeast(s string, n int) bool { return n <= 0 || Head(s, n-1) < len(s) }

// Head returns the length in bytes of the first n characters of s, or len(s) if there are fewer.
func Head(s string, n int) int {
	i := 0
	for n >= 8 && i+8 <= len(s) && LoadWord(s, i)&NonASCII == 0 {
		i, n = i+8, n-8
	}
	for ; n > 0 && i < len(s); n-- {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// Tail returns the index of the last n characters of s, or 0 if there are fewer.
func Tail(s string, n int) int {
	i := len(s)
	for n >= 8 && i >= 8 && LoadWord(s, i-8)&NonASCII == 0 {
		i, n = i-8, n-8
	}
	for ; n > 0 && i > 0; n-- {
		if s[i-1] < utf8.RuneSelf {
			i--
			continue
		}
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}

// OneLine returns s in one line: each run of white space in it is one space, and there is none at its ends.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// HeadWords is [Head] without a path that is cut at its end, and without another word unless less than half of n
// characters would be left.
func HeadWords(s string, n int) int { return headEnd(s, Head(s, n), Head(s, n/2)) }

// TailWords is [Tail] without a path that is cut at its beginning, and without another word unless less than half of n
// characters would be left.
func TailWords(s string, n int) int { return tailStart(s, Tail(s, n), Tail(s, n/2)) }

// headEnd returns where to cut s, at end or before, so that no path is cut, and no word that begins behind least.
func headEnd(s string, end, least int) int {
	if end == len(s) || isSpaceAt(s, end) {
		return end
	}
	if from, _, isPath := pathAround(s, end); isPath {
		return len(strings.TrimRightFunc(s[:from], unicode.IsSpace))
	}
	if k := strings.LastIndexFunc(s[:end], unicode.IsSpace); k >= least && k >= 0 {
		return k
	}
	return end
}

// tailStart returns where to cut s, at start or behind, so that no path is cut, and no word that ends before most.
func tailStart(s string, start, most int) int {
	if start == 0 || start == len(s) || isSpaceAt(s, start) {
		return start
	}
	if r, _ := utf8.DecodeLastRuneInString(s[:start]); unicode.IsSpace(r) {
		return start
	}
	if _, to, isPath := pathAround(s, start); isPath {
		return to
	}
	if k := strings.IndexFunc(s[start:], unicode.IsSpace); k >= 0 && start+k <= most {
		return start + k
	}
	return start
}

// longestPath is how many bytes a path has at most: what is longer is data. Package identifier says so too.
const longestPath = 256

// pathAround returns the bounds of the path that s would be cut inside of at index i. Half a path is another path.
func pathAround(s string, i int) (from, to int, isPath bool) {
	from, to = i, i
	for from > 0 && i-from <= longestPath {
		r, size := utf8.DecodeLastRuneInString(s[:from])
		if endsPath(r) {
			break
		}
		from -= size
	}
	for to < len(s) && to-i <= longestPath {
		r, size := utf8.DecodeRuneInString(s[to:])
		if endsPath(r) {
			break
		}
		to += size
	}
	isPath = from < i && i < to && to-from <= longestPath && strings.ContainsAny(s[from:to], `/\`)
	return from, to, isPath
}

// endsPath reports whether r stands around paths and not in them. Chinese and Japanese put no spaces around them.
func endsPath(r rune) bool {
	const firstWide = 0x2E80 // from here on scripts have no spaces
	return r >= firstWide || unicode.IsSpace(r) || strings.ContainsRune("\"'`{}[]()=,;|", r)
}

// isSpaceAt reports whether white space stands at index i of s.
func isSpaceAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsSpace(r)
}

// LineEnd returns where to cut s so that at most keep characters are left: at the last line end at or
// before that, if it lies in the last fifth. The newline is not kept.
func LineEnd(s string, keep int) int {
	end := Head(s, keep)
	if end == len(s) {
		return end
	}
	nl := strings.LastIndexByte(s[:end+1], '\n')
	if nl >= 0 && 5*(keep-utf8.RuneCountInString(s[nl:end])) > 4*keep {
		return nl
	}
	return end
}

// LineStart returns where the last keep characters of s begin: at the first line start behind that, if it
// lies in their first fifth.
func LineStart(s string, keep int) int {
	start := Tail(s, keep)
	if start == 0 || s[start-1] == '\n' {
		return start
	}
	if nl := strings.IndexByte(s[start:], '\n'); nl >= 0 && 5*utf8.RuneCountInString(s[start:start+nl+1]) < keep {
		return start + nl + 1
	}
	return start
}

// Clip keeps the head and the tail of s, two thirds and one third, in at most limit bytes and in whole characters. Like
// [HeadWords] and [TailWords] it cuts no word, because half a path is another path. What is not UTF-8 is replaced, or
// left out at the ends of the cut.
func Clip(s string, limit int) string {
	const mark = " … "
	if len(s) <= limit {
		if utf8.ValidString(s) { // at several times the speed
			return s
		}
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	keep := max(0, limit-len(mark)-2)
	end, start := keep*2/3, len(s)-keep/3
	head := strings.TrimRightFunc(s[:headEnd(s, end, end/2)], unicode.IsSpace)
	tail := strings.TrimLeftFunc(s[tailStart(s, start, start+(len(s)-start)/2):], unicode.IsSpace)
	return strings.ToValidUTF8(head, "") + mark + strings.ToValidUTF8(tail, "")
}
