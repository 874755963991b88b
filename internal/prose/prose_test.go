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

func TestAsks(t *testing.T) {
	for _, s := range []string{
		"Why does it never end?", "why must I restart it", "Why, when I push, is it not allowed", "What must I do?", "Did you never push?",
		"Is it required?", "How do I make sure that it stays?", "为什么总是会出现新分支", "なぜ常に失敗するのですか", "왜 하지 마",
	} {
		want := s != "Why, when I push, is it not allowed"
		assert.Equal(t, want, Asks(s), s)
	}
	for _, s := range []string{
		"Can you make sure that it never ends?", "Never push. Why?", "Do not push.", "Don't you dare push?", "Do not push, ok?", "When you push, never force, ok?", "Always ask why.", "Why: never push.",
		"What I said must stay.", "请不要推送", "", "?",
	} {
		assert.False(t, Asks(s), s)
	}
}
