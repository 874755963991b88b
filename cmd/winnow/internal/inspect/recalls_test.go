package inspect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// What the model asked for again stands beside the request that had the answer, as text and on the page.
func TestRecallsAreShown(t *testing.T) {
	text := func(s string) []winnow.Part { return []winnow.Part{{Text: s}} }
	call := func(id, arguments string) winnow.Message {
		return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindToolCall, ID: id, Name: "recall", Arguments: []byte(arguments)}}}
	}
	r, err := replayed([]winnow.Message{
		{Role: winnow.RoleUser, Parts: text("What was the limit?")},
		call("a", `{"words":"<b>limit"}`),
		{Role: winnow.RoleTool, ToolCallID: "a", Parts: text("<recalled words=\"limit\">\n" + strings.Repeat("the limit is 17\n", 20) + "</recalled>")},
		call("b", `{"handle":"12345678"}`),
		{Role: winnow.RoleTool, ToolCallID: "b", ToolName: "recall", IsError: true, Parts: text("[recall: nothing]")},
		{Role: winnow.RoleAssistant, Parts: text("17.")},
	}, 20_000)
	require.NoError(t, err)
	require.Len(t, r.Requests, 3)
	assert.Empty(t, r.Requests[0].Recalls)
	assert.Len(t, r.Requests[1].Recalls, 1)
	assert.True(t, r.Requests[2].Recalls[0].Failed)
	var b strings.Builder
	require.NoError(t, writeText(&b, r))
	assert.Contains(t, b.String(), `recalled {"words":"<b>limit"}: `)
	assert.Contains(t, b.String(), `recalled {"handle":"12345678"}: nothing was found`)
	assert.Contains(t, b.String(), "recalls     2 answers of ")
	var page strings.Builder
	require.NoError(t, writePage(&page, r))
	assert.Contains(t, page.String(), "<b>Recalled</b> {&#34;words&#34;:&#34;&lt;b&gt;limit&#34;}: ")
}
