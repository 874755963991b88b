package adaptertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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
	history := []winnow.Message{question("Look through the logs.")}
	for i := range 10 {
		id, text := fmt.Sprint("call_", i), strings.Repeat("all is well\n", 400)
		if i == 0 {
			text += line + "\n" + text
		}
		history = append(history, callOf(id), result(id, text))
	}
	sent, err := m.Prepare(t.Context(), history)
	require.NoError(t, err)
	require.NotContains(t, sent.Messages[1].Parts[0].Text, line)
	handle := handles.FindStringSubmatch(sent.Messages[1].Parts[0].Text)
	require.NotNil(t, handle, sent.Messages[1].Parts[0].Text)

	url, body := Server(t, 200, strings.ReplaceAll(r.Answer, "HANDLE", handle[1]))
	answer, err := r.Ask(t.Context(), url, sent.Messages, winnow.RecallTool())
	require.NoError(t, err)
	want := map[string]any{}
	text, err := json.Marshal(winnow.RecallTool())
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &want))
	assert.Equal(t, want, r.Tool(*body))

	isOther := func(p winnow.Part) bool { return p.Kind != winnow.KindToolCall }
	calls := slices.DeleteFunc(slices.Clone(answer.Parts), isOther)
	require.Len(t, calls, 1)
	assert.Equal(t, winnow.RecallTool().Name, calls[0].Name)
	history = append(history, answer)
	found, err := m.Recall(t.Context(), history, calls[0].Arguments)
	require.NoError(t, err)
	assert.False(t, found.IsError)
	assert.Equal(t, calls[0].ID, found.ToolCallID)
	history = append(history, found)
	sent, err = m.Prepare(t.Context(), history)
	require.NoError(t, err)
	_, err = r.Ask(t.Context(), url, sent.Messages, winnow.RecallTool())
	require.NoError(t, err)
	next, err := json.Marshal(*body)
	require.NoError(t, err)
	assert.Contains(t, string(next), line)
}
