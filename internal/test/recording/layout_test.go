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
