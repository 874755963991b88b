package prose

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLists(t *testing.T) {
	for _, tc := range []struct {
		list *List
		in   string
		want bool
	}{
		{StrongRules, "You MUST test", true},
		{StrongRules, "The mustard", false},
		{StrongRules, "a must_have, a must_", false},
		{StrongRules, "mustard, and it must.", true},
		{Prohibitions, "Don’t touch it", true},
		{StrongRules, "必须保留", true},
		{StrongRules, "请你never停", true},
		{StrongRules, "", false},
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
