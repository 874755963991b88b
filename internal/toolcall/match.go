package toolcall

import (
	"slices"
	"strings"
)

// Matcher holds patterns for the names of tools. The zero value matches every tool.
type Matcher struct{ allow, deny []string }

// NewMatcher returns the matcher of the tools that allow names, or of all if it is empty, without those that deny
// names. In a pattern * stands for any text. Case and blank patterns do not count.
func NewMatcher(allow, deny []string) Matcher {
	return Matcher{each(allow, fold), each(deny, fold)}
}

// each returns names as write writes them, without those of which nothing is left.
func each(names []string, write func(string) string) (out []string) {
	for _, name := range names {
		if name = write(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// Matches reports whether a tool is allowed and not denied.
func (t Matcher) Matches(name string) bool {
	name = fold(name)
	matches := func(pattern string) bool { return matchStar(pattern, name) }
	return !slices.ContainsFunc(t.deny, matches) && (len(t.allow) == 0 || slices.ContainsFunc(t.allow, matches))
}

// matchStar reports whether name matches pattern, in which * stands for any text and nothing else is special. After a
// mismatch it goes back to the last star only, so that it takes at most len(pattern) × len(name) steps. As a regular
// expression, a pattern of a megabyte of stars took 8 s to compile.
func matchStar(pattern, name string) bool {
	p, n := 0, 0
	star, mark := -1, 0 // the last star, and where the text that it stands for ends
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
