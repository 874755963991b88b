// Package runes counts and cuts text by characters.
package runes

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/ascii"
)

// AtLeast reports whether s has n characters or more. It reads no further than it must.
func AtLeast(s string, n int) bool {
	if n <= 0 {
		return true
	}
	if len(s) < n {
		return false
	}
	if len(s)/utf8.UTFMax >= n {
		return true
	}
	return Head(s, n-1) < len(s)
}

// CountBytes counts the bytes of b that begin a character.
func CountBytes(b []byte) int {
	n := len(b)
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		n -= bits.OnesCount64(w & ascii.NonASCII &^ (w << 1)) // the bytes 10xxxxxx continue a character
	}
	for _, c := range b {
		if !utf8.RuneStart(c) {
			n--
		}
	}
	return n
}

// Head returns the length in bytes of the first n characters of s, or len(s) if there are fewer.
func Head(s string, n int) int {
	i := 0
	for n >= 8 && i+8 <= len(s) && ascii.LoadWord(s, i)&ascii.NonASCII == 0 {
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
	for n >= 8 && i >= 8 && ascii.LoadWord(s, i-8)&ascii.NonASCII == 0 {
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

// HeadWords is [Head] without a word that is cut at its end, unless the word is not a path and less than half of n
// characters would be left. Words are what white space separates.
func HeadWords(s string, n int) int {
	end := Head(s, n)
	if end == len(s) || isSpaceAt(s, end) {
		return end
	}
	k := strings.LastIndexFunc(s[:end], unicode.IsSpace)
	if k >= Head(s, n/2) || k > 0 && isPath(s[k+1:end]) {
		return k
	}
	return end
}

// TailWords is [Tail] without a word that is cut at its beginning, unless the word is not a path and less than half of
// n characters would be left.
func TailWords(s string, n int) int {
	start := Tail(s, n)
	if start == 0 || start == len(s) || isSpaceAt(s, start) {
		return start
	}
	if r, _ := utf8.DecodeLastRuneInString(s[:start]); unicode.IsSpace(r) {
		return start
	}
	k := strings.IndexFunc(s[start:], unicode.IsSpace)
	if k >= 0 && (start+k <= Tail(s, n/2) || isPath(s[start:start+k])) {
		return start + k
	}
	return start
}

// isSpaceAt reports whether white space stands at index i of s.
func isSpaceAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsSpace(r)
}

// Counter counts the characters of a text and its parts. It does not read them where every byte of the
// whole is a character (it is ASCII, or not valid).
type Counter struct{ single bool }

// CounterOf returns the counter for s, which has chars characters, and for its parts.
func CounterOf(s string, chars int) Counter { return Counter{single: chars == len(s)} }

// IsSingle reports whether every byte of the whole is a character.
func (c Counter) IsSingle() bool { return c.single }

// Count counts the characters of s.
func (c Counter) Count(s string) int {
	if c.single {
		return len(s)
	}
	return Count(s)
}

// Head returns the length in bytes of the first n characters of s, or len(s) if there are fewer.
func (c Counter) Head(s string, n int) int {
	if c.single {
		return min(max(0, n), len(s))
	}
	return Head(s, n)
}

// Tail returns the index of the last n characters of s, or 0 if there are fewer.
func (c Counter) Tail(s string, n int) int {
	if c.single {
		return len(s) - min(max(0, n), len(s))
	}
	return Tail(s, n)
}

// LineEnd returns where to cut s so that at most keep characters are left: at the last line end at or
// before that, if it lies in the last fifth. The newline is not kept.
func (c Counter) LineEnd(s string, keep int) int {
	end := c.Head(s, keep)
	if end == len(s) {
		return end
	}
	nl := strings.LastIndexByte(s[:end+1], '\n')
	if nl >= 0 && 5*(keep-c.Count(s[nl:end])) > 4*keep {
		return nl
	}
	return end
}

// LineStart returns where the last keep characters of s begin: at the first line start behind that, if it
// lies in their first fifth.
func (c Counter) LineStart(s string, keep int) int {
	start := c.Tail(s, keep)
	if start == 0 || s[start-1] == '\n' {
		return start
	}
	if nl := strings.IndexByte(s[start:], '\n'); nl >= 0 && 5*c.Count(s[start:start+nl+1]) < keep {
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
	head, tail := wholeWords(s, keep*2/3, len(s)-keep/3)
	return strings.ToValidUTF8(head, "") + mark + strings.ToValidUTF8(tail, "")
}

// wholeWords returns s[:end] and s[start:] without the words that are cut there. A word that is not a path is cut where
// less than half would be left without it.
func wholeWords(s string, end, start int) (head, tail string) {
	head, tail = s[:end], s[start:]
	if end > 0 && !isSpaceAt(s, end) {
		k := strings.LastIndexFunc(head, unicode.IsSpace)
		if k >= end/2 || k > 0 && isPath(head[k+1:]) {
			head = head[:k]
		}
	}
	if before, _ := utf8.DecodeLastRuneInString(s[:start]); start < len(s) && !unicode.IsSpace(before) {
		k := strings.IndexFunc(tail, unicode.IsSpace)
		if k >= 0 && (k <= len(tail)/2 || isPath(tail[:k])) {
			tail = tail[k:]
		}
	}
	return strings.TrimRightFunc(head, unicode.IsSpace), strings.TrimLeftFunc(tail, unicode.IsSpace)
}

// isPath reports whether a part of a word is one of a path: half a path is another path.
func isPath(word string) bool {
	return strings.ContainsAny(word, `/\`) && !strings.ContainsAny(word, "\"'{}[]()=")
}
