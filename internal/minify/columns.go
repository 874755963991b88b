package minify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
)

// mostColumns is the most numbers that a line has if it counts something. A line with more is a row of data. A hash
// alone may have thirty.
const mostColumns = 64

// column is one of the numbers in lines that differ only in numbers.
type column struct {
	kind        columnKind
	digits      string // of the number in the line before
	value, step int    // of that number, and how far it is from the one before it
	varies      bool
	isUneven    bool // the step from line to line is not always the same
	falls       bool // the number decreases at least once
}

// columnKind is what stands around a number.
type columnKind uint8

const (
	plainNumber  columnKind = iota
	partOfName              // test_12, a1.go, #12, the 34 of 12/34
	partOfMoment            // of the time at which a line was logged
	percentage              // 12%
	ofTotal                 // the first of two: 12/34
	transferred             // the first of two amounts of bytes: 1 MB / 2 MB
	measured                // with a unit: 0.3s, 345 KiB/s
)

// columnsOf appends the numbers of a line to columns, until these are one more than mostColumns.
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

// kindOf returns the kind of the number with the digits line[i:end]. The time at which the line was logged ends at
// moment.
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

// momentLength returns where the time ends at which a line was logged, or 0 if the line does not begin with such a
// time. A time with a comma, a tab or a bar beside it, or with no word behind it, is a cell of a table.
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

// isDate reports whether time is a day.
func isDate(time string) bool { return len(time) == len("0000-00-00") && time[4] == '-' }

// areLogged reports whether each of lines begins with the time at which it was logged, none earlier than the one before
// it. At least one has a time that is not a whole minute, as those of a plan are.
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

// timeLength returns the length of the date or the time of day at the beginning of s, or 0: 2026-01-02, 12:34:56.789.
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

// matches reports whether s begins with pattern and no digit follows. A 0 in pattern stands for any digit.
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

// isNamed reports whether a number is part of a name. before is the text in front of the number.
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

// unitOf returns the unit of a number and what follows the unit. rest is the text behind the number's first digits,
// such as ".5 MB / 34".
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

// isOverTotal reports whether rest, the text behind an amount, begins with a total: "/ 34".
func isOverTotal(rest string) bool {
	if rest == "" || rest[0] != '/' {
		return false
	}
	rest = strings.TrimLeft(rest[1:], " ")
	return rest != "" && ascii.IsDigit(rest[0])
}

// read adds the number that line row has in the column. A number of more than 15 digits is compared as a text.
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

// isPaddedAnew reports whether a and b are padded with zeros to different lengths: 9 and 010, 1 and 01.
func isPaddedAnew(a, b string) bool {
	isPadded := func(s string) bool { return len(s) > 1 && s[0] == '0' }
	return len(a) != len(b) && (isPadded(a) || isPadded(b))
}

// vary reports whether any number is not the same in all lines.
func vary(columns []column) bool {
	return slices.ContainsFunc(columns, func(c column) bool { return c.varies })
}

// areEven reports whether each number is the same in all lines or changes by the same step from line to line, so that
// the numbers in between follow from the first and the last. The times at which lines were logged need not change
// evenly.
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
// count, alone, or the bytes of a transfer, with its speed and duration beside them. Of any other number that varies,
// such as a loss, a latency or a coverage, each value may be what the model asked for.
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
