package minify

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// Data in lines has the same between each two of them: the end of a line, in text or in a JSON string, with
// indentation, quotes, commas, and a number that a viewer wrote.

// glueAt returns what stands between two lines of a run if the first ends at s[i], without a number. It is "" if no
// line ends there.
func glueAt(s string, i int) string {
	const most = 40 // bytes: quotes and a sign, the end of the line, and deep indentation
	end, hasBreak := i, false
	for ; end < len(s) && end-i < most && !beginsData(s, end); end++ {
		if c := s[end]; c == '\\' && end+1 < len(s) && (s[end+1] == 'n' || s[end+1] == 'r') {
			hasBreak = true
			end++
		} else if c == '\n' {
			hasBreak = true
		}
	}
	if !hasBreak {
		return ""
	}
	if numberEnd(s, end) > end {
		return strings.TrimRight(s[i:end], " ")
	}
	return s[i:end]
}

// beginsData reports whether s[i] is of a word of data, and not a sign that joins two strings.
func beginsData(s string, i int) bool {
	isJoint := s[i] == '+' && i+1 < len(s) && !isBase64[s[i+1]]
	return isBase64[s[i]] && !isJoint
}

// behindGlue returns where the next line begins behind s[i] if what stands between is glue, or i.
func behindGlue(s string, i int, glue string) int {
	if glue == "" || !strings.HasPrefix(s[i:], glue) {
		return i
	}
	end := i + len(glue)
	number := end
	for number < len(s) && s[number] == ' ' {
		number++
	}
	if behind := numberEnd(s, number); behind > number {
		return behind
	}
	return end
}

// numberEnd returns where the number of a line at s[i] ends, with the tab behind it, or i.
func numberEnd(s string, i int) int {
	k := i
	for k < len(s) && runes.IsDigit(s[k]) {
		k++
	}
	if k > i && k < len(s) && s[k] == '\t' {
		return k + 1
	}
	return i
}
