package prose

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSentences(t *testing.T) {
	var got []string
	Sentences("- Never push to main. Keep it short!\n> 不要重启服务器！然后报告结果。\nno\n1.5 is a number, v1.2 too", func(s string) { got = append(got, s) })
	assert.Equal(t, []string{
		"Never push to main.", "Keep it short!", "不要重启服务器！", "然后报告结果。", "1.5 is a number, v1.2 too",
	}, got, "what is too short to say anything is left out")
}

func TestLists(t *testing.T) {
	for _, tc := range []struct {
		list *List
		in   string
		want bool
	}{
		{Rules, "You MUST test", true},
		{Rules, "The mustard", false},
		{Rules, "a must_have", false},
		{Prohibitions, "Don’t touch it", true},
		{StrongRules, `line\nnever mind`, true},
		{StrongRules, "必须保留", true},
		{Decisions, "It fails because of the cache", true},
		{Notes, "Next step: the docs", true},
		{Errors, "ENOENT: Not Found", true},
		{Errors, "", false},
	} {
		assert.Equal(t, tc.want, tc.list.In(tc.in), tc.in)
	}
}
