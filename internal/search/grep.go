package search

import (
	"regexp"
	"strings"
)

// A Match is a line that a pattern matches.
type Match struct {
	Line     int // counted from 1
	From, To int // bytes, without the line end
}

// Matches calls f for the lines of s that a pattern matches, in their order, until f returns false. Lines are matched
// one by one, without their line ends.
func Matches(s string, pattern *regexp.Regexp, f func(Match) bool) {
	literal, _ := pattern.LiteralPrefix()
	next := 0 // the place of the literal, from which on alone a line can match
	for at, n := 0, 1; at < len(s); n++ {
		if literal != "" && next <= at {
			k := strings.Index(s[at:], literal)
			if k < 0 {
				return
			}
			next = at + k + 1
		}
		end, after := LineEnd(s, at)
		if (literal == "" || next <= end) && pattern.MatchString(s[at:end]) && !f(Match{n, at, end}) {
			return
		}
		at = after
	}
}

// Around calls f for the line of a match and for as many lines before and behind it, in their order, with their numbers.
func Around(s string, m Match, context int, f func(line, from, to int)) {
	from, line := m.From, m.Line
	for from > 0 && m.Line-line < context {
		from = lineBefore(s, from)
		line--
	}
	for at := from; at < len(s) && line <= m.Line+context; line++ {
		end, next := LineEnd(s, at)
		f(line, at, end)
		at = next
	}
}

// lineBefore returns where the line begins that ends where another one, at from, begins.
func lineBefore(s string, from int) int {
	at := strings.LastIndexByte(s[:from-1], '\n') + 1
	for {
		_, next := LineEnd(s, at)
		if next >= from {
			return at
		}
		at = next
	}
}
