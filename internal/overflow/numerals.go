package overflow

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Numbers as people write them: 300,000, 262 144, 128k, 1.2 million, 15万, 12.4 MB.

// number takes a number from i on: 300000, 300,000, 300_000, 300 000, 128k, 1.2m tokens, 32mb. An id that begins
// with digits is a word, and so is a fraction.
func (s *segment) number(i int) int {
	start := i
	n, whole, i := s.digits(i)
	t, end := s.lower, i
	if isPosition(t, start) || isDate(t[start:]) {
		s.tokens = append(s.tokens, token{s: t[start:end]})
		return end
	}
	if rest := brokenEnd(t, end); rest > 0 {
		s.tokens = append(s.tokens, token{s: t[start:rest], n: math.MaxInt32, isNum: true}) // some number
		return rest
	}
	for i < len(t) && (isAlnum(t[i]) || t[i] == '_') {
		i++
	}
	suffix := t[end:i]
	if unit := multiple(suffix, t[i:]); unit > 1 {
		n, whole = scale(t[start:end], n, unit), true
		suffix = ""
	} else if skip, unit := wordMultiple(t[i:]); unit > 1 && suffix == "" {
		n, whole = scale(t[start:end], n, unit), true
		i += skip
	}
	if !whole && (countsBytes(suffix) || suffix == "" && countsBytes(nextLetters(t[i:]))) {
		n, whole = scale(t[start:end], n, 1), true // 12.4 MB
	}
	tok := token{s: t[start:end], n: int32(min(n, math.MaxInt32)), isNum: whole}
	switch suffix {
	case "":
	case "mb", "mib", "kb", "kib", "gb", "gib", "b":
		s.tokens = append(s.tokens, tok)
		tok = token{s: suffix, role: rBytes}
	case "tok", "toks", "token", "tokens":
		s.tokens = append(s.tokens, tok)
		tok = token{s: suffix, role: rToken}
	default:
		tok = token{s: t[start:i]}
	}
	s.tokens = append(s.tokens, tok)
	return i
}

// placeLength is the length of a place that a logger wrote in front, "[chat:263]", 0 for none.
func placeLength(t string) int {
	end := strings.IndexByte(t, ']')
	if end < 0 || strings.IndexByte(t[:end], ' ') >= 0 {
		return 0
	}
	colon := strings.LastIndexByte(t[:end], ':')
	if colon < 2 || colon+1 == end || !isDigits(t[colon+1:end]) {
		return 0
	}
	return end + 1
}

// isPosition reports whether the digits say where in a file, or at which port of a host, something is:
// "client.go:263:17".
func isPosition(t string, start int) bool {
	if start == 0 || t[start-1] != ':' {
		return false
	}
	from := strings.LastIndexAny(t[:start], " \n\"(,;<>{}=") + 1
	name := strings.TrimRight(t[from:start], ":0123456789")
	dot := strings.LastIndexByte(name, '.')
	return dot > 0 && dot+1 < len(name) && len(name)-dot <= longestExtension && isLetters(name[dot+1:])
}

// isDate reports whether a text begins with a date: 2026-10-01.
func isDate(t string) bool {
	if len(t) < len("2026-10-01") || t[4] != '-' || t[7] != '-' {
		return false
	}
	return isDigits(t[:4]) && isDigits(t[5:7])
}

func isDigits(s string) bool { return digitsEnd(s, 0) == len(s) }

// longestExtension is the dot and the letters of the longest of the common endings of names, ".java".
const longestExtension = 5

func isLetters(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < 'a' || r > 'z' }) < 0
}

// brokenEnd returns where the digits end that a line break cuts in two behind end, 0 where none does: neither half is
// the number. The break may stand within a group of digits: "131,0", "72".
func brokenEnd(t string, end int) int {
	i := end
	if i < len(t) && groups(t[i]) {
		i = min(digitsEnd(t, i+1), i+3)
	}
	space := i
	for i < len(t) && t[i] <= ' ' {
		i++
	}
	if strings.IndexByte(t[space:i], '\n') < 0 {
		return 0
	}
	if i < len(t) && groups(t[i]) {
		i++
	}
	last := digitsEnd(t, i)
	for last > i && startsGroup(t[last:]) {
		last += len(",000")
	}
	if last == i {
		return 0
	}
	return last
}

// startsGroup reports whether a separator and three digits come next.
func startsGroup(t string) bool { return t != "" && groups(t[0]) && group(t[1:]) }

// digits reads the digits of a number with its separators. whole is false for a fraction.
func (s *segment) digits(i int) (n int, whole bool, end int) {
	t, start := s.lower, i
	inBrackets := start > 0 && t[start-1] == '['
	whole = true
	for i < len(t) {
		switch c := t[i]; {
		case c >= '0' && c <= '9':
			n = min(n*10+int(c-'0'), math.MaxInt32)
			i++
			continue
		case groups(c) && !inBrackets && group(t[i+1:]),
			c == ' ' && i-start <= 3 && whole && spacedGroups(t[start:i], t[i:]) > 0:
			i++
			continue
		case c == ' ' && i-start > 3 && t[i-4] == ' ' && group(t[i+1:]): // the third group of 1 048 576
			i++
			continue
		case c == '.' && i+1 < len(t) && t[i+1] >= '0' && t[i+1] <= '9':
			whole = false
			i++
			continue
		}
		break
	}
	return n, whole, i
}

// spacedGroups says how many groups of three digits follow a number behind spaces, "262 144", 0 where these are
// numbers of their own. A status is followed by many a number, but by none with a unit.
func spacedGroups(first, rest string) int {
	groups := 0
	for len(rest) > 3 && rest[0] == ' ' && group(rest[1:]) {
		groups++
		rest = rest[4:]
	}
	if groups == 0 || first[0] == '0' || len(rest) > 0 && isAlnum(rest[0]) {
		return 0
	}
	if isStatusText(first) && !startsWithUnit(rest) {
		return 0
	}
	return groups
}

// isStatusText reports whether three digits may be an HTTP status.
func isStatusText(digits string) bool {
	return len(digits) == 3 && (digits[0] == '4' || digits[0] == '5')
}

// startsWithUnit reports whether the next word counts tokens.
func startsWithUnit(rest string) bool { return roleOf(nextLetters(rest))&(rToken|rInput) != 0 }

func countsBytes(unit string) bool { return unit != "" && roleOf(unit)&rBytes != 0 }

// nextLetters returns the word that a text begins with, behind a space.
func nextLetters(rest string) string {
	rest = strings.TrimPrefix(rest, " ")
	end := 0
	for end < len(rest) && (rest[end] >= 'a' && rest[end] <= 'z' || rest[end] >= utf8.RuneSelf) {
		end++
	}
	return rest[:end]
}

// multiple is what the letter behind a number stands for: 128k, 1m tokens, and not the minutes of 1m.
func multiple(suffix, rest string) int {
	switch {
	case suffix == "k":
		return 1000
	case suffix == "m" && (strings.HasPrefix(rest, " token") || strings.HasPrefix(rest, "-token") ||
		strings.HasPrefix(rest, " context")):
		return 1_000_000
	}
	return 1
}

// wordMultiple reads the words behind a number: "1 million", the Chinese and Japanese 万, ten thousand.
func wordMultiple(rest string) (skip, unit int) {
	word := strings.TrimPrefix(rest, " ")
	if word == "" || word[0] != 'm' && word[0] != 't' && word[0] < utf8.RuneSelf {
		return 0, 1
	}
	space := len(rest) - len(word)
	switch {
	case strings.HasPrefix(word, "million "):
		return space + len("million"), 1_000_000
	case strings.HasPrefix(word, "thousand "):
		return space + len("thousand"), 1000
	case strings.HasPrefix(word, "万"), strings.HasPrefix(word, "萬"), strings.HasPrefix(word, "만"):
		return space + len("万"), 10_000
	}
	return 0, 1
}

// scale multiplies a number with the unit behind it, its fraction included: "1.2" million.
func scale(digits string, n, unit int) int {
	if dot := strings.IndexByte(digits, '.'); dot >= 0 {
		if f, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64); err == nil {
			return int(math.Round(min(f*float64(unit), math.MaxInt32)))
		}
	}
	return min(n*unit, math.MaxInt32)
}

// groups reports whether c stands between groups of digits.
func groups(c byte) bool { return c == ',' || c == '_' || c == '.' }
