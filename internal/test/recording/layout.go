package recording

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Width returns the columns of r on a terminal: Chinese, Japanese and Korean characters and emoji take two.
func Width(r rune) int {
	switch {
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// Clip cuts s to a number of columns.
func Clip(s string, columns int) string {
	used := 0
	cut := 0 // place of the ellipsis
	for i, r := range s {
		if used+1 <= columns {
			cut = i
		}
		if used += Width(r); used > columns {
			return s[:cut] + "…"
		}
	}
	return s
}

// OneLine joins the lines of s.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Wrap breaks s between words into lines of up to most bytes. A percent sign stays with its number.
func Wrap(s string, most int) []string {
	var lines []string
	line := ""
	words := strings.Fields(s)
	for i := 0; i < len(words); i++ {
		word := words[i]
		if i+1 < len(words) && strings.HasPrefix(words[i+1], "%") {
			i++
			word += " " + words[i]
		}
		if line != "" && len(line)+1+len(word) > most {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// Count is "1 turn" or "2 turns".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Comma(n) + " " + noun
}

// Comma writes 12345 as 12,345.
func Comma(n int) string {
	s := strconv.Itoa(n)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Percent returns part of whole in percent, rounded.
func Percent(part, whole int) string {
	if whole == 0 {
		return "0"
	}
	return fmt.Sprint(math.Round(100 * float64(part) / float64(whole)))
}

// Shares returns the percentages of the parts of a whole, which is their sum. They are rounded so that they add up to
// 100: by the largest remainders.
func Shares(parts []int) []int {
	whole := 0
	for _, n := range parts {
		whole += n
	}
	shares, order, left := make([]int, len(parts)), make([]int, len(parts)), 100
	if whole <= 0 {
		return shares
	}
	for i, n := range parts {
		shares[i], order[i] = 100*n/whole, i
		left -= shares[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(100*parts[b]%whole, 100*parts[a]%whole) })
	for _, i := range order[:left] {
		shares[i]++
	}
	return shares
}

// Share writes a percentage of [Shares]. A part that is not nothing is not called 0 %.
func Share(percent, part int) string {
	if percent == 0 && part > 0 {
		return "less than 1 %"
	}
	return fmt.Sprintf("%d %%", percent)
}
