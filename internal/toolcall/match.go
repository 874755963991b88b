package toolcall

import (
	"regexp"
	"strings"
)

// Matcher holds patterns for the names of tools. The zero value matches every tool.
type Matcher struct{ allow, deny *regexp.Regexp } // nil: there are no patterns

// NewMatcher returns the matcher of the tools that allow names, or of all if it is empty, without those that deny
// names. In a pattern * stands for any text. Case and blank patterns do not count.
func NewMatcher(allow, deny []string) Matcher { return Matcher{anyOf(allow), anyOf(deny)} }

// anyOf returns the expression for what one of the patterns matches, or nil if there are none.
func anyOf(patterns []string) *regexp.Regexp {
	var list []string
	for _, s := range patterns {
		if s = strings.ToValidUTF8(fold(s), "\uFFFD"); s != "" {
			list = append(list, strings.ReplaceAll(regexp.QuoteMeta(s), `\*`, `.*`))
		}
	}
	if list == nil {
		return nil
	}
	return regexp.MustCompile(`(?s)^(` + strings.Join(list, "|") + `)$`)
}

func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// MatchesAll reports whether no pattern excludes a tool.
func (t Matcher) MatchesAll() bool { return t.allow == nil && t.deny == nil }

// Matches reports whether a tool is allowed and not denied.
func (t Matcher) Matches(name string) bool {
	if t.MatchesAll() {
		return true
	}
	name = fold(name)
	return (t.allow == nil || t.allow.MatchString(name)) && (t.deny == nil || !t.deny.MatchString(name))
}
