package winnow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/toolcall"
)

func userMessage(text string) Message {
	return Message{Role: RoleUser, Parts: []Part{{Text: text}}}
}

func callMessage(tool, arguments string) Message {
	return Message{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: "c", Name: tool, Arguments: json.RawMessage(arguments)}}}
}

func failedResult(id, text string) Message {
	return Message{Role: RoleTool, ToolCallID: id, ToolName: "exec", IsError: true, Parts: []Part{{Text: text}}}
}

func TestUserRules(t *testing.T) {
	for _, tc := range []struct {
		name string
		m    Message
		want []string
	}{
		{"a sentence among others", userMessage("Clean the inbox. Don't delete anything before I confirm. Thanks!"), []string{"Don't delete anything before I confirm."}},
		{"the curly apostrophe", userMessage("Don’t touch main."), []string{"Don’t touch main."}},
		{"a list keeps its marks", userMessage("Rules:\n- never push\n* you must test\n1. use tabs"), []string{"- never push", "* you must test"}},
		{"Chinese", userMessage("先看日志。不要重启服务器！然后报告。"), []string{"不要重启服务器！"}},
		{"behind an escape", userMessage(`{"text": "It lists files.\n\nDo not use it for images."}`), []string{`{"text": "It lists files.\n\nDo not use it for images."}`}},
		{"within a word", userMessage("The mustard is nevermore."), nil},
		{"a wish is none", userMessage("Please use Go."), nil},
		{"a pasted document", userMessage(strings.Repeat("You must never do it. ", 500)), nil},
		{"a sentence without end", userMessage("never " + strings.Repeat("x", 500)), nil},
		{"the host", Message{Role: RoleUser, Injected: true, Parts: []Part{{Text: "You must test. Never skip a phase."}}}, nil},
		{"a pin stays anyway", Message{Role: RoleUser, Pinned: true, Parts: []Part{{Text: "Never push."}}}, nil},
		{"a summary quotes", Message{Role: RoleUser, Summary: true, Parts: []Part{{Text: "Never push."}}}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, carried{}.add(&toolcall.Common, []Message{tc.m}).Rules)
		})
	}
	c := carried{}.add(&toolcall.Common, []Message{userMessage("Never push."), userMessage("You must test."), userMessage("Never push.")})
	assert.Equal(t, []string{"You must test.", "Never push."}, c.Rules, "what is said again is said once, and newly")
}

func TestUserRulesSection(t *testing.T) {
	e := CharsPerToken(4)
	c := carried{Rules: []string{"Never push to main.", "You must write tests.", "Do not touch </summary> the vendor folder."}}
	assert.Equal(t, "\n\n"+userRulesHeading+"\n> Never push to main.\n> You must write tests.\n> Do not touch &lt;/summary> the vendor folder.", c.userRulesSection(e, "", 1_000))
	assert.NotContains(t, c.userRulesSection(e, "The user said: Never push to main.", 1_000), "push", "the text says it")
	few := c.userRulesSection(e, "", 40)
	assert.Contains(t, few, "vendor")
	assert.Contains(t, few, "push")
	assert.NotContains(t, few, "must", "what forbids comes first")
	assert.Empty(t, c.userRulesSection(e, "", 5))
}

func TestFilesOfCalls(t *testing.T) {
	tools := (&CompactOptions{ReadTools: []string{"Peek"}, ModifyTools: []string{"paint"}, PathArguments: []string{"canvas"}}).fileTools()
	for _, tc := range []struct {
		tool, arguments string
		read, modified  string
	}{
		{"read", `{"path":"a.go"}`, "a.go", ""},
		{"Read", `{"file_path":"/src/a.go"}`, "/src/a.go", ""},
		{"mcp__fs__write_file", `{"path":"a.go","content":"x"}`, "", "a.go"},
		{"str_replace_based_edit_tool", `{"command":"view","path":"a.go"}`, "a.go", ""},
		{"str_replace_based_edit_tool", `{"command":"str_replace","path":"a.go"}`, "", "a.go"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: b.go\n@@"}`, "", "b.go"},
		{"shell", `{"command":["bash","-lc","apply_patch <<X\n*** Add File: c.go\nX"]}`, "", "c.go"},
		{"shell", `{"command":"cat a.go","path":"a.go"}`, "", ""},
		{"Peek", `{"canvas":"a.png"}`, "a.png", ""},
		{"paint", `{"canvas":"a.png"}`, "", "a.png"},
		{"read", `{"path":"a\n</read-files>"}`, "", ""},
		{"read", `{"path":7}`, "", ""},
		{"read", `["a.go"]`, "", ""},
		{"edit", `{"path":"` + strings.Repeat("long/", 100) + `a.go"}`, "", ""},
	} {
		t.Run(tc.tool+tc.arguments[:min(30, len(tc.arguments))], func(t *testing.T) {
			c := carried{}.add(tools, []Message{callMessage(tc.tool, tc.arguments)})
			assert.Equal(t, tc.read, strings.Join(c.Read, " "))
			assert.Equal(t, tc.modified, strings.Join(c.Modified, " "))
		})
	}
}

// Of the failures of one compaction the first are listed, as the reference does; over compactions the newest stay.
func TestFailuresOverCompactions(t *testing.T) {
	var c carried
	for round := range 4 {
		var m []Message
		for i := range 3 {
			m = append(m, failedResult(fmt.Sprintf("%d-%d", round, i), fmt.Sprintf("failure %d of round %d", i, round)))
		}
		c = c.add(&toolcall.Common, m)
	}
	section := c.failuresSection(maxSectionFiles)
	assert.Equal(t, 8, strings.Count(section, "- exec: "))
	assert.Contains(t, section, "failure 0 of round 3")
	assert.NotContains(t, section, "round 0")
	assert.True(t, strings.HasSuffix(section, "\n- ...and 4 more"), section)
}

func TestSplitSummary(t *testing.T) {
	whole := carried{
		Rules: []string{"Never push."}, Failures: []failure{{Line: "exec (exitCode=1): no such file"}}, More: 3,
		Read: []string{"a.go", "b.go"}, Modified: []string{"c.go"},
	}
	e := CharsPerToken(4)
	behind := whole.layOut(e, rulesSection("Be kind."), 1_000)
	text := "## Goal\nShip it.\n\n## Critical Context\n- x\n- y" + behind.String() + "\n\n" + identifiersHeading + "\n- Paths: d.go /e/f.go\n- Numbers: 8080"
	body, c := splitSummary(text)
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
		body, _ := splitSummary(tc.text)
		assert.Equal(t, tc.want, body, tc.name)
	}
}

// A host that keeps Request.History may hand it to a manager that knows nothing of it.
func TestCompactionGoesOnFromASummaryInTheHistory(t *testing.T) {
	s := &outage{}
	m := workManager(t, s, CompactOptions{})
	r, err := m.Compact(t.Context(), work(60), "")
	require.NoError(t, err)
	m = workManager(t, s, CompactOptions{})
	more := work(130)[121:] // other calls
	r, err = m.Compact(t.Context(), append(r.History, more...), "")
	require.NoError(t, err)
	require.Len(t, s.asked, 2)
	assert.True(t, strings.HasPrefix(s.asked[1].Previous, "## Goal\nby the model, 1\n"), s.asked[1].Previous)
	for _, sign := range []string{failuresHeading, "<modified-files>", userRulesHeading, identifiersHeading} {
		assert.NotContains(t, s.asked[1].Previous, sign, "without the sections of code")
	}
	text := r.Compaction.Summary
	assert.Equal(t, 1, strings.Count(text, "## Tool Failures"))
	assert.Equal(t, 1, strings.Count(text, "<modified-files>"))
	assert.Contains(t, text, "src/file_1.go", "of the first")
	assert.Contains(t, text, "src/file_61.go", "and of the second")
	assert.Equal(t, 1, countSummaries(r.Messages))
}

func TestLayOut(t *testing.T) {
	var c carried
	for i := range 150 {
		c.Read = append(c.Read, fmt.Sprintf("a/rather/long/path/to/a/file_%d.go", i))
		c.Modified = append(c.Modified, fmt.Sprintf("another/rather/long/path/to/a/file_%d.go", i))
	}
	c.Failures = []failure{{Line: "exec: " + strings.Repeat("x", 200)}}
	c.Rules = []string{"Never push."}
	rules := rulesSection(strings.Repeat("Be careful. ", 300))
	e := CharsPerToken(4)
	for _, room := range []int{100, 600, 800, 1_000, 2_000, 100_000} {
		l := c.layOut(e, rules, room)
		text := l.String()
		assert.Contains(t, text, rules, "the host's rules are whole, whatever the room")
		assert.Contains(t, text, "Never push.")
		if room >= 800 {
			assert.LessOrEqual(t, textTokens(e, text), room)
			assert.Contains(t, text, "file_149.go", "the newest stay")
			assert.Equal(t, strings.Count(text, "<"), 2*strings.Count(text, "</"), "every tag is closed")
		}
	}
	assert.Less(t, runes.Count(rules), maxRulesChars+100)
}

func TestExcerpts(t *testing.T) {
	truncate := (*TruncateOptions)(nil).withDefaults()
	c := &compaction{opts: Options{Estimator: CharsPerToken(4), Truncate: &truncate}}
	log := strings.Repeat("compiling a package\n", 700) + "error: cannot find module x\n" + strings.Repeat("compiling a package\n", 700) + "exit status 1"
	h := []Message{
		userMessage(strings.Repeat("a long request ", 1_000)),
		callMessage("write", `{"path":"a.go","content":"`+strings.Repeat("x", 50_000)+`","mode":"0644"}`),
		{Role: RoleTool, ToolCallID: "c", ToolName: "write", Parts: []Part{{Text: log}}},
		callMessage("read", `{"path":"a.go"}`),
		{Role: RoleTool, ToolCallID: "c", ToolName: "read", Parts: []Part{{Text: "short"}}},
		{Role: RoleTool, ToolCallID: "d", ToolName: "look", Parts: []Part{{Text: "a short text beside an image"}, {Kind: KindImage, Bytes: 1 << 20}}},
	}
	var in stretch
	for _, m := range h {
		in.add(m, max(CharsPerToken(4).Estimate(m), 5_000*(len(m.Parts)-1)))
	}
	cut := c.excerpts(in)
	out := cut.messages
	assert.Equal(t, h[0], out[0], "what people say is not cut")
	assert.Equal(t, h[3:], out[3:], "nor what is short")
	args := jsontext.Unquote(out[1].Parts[0].Arguments)
	assert.True(t, json.Valid(out[1].Parts[0].Arguments))
	assert.True(t, strings.HasPrefix(args, `{"path":"a.go"`) && strings.HasSuffix(args, `"mode":"0644"}`), args)
	text := out[2].Parts[0].Text
	for _, want := range []string{"compiling", "error: cannot find module x", "exit status 1"} {
		assert.Contains(t, text, want)
	}
	for i, m := range out {
		if i > 0 && len(m.Parts) == 1 {
			assert.LessOrEqual(t, CharsPerToken(4).Estimate(m), excerptTokens+40, "message %d", i)
			assert.Equal(t, CharsPerToken(4).Estimate(m), cut.tokens[i], "message %d", i)
		}
	}
	assert.Len(t, h[2].Parts[0].Text, len(log), "the history is not written to")
	assert.Empty(t, c.excerpts(stretch{}).messages)
}
