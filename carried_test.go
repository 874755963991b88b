package winnow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/sections"
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

// A file is read or modified if the call did so, and not if it failed.
func TestFilesOfFailedCalls(t *testing.T) {
	result := func(text string, failed bool) *Message {
		return &Message{Role: RoleTool, ToolCallID: "c", IsError: failed, Parts: []Part{{Text: text}}}
	}
	for _, tt := range []struct {
		tool   string
		result *Message
		want   bool
		reason string
	}{
		{"edit", result("The file a.go has been updated.", false), true, "it was"},
		{"edit", result("not found", true), false, "an error"},
		{"edit", result("No replacement was performed.", false), false, "a refusal that is not marked as an error"},
		{"edit", nil, true, "nothing says that it failed"},
		{"edit", result(missingResult, true), true, "nor where the result is lost"},
		{"read", result("package a", false), true, "a file"},
		{"read", result("not found: x\nnot found: y", false), true, "what a file says"},
		{"read", result("File not found: a.go", false), false, "a file that is not there, and no mark of an error"},
		{"read", result("no such file", true), false, "a file that is not there"},
	} {
		history := []Message{callMessage(tt.tool, `{"path":"a.go"}`)}
		if tt.result != nil {
			history = append(history, *tt.result)
		}
		c := carry(sections.Carried{}, &toolcall.Common, history)
		require.Equal(t, tt.want, len(c.Read)+len(c.Modified) == 1, "%s: %s", tt.tool, tt.reason)
	}
}

// Tool Failures lists what the host marks as an error, as OpenClaw does, and nothing else: neither a text nor an exit
// code alone is a failure there.
func TestOnlyMarkedFailuresAreListed(t *testing.T) {
	for _, isError := range []bool{true, false} {
		result := Message{
			Role: RoleTool, ToolCallID: "c", ToolName: "bash", IsError: isError,
			Parts: []Part{{Text: "no rule for x"}}, Details: json.RawMessage(`{"exitCode":2}`),
		}
		c := carry(sections.Carried{}, &toolcall.Common, []Message{callMessage("bash", `{"command":"make"}`), result})
		if !isError {
			assert.Empty(t, c.Failures)
		} else if assert.Len(t, c.Failures, 1) {
			assert.Equal(t, "bash (exitCode=2): no rule for x", c.Failures[0].Line)
		}
	}
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
		{"a wish is not a rule", userMessage("Please use Go."), nil},
		{"a pasted document", userMessage(strings.Repeat("You must never do it. ", 500)), nil},
		{"a sentence without end", userMessage("never " + strings.Repeat("x", 500)), nil},
		{"the host", Message{Role: RoleUser, Injected: true, Parts: []Part{{Text: "You must test. Never skip a phase."}}}, nil},
		{"a pin stays anyway", Message{Role: RoleUser, Pinned: true, Parts: []Part{{Text: "Never push."}}}, nil},
		{"a summary quotes", Message{Role: RoleUser, Summary: true, Parts: []Part{{Text: "Never push."}}}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, carry(sections.Carried{}, &toolcall.Common, []Message{tc.m}).Rules)
		})
	}
	c := carry(sections.Carried{}, &toolcall.Common, []Message{userMessage("Never push."), userMessage("You must test."), userMessage("Never push.")})
	assert.Equal(t, []string{"You must test.", "Never push."}, c.Rules, "what is said again is said once, and newly")
}

func TestFilesOfCalls(t *testing.T) {
	tools := (&ToolOptions{Read: []string{"Peek"}, Modify: []string{"paint"}, PathArguments: []string{"canvas"}}).known()
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
			c := carry(sections.Carried{}, tools, []Message{callMessage(tc.tool, tc.arguments)})
			assert.Equal(t, tc.read, strings.Join(c.Read, " "))
			assert.Equal(t, tc.modified, strings.Join(c.Modified, " "))
		})
	}
}

// Of the failures of one compaction the first are listed, as the reference does; over compactions the newest stay.
func TestFailuresOverCompactions(t *testing.T) {
	var c sections.Carried
	for round := range 4 {
		var m []Message
		for i := range 3 {
			m = append(m, failedResult(fmt.Sprintf("%d-%d", round, i), fmt.Sprintf("failure %d of round %d", i, round)))
		}
		c = carry(c, &toolcall.Common, m)
	}
	layout := c.LayOut(func(string) int { return 0 }, "", 1)
	section := layout.String()
	assert.Equal(t, 8, strings.Count(section, "- exec: "))
	assert.Contains(t, section, "failure 0 of round 3")
	assert.NotContains(t, section, "round 0")
	assert.True(t, strings.HasSuffix(section, "\n- ...and 4 more"), section)
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
	for _, sign := range []string{sections.FailuresHeading, "<modified-files>", sections.UserRulesHeading, digest.IdentifiersHeading} {
		assert.NotContains(t, s.asked[1].Previous, sign, "without the sections of code")
	}
	text := r.Compaction.Summary
	assert.Equal(t, 1, strings.Count(text, "## Tool Failures"))
	assert.Equal(t, 1, strings.Count(text, "<modified-files>"))
	assert.Contains(t, text, "src/file_1.go", "of the first")
	assert.Contains(t, text, "src/file_61.go", "and of the second")
	assert.Equal(t, 1, countSummaries(r.Messages))
}

func TestExcerpts(t *testing.T) {
	truncate := (*TruncateOptions)(nil).withDefaults(charsPerToken(4))
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
	c.older = h
	out := c.read()
	assert.Equal(t, h[0], out[0], "what people say is not cut")
	assert.Equal(t, h[3:], out[3:], "nor what is short")
	args := jsontext.Unquote(out[1].Parts[0].Arguments)
	assert.True(t, json.Valid(out[1].Parts[0].Arguments))
	assert.True(t, strings.HasPrefix(args, `{"path":"a.go"`) && strings.HasSuffix(args, `"mode":"0644"}`), args)
	text := out[2].Parts[0].Text
	for _, want := range []string{"compiling", "error: cannot find module x", "exit status 1"} {
		assert.Contains(t, text, want)
	}
	for i, m := range out[1:] {
		if len(m.Parts) == 1 {
			assert.LessOrEqual(t, CharsPerToken(4).Estimate(m), mostExcerptTokens+40, "message %d", i+1)
		}
	}
	assert.Len(t, h[2].Parts[0].Text, len(log), "the history is not written to")
}
