package questions

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

func says(role winnow.Role, text string) winnow.Message {
	return winnow.Message{Role: role, Parts: []winnow.Part{{Text: text}}}
}

// calls returns a call with its result.
func calls(id, tool, arguments, result string) []winnow.Message {
	r := says(winnow.RoleTool, result)
	r.ToolCallID, r.ToolName = id, tool
	return []winnow.Message{{Role: winnow.RoleAssistant, Parts: []winnow.Part{
		{Kind: winnow.KindToolCall, ID: id, Name: tool, Arguments: json.RawMessage(arguments)}}}, r}
}

func TestClean(t *testing.T) {
	signed := winnow.Part{Kind: winnow.KindThinking, Text: "Hm.", Signature: "c2ln"}
	c := cleaner{keeps: func(p *winnow.Part) bool { return p.Signature == "c2ln" }}
	in := append([]winnow.Message{
		says(winnow.RoleUser, "a\xff\x00b"),
		{Role: winnow.RoleAssistant, Parts: []winnow.Part{signed, {Kind: winnow.KindThinking, Text: "unsigned"}, {Text: " \n"}, {Text: "x"}}},
		{Role: winnow.RoleUser, Parts: []winnow.Part{{Kind: winnow.KindImage, MediaType: "image/png", Width: 2, Height: 3}}},
		{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindOpaque, ID: "srv", Name: "web_search"}}},
	}, calls("toolu:1/é", "mcp.files:read", "\"*** Begin\\u0000 & <end>\"", "")...)
	out := c.clean(in)
	require.Len(t, out, 5, "the message of which nothing stays is gone, and an empty result is not")
	assert.Equal(t, "a\ufffd\ufffdb", out[0].Parts[0].Text)
	assert.Equal(t, []winnow.Part{signed, {Text: "x"}}, out[1].Parts)
	assert.Equal(t, "[An image, image/png 2×3, which is not sent]", out[2].Parts[0].Text)
	call := out[3].Parts[0]
	assert.Equal(t, "mcp_files_read", call.Name)
	assert.Equal(t, "{\"input\":\"*** Begin\ufffd & <end>\"}", string(call.Arguments), "a free text is an object")
	assert.Equal(t, Left{Thinking: 1, Images: 1, Other: 1}, c.left)
}

func TestTools(t *testing.T) {
	history := append(calls("1", "read", `{"path":"a","limit":1}`, ""), calls("2", "read", `{"path":"b","lines":[1],"deep":true,"where":{}}`, "")...)
	tools := toolsOf(append(history, calls("3", "ls", `{}`, "")...))
	require.Len(t, tools, 2)
	assert.JSONEq(t, `{"type":"object","properties":{}}`, string(tools[0].Schema), "no argument was ever given")
	assert.JSONEq(t, `{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"number"},"lines":{"type":"array","items":{}},
		"deep":{"type":"boolean"},"where":{"type":"object"}},"required":["path"]}`, string(tools[1].Schema))
}

// TestProbesOf: code knows the answers from the history.
func TestProbesOf(t *testing.T) {
	rules := says(winnow.RoleUser, "# Rules\n- Short.\n- Never push to the main branch before all of the tests have passed twice.\nEnd.")
	rules.Injected = true
	failed := calls("4", "bash", `{"command":"go test ./x"}`, "ok so far it went\n--- FAIL: TestX, want 4 and got 5\nexit status 1\n")
	failed[1].IsError = true
	broken := calls("3", "edit", `{"path":"y.go"}`, "no such file")
	broken[1].IsError = true
	history := []winnow.Message{rules, says(winnow.RoleUser, "First make the parser faster, please, by half.")}
	for _, more := range [][]winnow.Message{
		calls("1", "edit", `{"path":"old.go"}`, "ok"), calls("2", "write", `{"path":"src/new.go"}`, "ok"), broken, failed,
		calls("5", "TodoWrite", `{"todos":[{"content":"measure","status":"completed"},{"content":"cut the copies","status":"pending"},{"content":"test","status":"pending"}]}`, "ok"),
		{says(winnow.RoleUser, "And now the tests of it, too."), says(winnow.RoleAssistant, "Yes."), says(winnow.RoleUser, "Go on.")},
	} {
		history = append(history, more...)
	}
	want := map[string]struct{ right, wrong, ask string }{
		ProbeFile:    {"src/new.go", "y.go", "Which file did you change last?"},
		ProbePerson:  {"“And now the tests of it, too.”", "Go on.", "the second message"},
		ProbePlan:    {"cut the copies", "measure", "first that is not finished"},
		ProbeFailure: {"--- FAIL: TestX, want 4 and got 5", "exit status 1", "go test ./x"},
		ProbeRule:    {"all of the tests have passed twice", "the weekend", "Never push to the main branch before"},
	}
	probes := probesOf(history)
	require.Len(t, probes, len(want))
	for _, p := range probes {
		w := want[p.Kind]
		assert.True(t, p.Right(w.right), "%s: %v", p.Kind, p.Want)
		assert.False(t, p.Right(w.wrong), "%s: %v", p.Kind, p.Want)
		assert.Contains(t, p.Ask, w.ask)
	}
	assert.Empty(t, probesOf([]winnow.Message{says(winnow.RoleUser, "Hello.")}), "of nothing, nothing is asked")
}

// sessions are recordings of which requests from the middle on have records.
func sessions(name string) (*recording.Session, error) {
	if name == "broken" {
		return nil, errors.New("no session")
	}
	history := []winnow.Message{says(winnow.RoleUser, "Fetch all pages of "+name+".")}
	for i := range 30 {
		text := strings.Repeat(fmt.Sprintf("page %d of %s is as it was\n", i, name), 120)
		history = append(history, calls(fmt.Sprint(i), "fetch", fmt.Sprintf(`{"page":%d}`, i), text)...)
	}
	return &recording.Session{Messages: append(history, says(winnow.RoleAssistant, "Done."))}, nil
}

// TestChoose: the same seed chooses the same questions, spread over the sessions and over the length of each.
func TestChoose(t *testing.T) {
	names := []string{"a", "b", "broken", "c", "d"}
	o := Options{Model: "claude-sonnet-4-5", Window: 60_000, Count: 12, Seed: 1}
	list, found, err := Choose(t.Context(), names, sessions, o)
	require.NoError(t, err)
	assert.Equal(t, 4, found.Sessions)
	assert.Equal(t, 1, found.Unread)
	of := map[string]int{}
	for _, q := range list {
		of[q.Session]++
		assert.Less(t, q.ShortTokens, q.WholeTokens)
		assert.NotEmpty(t, q.LeftOut)
		assert.NotEmpty(t, q.Edits)
		for _, messages := range [][]winnow.Message{q.Whole, q.Short, q.Recall} {
			last := messages[len(messages)-1].Role
			assert.True(t, last == winnow.RoleTool || last == winnow.RoleUser, "the model is next")
		}
		shown := q.LeftOut[0]
		assert.True(t, q.Recallable(t.Context(), &shown), "%s", shown.About)
	}
	assert.Equal(t, map[string]int{"a": 3, "b": 3, "c": 3, "d": 3}, of)
	ids := func(list []*Question) (ids []string) {
		for _, q := range list {
			ids = append(ids, q.ID)
		}
		return ids
	}
	again, _, err := Choose(t.Context(), []string{"d", "c", "broken", "b", "a"}, sessions, o)
	require.NoError(t, err)
	assert.Equal(t, ids(list), ids(again), "whatever the order of the files")
	o.Seed = 2
	other, _, err := Choose(t.Context(), names, sessions, o)
	require.NoError(t, err)
	assert.NotEqual(t, ids(list), ids(other))
	o.Window = 8_000
	none, found, err := Choose(t.Context(), names, sessions, o)
	require.NoError(t, err)
	assert.Empty(t, none)
	assert.NotZero(t, found.TooLarge, "where the whole history does not fit, there is nothing to compare with")
}
