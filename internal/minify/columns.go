package minify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
)

// mostColumns is how many numbers a line has that counts something. One with more is a row of data. A hash is as many as
// thirty of them.
const mostColumns = 64

// column is one of the numbers of lines that differ in numbers only.
type column struct {
	kind        columnKind
	digits      string // of the line before
	value, step int    // of the same
	varies      bool
	isUneven    bool // the step from line to line is not always the same
	falls       bool // it gets less at least once
}

// columnKind is what stands around a number.
type columnKind uint8

const (
	plainNumber columnKind = iota
	partOfName             // test_12, a1.go, #12
	partOfTime             // of a clock or a date
	percentage             // 12%
	ofTotal                // the first of two: 12/34, 1 MB / 2 MB
)

// columnsOf returns the numbers of a line, at most one more than mostColumns.
func columnsOf(line string, columns []column) []column {
	timeEnd := 0
	for i := 0; i < len(line) && len(columns) <= mostColumns; {
		if !ascii.IsDigit(line[i]) {
			i++
			continue
		}
		end := numberEnd(line, i)
		if i >= timeEnd {
			timeEnd = i + timeLength(line[i:])
		}
		c := column{}
		switch {
		case i < timeEnd:
			c.kind = partOfTime
		case isNamed(line[:i]):
			c.kind = partOfName
		case end < len(line) && line[end] == '%':
			c.kind = percentage
		case isOfTotal(line[end:]):
			c.kind = ofTotal
		}
		columns = append(columns, c)
		i = end
	}
	return columns
}

// timeLength returns how long the date or the time of day is that s begins with, or 0: 2026-01-02, 12:34:56.789.
func timeLength(s string) int {
	n := 0
	if matches(s, "0000-00-00") {
		n = len("0000-00-00")
		if n == len(s) || s[n] != 'T' && s[n] != ' ' {
			return n
		}
		if !matches(s[n+1:], "00:00:00") {
			return n
		}
		n++
	}
	if !matches(s[n:], "00:00:00") {
		return n
	}
	n += len("00:00:00")
	if n+1 < len(s) && (s[n] == '.' || s[n] == ',') {
		n = numberEnd(s, n+1)
	}
	return n
}

// matches reports whether s begins with pattern, in which 0 stands for any digit, and no digit follows.
func matches(s, pattern string) bool {
	if len(s) < len(pattern) || len(s) > len(pattern) && ascii.IsDigit(s[len(pattern)]) {
		return false
	}
	for i := range len(pattern) {
		if s[i] != pattern[i] && !(pattern[i] == '0' && ascii.IsDigit(s[i])) {
			return false
		}
	}
	return true
}

// isNamed reports whether a number behind before is part of a name.
func isNamed(before string) bool {
	if before == "" {
		return false
	}
	switch c := before[len(before)-1]; {
	case ascii.IsLetter(c) || c >= 0x80:
		return true
	case c == '.' || c == '/': // 1.5 and 1/5 are numbers
		return len(before) > 1 && !ascii.IsDigit(before[len(before)-2]) && before[len(before)-2] != ' '
	}
	return strings.IndexByte("_-#@:", before[len(before)-1]) >= 0
}

// isOfTotal reports whether a number with rest behind it is one of so many: "/34", ".5 MB / 34".
func isOfTotal(rest string) bool {
	if len(rest) > 1 && rest[0] == '.' {
		rest = rest[numberEnd(rest, 1):]
	}
	rest = strings.TrimLeft(rest, " ")
	for n := 0; n < 3 && rest != "" && ascii.IsLetter(rest[0]); n++ { // the unit
		rest = rest[1:]
	}
	rest = strings.TrimLeft(rest, " ")
	if rest == "" || rest[0] != '/' {
		return false
	}
	rest = strings.TrimLeft(rest[1:], " ")
	return rest != "" && ascii.IsDigit(rest[0])
}

// read takes in the number that a line has in the column. Numbers that are longer than any that count are texts.
func (c *column) read(digits string, row int) {
	value, err := strconv.Atoi(digits)
	switch {
	case row == 0:
	case err != nil || len(digits) > 15:
		if digits != c.digits {
			c.varies, c.isUneven, c.falls = true, true, true
		}
	default:
		step := value - c.value
		c.varies = c.varies || digits != c.digits
		c.isUneven = c.isUneven || row > 1 && step != c.step
		c.falls = c.falls || step < 0
		c.step = step
	}
	c.digits, c.value = digits, value
}

// vary reports whether a number is not the same in all lines.
func vary(columns []column) bool {
	return slices.ContainsFunc(columns, func(c column) bool { return c.varies })
}

// areEven reports whether each number is the same in all lines, counts on evenly, or tells the time.
func areEven(columns []column) bool {
	for k := range columns {
		switch c := &columns[k]; {
		case !c.varies || c.kind == partOfTime:
		case c.isUneven || c.kind == partOfName:
			return false
		}
	}
	return true
}

// areProgress reports whether one of the numbers says how far something has come, and no other one is part of a name.
func areProgress(columns []column) bool {
	found := false
	for k := range columns {
		c := &columns[k]
		if c.varies && c.kind == partOfName {
			return false
		}
		if saysHowFar := c.kind == percentage || c.kind == ofTotal; saysHowFar && c.varies && !c.falls {
			found = true
		}
	}
	return found
}
