package toolcall

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
		reason        string
	}{
		{"exec", "exec", true, "the same"},
		{"exec", "execute", false, "a pattern without a star is the whole name"},
		{"exec*", "execute", true, "a star at the end"},
		{"*cat*", "execute", false, "the letters are not there"},
		{"*ecu*", "execute", true, "stars around"},
		{"e*t*e", "execute", true, "stars between"},
		{"*", "", true, "a star stands for nothing as well"},
		{" ", "a", true, "a blank pattern is none"},
		{" Exec", "exec", true, "case and blanks around do not count"},
		{"a\xff*", "a\xffb", true, "what is not UTF-8"},
		{"a*c", "a\nc", true, "a line end is text too"},
		{"**a**", "a", true, "stars in a row are one"},
		{"a*", "a", true, "nothing behind"},
		{`a\*c`, `a\bc`, true, "a backslash is one, and no escape"},
		{"a.c", "abc", false, "a dot is a dot"},
		{"[a-z]", "b", false, "brackets are brackets"},
		{"ex?c", "exec", false, "a question mark is one"},
		{"*aab", "aaaab", true, "back to the last star"},
		{"mcp__*__log", "mcp__git__log", true, "tools of a server"},
		{"上*口", "上下文窗口", true, "any text"},
		{strings.Repeat("*a", 50) + "b", strings.Repeat("a", 5000), false, "in time, where a naive match takes for ever"},
	} {
		assert.Equal(t, tt.want, NewMatcher([]string{tt.pattern}, nil).Matches(tt.name), "%.20q and %.20q: %s", tt.pattern, tt.name, tt.reason)
	}
}
