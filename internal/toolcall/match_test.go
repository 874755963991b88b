package toolcall

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMatchStar(t *testing.T) {
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
		{"", "", true, "nothing is nothing"},
		{"", "a", false, "and not something"},
		{"**a**", "a", true, "stars in a row are one"},
		{"a*", "a", true, "nothing behind"},
		{"a.c", "abc", false, "a dot is a dot"},
		{"[a-z]", "b", false, "brackets are brackets"},
		{"ex?c", "exec", false, "a question mark is one"},
		{"*aab", "aaaab", true, "back to the last star"},
		{"mcp__*__log", "mcp__git__log", true, "tools of a server"},
		{"上*口", "上下文窗口", true, "any text"},
		{strings.Repeat("*a", 50) + "b", strings.Repeat("a", 5000), false, "in time, where a naive match takes for ever"},
	} {
		assert.Equal(t, tt.want, matchStar(tt.pattern, tt.name), "%.20q and %.20q: %s", tt.pattern, tt.name, tt.reason)
	}
}
