package toolcall

import (
	"regexp"
	"strings"
)

// Matcher holds patterns for the names of tools, those of each list as one expression: nil for none. The zero value
// matches every tool.
type Matcher struct{ allow, deny *regexp.Regexp }

// NewMatcher returns the matcher of the tools that allow names, or of all if it is empty, without those that deny
// names. In a pattern * stands for any text. Case and blank patterns do not count.
func NewMatcher(allow, deny []string) Matcher { return Matcher{anyOf(allow), anyOf(deny)} }

// anyOf returns an expression for the names that one of the patterns matches, or nil if all patterns are blank.
func anyOf(patterns []string) *regexp.Regexp {
	var list []string
	for _, s := range patterns {
		if s = fold(s); s != "" {
			list = append(list, strings.ReplaceAll(regexp.QuoteMeta(s), `\*`, ".*"))
		}
	}
	if list == nil {
		return nil
	}
	return regexp.MustCompile("(?s)^(?:" + strings.Join(list, "|") + ")$")
}

func fold(s string) string {
	return strings.ToLower(strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD"))
}

// MatchesAll reports whether no pattern excludes a tool.
func (t Matcher) MatchesAll() bool { return t.allow == nil && t.deny == nil }

// Matches reports whether a tool is allowed and not denied.
func (t Matcher) Matches(name string) bool {
	if t.MatchesAll() {
		return true
	}
	name = fold(name)
	isDenied := t.deny != nil && t.deny.MatchString(name)
	return !isDenied && (t.allow == nil || t.allow.MatchString(name))
}
