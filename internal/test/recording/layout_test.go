package recording

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text, why string
		most      int
		want      []string
	}{
		{"one two three", "a line is as long as it may be", 7, []string{"one two", "three"}},
		{"a_long_word and", "a word is not broken", 4, []string{"a_long_word", "and"}},
		{"thinking 12 %, user 6 %.", "a percent sign stays with its number", 12, []string{"thinking", "12 %, user", "6 %."}},
		{"", "there is always a line", 10, []string{""}},
	} {
		assert.Equal(t, tt.want, Wrap(tt.text, tt.most), tt.why)
	}
}

func TestShares(t *testing.T) {
	for _, tt := range []struct {
		parts, want []int
		why         string
	}{
		{[]int{1, 1, 1}, []int{34, 33, 33}, "the first of equal remainders has what is left"},
		{[]int{995, 5}, []int{100, 0}, "the largest remainder has it"},
		{[]int{0, 0}, []int{0, 0}, "nothing has no parts"},
		{nil, []int{}, "no parts"},
	} {
		assert.Equal(t, tt.want, Shares(tt.parts), tt.why)
	}
	assert.Equal(t, "less than 1 %", Share(0, 5))
	assert.Equal(t, "0 %", Share(0, 0))
}
