package sections

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/digest"
)

func TestFileLine(t *testing.T) {
	assert.Equal(t, "./# x", fileLine("# x"))
	assert.Equal(t, "./> x", fileLine(fileLine("> x")))
}

func TestBehind(t *testing.T) {
	var c Carried
	for i := range 150 {
		c.Read = append(c.Read, fmt.Sprintf("a/rather/long/path/to/a/file_%d.go", i))
		c.Modified = append(c.Modified, fmt.Sprintf("another/rather/long/path/to/a/file_%d.go", i))
	}
	c.Failures = []Failure{{Line: "exec: " + strings.Repeat("x", 200)}}
	rules := Rules(strings.Repeat("Be careful. ", 300))
	for _, room := range []int{100, 600, 800, 1_000, 2_000, 100_000} {
		text := c.Behind(tokens, rules, room)
		assert.Contains(t, text, rules, "the host's rules are whole, whatever the room")
		if room >= 800 {
			assert.LessOrEqual(t, tokens(text), room)
			assert.Contains(t, text, "file_149.go", "the newest stay")
			assert.Equal(t, strings.Count(text, "<"), 2*strings.Count(text, "</"), "every tag is closed")
		}
	}
	assert.Less(t, utf8.RuneCountInString(rules), maxRulesChars+100)
}

func TestSplitSummary(t *testing.T) {
	whole := Carried{
		Failures: []Failure{{Line: "exec (exitCode=1): no such file"}}, More: 3,
		Read: []string{"a.go", "b.go"}, Modified: []string{"c.go"},
	}
	behind := whole.Behind(tokens, Rules("Be kind."), 1_000)
	text := "## Goal\nShip it.\n\n## Critical Context\n- x\n- y" + behind + "\n\n" + digest.IdentifiersHeading + "\n- Paths: d.go /e/f.go\n- Numbers: 8080"
	body, c := Split(text)
	assert.Equal(t, "## Goal\nShip it.\n\n## Critical Context\n- x\n- y", body)
	whole.Identifiers = []string{"d.go", "/e/f.go", "8080"}
	assert.Equal(t, whole, c, "what code wrote is read back")

	for _, tc := range []struct{ name, text, want string }{
		{"nothing of code", "## Goal\n- a\n\ntext\n", "## Goal\n- a\n\ntext"},
		{"a section in the middle", "## Goal\nx\n## Tool Failures\n- a: b\n## Next Steps\ny", "## Goal\nx\n## Next Steps\ny"},
		{"a paragraph ends a section", "## Identifiers\n- Paths: a.go\nThe end.", "The end."},
		{"a tag that is not closed is text", "<read-files>\na.go\n## Goal\nx", "<read-files>\na.go\n## Goal\nx"},
		{"a tag in a line is text", "see <read-files> and </read-files>", "see <read-files> and </read-files>"},
		{"nothing but sections", "<read-files>\na.go\n</read-files>\n## Tool Failures\n- a: b", ""},
		{"carriage returns", "## Goal\r\nx\r\n<read-files>\r\na\r\n</read-files>\r\n", "## Goal\nx"},
	} {
		body, _ := Split(tc.text)
		assert.Equal(t, tc.want, body, tc.name)
	}
}

// tokens counts a quarter of the characters.
func tokens(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }

// The section keeps within its room: what is only named in it gives way, too.
func TestQuotesKeepWithinTheirRoom(t *testing.T) {
	var q Quotes
	for i := range 15 {
		q.Read([]string{fmt.Sprintf("a/rather/long/path/to/a/file_%d.go", i)}, strings.Repeat("line\n", 200))
	}
	for room := range 1_200 {
		assert.LessOrEqual(t, tokens(q.Section(tokens, room)), room)
	}
	assert.Contains(t, q.Section(tokens, 400), "read it again")
}
