package adaptertest

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Recall is how an SDK calls [winnow.RecallTool].
type Recall struct {
	// Answer is a body in which the model calls the tool with {"handle":"HANDLE","pattern":"limit"}.
	Answer string
	// Tool returns the tool of a request: its name, its description and its schema as "parameters".
	Tool func(body map[string]any) map[string]any
	// Ask sends a request with the tool.
	Ask func(ctx context.Context, url string, messages []winnow.Message, tool winnow.Tool) (winnow.Message, error)
}

// CheckRecall lets a model ask for a line of a result that a record stands for. The tool reaches the provider
// unchanged, its call comes back with its handle, and the next request has the line.
func CheckRecall(t *testing.T, r Recall) {
	t.Helper()
	m, err := winnow.New(8_000, &winnow.Options{Recall: true, FoldAbove: -1})
	require.NoError(t, err)
	const line = "the retry limit is seventeen"
	history := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Look through the logs."}}}}
	for i := range 10 {
		id, text := fmt.Sprint("call_", i), strings.Repeat("all is well\n", 400)
		if i == 0 {
			text += line + "\n" + text
		}
		call := winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: "exec",
			Arguments: json.RawMessage(`{"command":"./check"}`)}
		history = append(history, winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{call}},
			winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: "exec", Parts: []winnow.Part{{Text: text}}})
	}
	sent, err := m.Prepare(t.Context(), history)
	require.NoError(t, err)
	require.NotContains(t, sent.Messages[1].Parts[0].Text, line)
	handle := regexp.MustCompile(`recall (\d+)`).FindStringSubmatch(sent.Messages[1].Parts[0].Text)
	require.NotNil(t, handle, sent.Messages[1].Parts[0].Text)

	url, body := Server(t, 200, strings.ReplaceAll(r.Answer, "HANDLE", handle[1]))
	answer, err := r.Ask(t.Context(), url, sent.Messages, winnow.RecallTool())
	require.NoError(t, err)
	want := map[string]any{}
	text, err := json.Marshal(winnow.RecallTool())
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &want))
	assert.Equal(t, want, r.Tool(*body))

	history = append(history, answer)
	calls := 0
	for _, p := range answer.Parts {
		if p.Kind != winnow.KindToolCall {
			continue
		}
		calls++
		assert.Equal(t, winnow.RecallTool().Name, p.Name)
		result, err := m.Recall(t.Context(), history, p.Arguments)
		require.NoError(t, err)
		assert.False(t, result.IsError)
		assert.Equal(t, p.ID, result.ToolCallID)
		history = append(history, result)
	}
	require.Equal(t, 1, calls)
	sent, err = m.Prepare(t.Context(), history)
	require.NoError(t, err)
	_, err = r.Ask(t.Context(), url, sent.Messages, winnow.RecallTool())
	require.NoError(t, err)
	next, err := json.Marshal(*body)
	require.NoError(t, err)
	assert.Contains(t, string(next), line)
}
