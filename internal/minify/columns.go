package minify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
)

// mostColumns is how many numbers a line has that counts something. One with more is a row of data. A hash is as many
// as thirty of them.
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
	plainNumber  columnKind = iota
	partOfName              // test_12, a1.go, #12, the 34 of 12/34
	partOfMoment            // of the time at which a line was logged
	percentage              // 12%
	ofTotal                 // the first of two: 12/34
	transferred             // the same of bytes: 1 MB / 2 MB
	measured                // with a unit: 0.3s, 345 KiB/s
)

// columnsOf returns the numbers of a line, at most one more than mostColumns.
func columnsOf(line string, columns []column) []column {
	moment := momentLength(line)
	for i := 0; i < len(line) && len(columns) <= mostColumns; {
		if !ascii.IsDigit(line[i]) {
			i++
			continue
		}
		end := numberEnd(line, i)
		columns = append(columns, column{kind: kindOf(line, i, end, moment)})
		i = end
	}
	return columns
}

// kindOf returns what line[i:end] is, the digits of a number. The time at which the line was logged ends at moment.
func kindOf(line string, i, end, moment int) columnKind {
	unit, rest := unitOf(line[end:])
	switch {
	case i < moment:
		return partOfMoment
	case isNamed(line[:i]) || strings.HasSuffix(strings.TrimRight(line[:i], " "), "/"):
		return partOfName
	case end < len(line) && line[end] == '%':
		return percentage
	case isOverTotal(rest) && strings.HasSuffix(unit, "B"):
		return transferred
	case isOverTotal(rest):
		return ofTotal
	case unit != "":
		return measured
	}
	return plainNumber
}

// momentLength returns where the time ends at which a line was logged, or 0 if it does not begin with one. A cell of a
// table has a comma, a tab or a bar beside it, and no word behind it.
func momentLength(line string) int {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case ascii.IsDigit(c):
			n := timeLength(line[i:])
			if n == 0 || isDate(line[i:i+n]) {
				i = numberEnd(line, i) - 1
				continue
			}
			rest := strings.TrimLeft(line[i+n:], " ")
			if !hasLabel(rest) || strings.IndexByte(cellMarks, rest[0]) >= 0 {
				return 0
			}
			return i + n
		case ascii.IsLetter(c) || c >= 0x80 || strings.IndexByte(cellMarks, c) >= 0:
			return 0
		}
	}
	return 0
}

const cellMarks = ",;|\t"

// isDate reports whether a time is a day.
func isDate(time string) bool { return len(time) == len("0000-00-00") && time[4] == '-' }

// areLogged reports whether lines tell when they were logged, one after the other. The times of a plan are whole
// minutes.
func areLogged(lines string) bool {
	before, isClock := "", false
	for line := range strings.SplitSeq(lines, "\n") {
		n := momentLength(line)
		if n == 0 || line[:n] < before {
			return false
		}
		before = line[:n]
		seconds := before[strings.LastIndexByte(before, ':')+1:]
		isClock = isClock || seconds[:len("00")] != "00"
	}
	return isClock
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
	if n+1 < len(s) && (s[n] == '.' || s[n] == ',') && ascii.IsDigit(s[n+1]) {
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

// unitOf returns the unit of a number with rest behind its digits, and what comes behind that: ".5 MB / 34".
func unitOf(rest string) (unit, behind string) {
	if len(rest) > 1 && rest[0] == '.' {
		rest = rest[numberEnd(rest, 1):]
	}
	rest = strings.TrimLeft(rest, " ")
	n := 0
	for n < len(rest) && ascii.IsLetter(rest[n]) {
		n++
	}
	if n > 3 { // a word
		return "", rest
	}
	return rest[:n], strings.TrimLeft(rest[n:], " ")
}

// isOverTotal reports whether what stands behind an amount says of how much it is: "/ 34".
func isOverTotal(rest string) bool {
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
		c.isUneven = c.isUneven || row > 1 && step != c.step || isPaddedAnew(c.digits, digits)
		c.falls = c.falls || step < 0
		c.step = step
	}
	c.digits, c.value = digits, value
}

// isPaddedAnew reports whether two numbers do not have the zeros in front of them in common: 9 and 010, 1 and 01.
func isPaddedAnew(a, b string) bool {
	isPadded := func(s string) bool { return len(s) > 1 && s[0] == '0' }
	return len(a) != len(b) && (isPadded(a) || isPadded(b))
}

// vary reports whether a number is not the same in all lines.
func vary(columns []column) bool {
	return slices.ContainsFunc(columns, func(c column) bool { return c.varies })
}

// areEven reports whether each number is the same in all lines or counts on evenly, so that those between the first and
// the last can be told from them. The times at which lines were logged need not.
func areEven(columns []column, areLogged bool) bool {
	for k := range columns {
		switch c := &columns[k]; {
		case !c.varies || areLogged && c.kind == partOfMoment:
		case c.isUneven || c.kind == partOfName:
			return false
		}
	}
	return true
}

// areProgress reports whether the lines say how far one thing has come, and nothing else. That may be a share or a
// count, alone. Beside the bytes of a transfer may stand its speed and how long it takes. Of any other number that
// varies, a loss, a latency, a coverage, each value may be what was asked for.
func areProgress(columns []column, areLogged bool) bool {
	shares, others, bytes := 0, 0, false
	for k := range columns {
		c := &columns[k]
		if !c.varies || areLogged && c.kind == partOfMoment {
			continue
		}
		switch c.kind {
		case percentage, ofTotal:
			if c.falls {
				return false
			}
			shares++
		case transferred:
			bytes = bytes || !c.falls
		case measured:
			others++
		default:
			return false
		}
	}
	if bytes {
		return shares == 0
	}
	return shares == 1 && others == 0
}
