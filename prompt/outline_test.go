package prompt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Where fenced blocks begin and end, as CommonMark has it: `x` marks the lines that belong to one.
func TestFence(t *testing.T) {
	for _, c := range []struct{ text, want, why string }{
		{"a\n```\n# b\n```\n# c\n", ".xxx.", "at the margin"},
		{"```\n    ```\n# b\n```\n# c\n", "xxxx.", "a closing fence is indented by three columns at most"},
		{"   ```\n# b\n   ```\nc\n", "xxx.", "three columns are not indented code"},
		{"    ```\n# c\n", "..", "indented code opens nothing"},
		{"1. Run:\n\n    ```sh\n# b\n    ```\n\nc\n", "..xxx..", "in a list item, indented by four columns"},
		{"- Run:\n\n\t~~~\n\t# b\n\t~~~\nc\n", "..xxx.", "in a list item, by a tab"},
		{"- ```sh\n  # b\n  ```\nc\n", "xxx.", "behind the marker of a list item"},
		{"10) a\n   - b\n\n     ```\n# c\n     ```\nd\n", "...xxx.", "in an inner list"},
		{"- a\n\nb\n\n    ```\n# c\n", "......", "behind the list it is indented code again"},
		{"> ```\n> # b\n> ```\nc\n", "xxx.", "in a quote"},
		{"> ```\n> # b\nc\n# d\n", "xx..", "the end of a quote ends it"},
		{"> ```\n> # b\n\n# d\n", "xx..", "and so does a blank line"},
		{"``` `a`\n# b\n", "..", "code in a line"},
		{"````\n```\n# b\n````\nc\n", "xxxx.", "a shorter fence closes nothing"},
		{"~~~\n```\n~~~\nc\n", "xxx.", "nor does another"},
		{"-```\n# b\n", "..", "no marker of a list"},
		{"---\n***\n```\nx\n```\n", "..xxx", "rules are not lists"},
	} {
		var f fence
		got := ""
		for line := range strings.Lines(c.text) {
			got += map[bool]string{true: "x", false: "."}[f.line(line)]
		}
		assert.Equal(t, c.want, got, c.why)
	}
}
