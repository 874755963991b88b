package prompt_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/prompt"
)

func TestExtractRules(t *testing.T) {
	for _, tc := range []struct {
		name, in, want, reason string
		headings               []string
	}{
		{"order of the names", "## B\nb\n## A\na\n", "## A\na\n\n## B\nb", "as asked for, not as in the file", []string{"A", "B"}},
		{"first match", "## A\none\n## A\ntwo\n", "## A\none", "", []string{"a"}},
		{"sub-sections", "## A\n### B\nb\n## C\n", "## A\n### B\nb", "a lower level is content", []string{"A"}},
		{"nested name", "## A\n### B\nb\n### C\nc\n", "### B\nb", "", []string{"B"}},
		{"first level", "## A\na\n# Top\nmore\n", "## A\na\n# Top\nmore", "a title does not end a section", []string{"A"}},
		{"title", "# A\na\n", "", "the first level is no section", []string{"A"}},
		{"fence", "## A\n```\n## B\n```\nafter\n## C\n", "## A\n```\n## B\n```\nafter", "a heading in code is code", []string{"A"}},
		{"open fence", "```\n## A\na\n", "", "", []string{"A"}},
		{"no space", "##A\na\n", "", "not a heading", []string{"A"}},
		{"CRLF", "## A\r\na\r\n## B\r\n", "## A\na", "", []string{"A"}},
		{"last line", "## A", "## A", "no newline at the end", []string{"A"}},
		{"nothing", "", "", "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, prompt.ExtractRules(tc.in, tc.headings...), tc.reason)
		})
	}
}

func ExampleExtractRules() {
	agents := "# Agent\n\n## Style\nBe brief.\n\n## Red Lines\n- Never delete mail without asking.\n\n## Other\nx\n"
	fmt.Println(prompt.ExtractRules(agents, "Red Lines"))
	fmt.Println(prompt.ExtractRules(agents, "Style"))
	// Output:
	// ## Red Lines
	// - Never delete mail without asking.
	// ## Style
	// Be brief.
}
