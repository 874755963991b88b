package winnow

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSplitKey(t *testing.T) {
	for key, want := range map[string][3]string{
		"":                                     {"", "", ""},
		"Telegram:DM:42":                       {"telegram", "dm", "42"},
		"agent:main:slack:channel:C1:thread:7": {"slack", "channel", "C1"},
		"slack:group:a:b:topic:12":             {"slack", "group", "a:b"},
		"slack:group:a:thread:x":               {"slack", "group", "a:thread:x"},
		"::slack::dm:":                         {"slack", "dm", ""},
	} {
		provider, kind, id := splitKey(key)
		assert.Equal(t, want, [3]string{provider, kind, id}, key)
	}
}
