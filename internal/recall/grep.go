package recall

import (
	"context"
	"regexp"
	"strings"
)

// A Match is a line that a pattern matches.
type Match struct {
	Line     int // counted from 1
	From, To int // bytes, without the line end
}

// linesBetweenLooks is how many lines are matched between two looks at a context.
const linesBetweenLooks = 16

// Matches calls f for the lines of s that a pattern matches, in their order, until f returns false. Lines are matched
// one by one, without their line ends. A pattern of many repetitions takes seconds for a megabyte, so ctx may end
// meanwhile: the error is then its cause.
func (w Wrap) Matches(ctx context.Context, s string, pattern *regexp.Regexp, f func(Match) bool) error {
	literal, _ := pattern.LiteralPrefix()
	next := 0 // the next place of the literal: no line before it can match
	for at, n := 0, 1; at < len(s); n++ {
		if literal != "" && next <= at {
			k := strings.Index(s[at:], literal)
			if k < 0 {
				return nil
			}
			next = at + k + 1
		}
		if n%linesBetweenLooks == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		end, after := w.LineEnd(s, at)
		if (literal == "" || next <= end) && pattern.MatchString(s[at:end]) && !f(Match{n, at, end}) {
			return nil
		}
		at = after
	}
	return nil
}

// Around calls f for the line of a match and for as many lines before and behind it, in their order, with their
// numbers.
func (w Wrap) Around(s string, m Match, before, behind int, f func(line, from, to int)) {
	from, line := m.From, m.Line
	for from > 0 && m.Line-line < before {
		starts := w.linesBefore(s, from)
		n := min(len(starts), before-(m.Line-line))
		from, line = starts[len(starts)-n], line-n
	}
	for at := from; at < len(s) && line <= m.Line+behind; line++ {
		end, next := w.LineEnd(s, at)
		f(line, at, end)
		at = next
	}
}

// linesBefore returns where the lines begin that stand between a line end and from, where another one begins: one line,
// or the parts of a long one that is wrapped. To find them one by one would take the time of the whole for each.
func (w Wrap) linesBefore(s string, from int) (starts []int) {
	for at := strings.LastIndexByte(s[:from-1], '\n') + 1; at < from; {
		starts = append(starts, at)
		_, at = w.LineEnd(s, at)
	}
	return starts
}
