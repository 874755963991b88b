package minify

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	for line, want := range map[string]Number{
		"     7\tx":       {7, 7, 6, "\t"},  // cat -n
		"    42→\tx":      {42, 9, 6, "→"},  // Claude Code
		"42: x":           {42, 4, 2, ": "}, // OpenHands
		"00042| x":        {42, 7, 5, "| "}, // opencode
		"7→":              {7, 4, 1, "→"},   // a blank line
		"0: x":            {0, 3, 1, ": "},  // counted from 0
		"1: 2: x":         {1, 3, 1, ": "},  // only the first one
		"123456789→x":     {123456789, 12, 9, "→"},
		"1234567890→x":    {},
		"42:x":            {}, // a search
		"42. x":           {}, // a list
		"\t42→x":          {},
		"12 monkeys: six": {},
		"→":               {},
		"x":               {},
		"   ":             {},
		"":                {},
	} {
		assert.Equal(t, want, NumberOf(line), "%q", line)
	}
}
