package responses

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/openai/openai-go/v3"
	sdk "github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

func TestResponse(t *testing.T) {
	const thought, called = `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"abc","later":1}`, `{"id":"fc_1","type":"function_call","call_id":"a","name":"read","arguments":"{}","status":"completed"}`
	const listing, listed = `{"id":"sh_1","type":"shell_call","call_id":"s","action":{"commands":["ls"]},"status":"completed"}`, `{"id":"so_1","type":"shell_call_output","call_id":"s","output":[]}`
	const said = `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Found.","annotations":[]}]}`
	client := clientOf(adaptertest.Answers(t, `{"id":"resp_1","status":"completed","output":[`+thought+`,`+called+`],"usage":{"input_tokens":240,"output_tokens":7,"input_tokens_details":{"cached_tokens":200,"cache_write_tokens":30,"cache_write_tokens_details":{"ttl_30m_tokens":10,"ttl_12h_tokens":20}}}}`))
	answer, err := client.Responses.New(context.Background(), sdk.ResponseNewParams{})
	require.NoError(t, err)
	messages := Response(answer)
	assert.Equal(t, "["+thought+","+called+"]", jsonOf(t, Export(messages)), "it is sent back as it came")
	require.Len(t, messages, 1)
	assert.Equal(t, winnow.Message{
		ID: "resp_1", Role: winnow.RoleAssistant, StopReason: "completed", Usage: &winnow.Usage{Input: 10, CacheRead: 200, CacheWrite: 30, LongWrite: 20, Output: 7},
		Parts: []winnow.Part{
			{Kind: winnow.KindThinking, ID: "rs_1", Signature: "abc"},
			{Kind: winnow.KindToolCall, ID: "a", Name: "read", Arguments: json.RawMessage("{}")},
		},
	}, adaptertest.Bare(messages[0]))

	client = clientOf(adaptertest.Answers(t, `{"id":"resp_2","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[`+listing+`,`+listed+`,`+said+`]}`))
	answer, err = client.Responses.New(context.Background(), sdk.ResponseNewParams{})
	require.NoError(t, err)
	messages = Response(answer)
	require.Len(t, messages, 3, "the API ran a tool of its own")
	assert.Equal(t, "resp_2", messages[0].ID)
	assert.Equal(t, "max_output_tokens", messages[2].StopReason)
	assert.Equal(t, "["+listing+","+listed+","+said+"]", jsonOf(t, Export(messages)))

	for status, want := range map[string]string{"failed": "error", "cancelled": "aborted", "completed": "completed"} {
		messages := Response(&sdk.Response{Status: sdk.ResponseStatus(status)})
		assert.Equal(t, []winnow.Message{{Role: winnow.RoleAssistant, StopReason: want}}, messages)
	}
}

func TestSummarizer(t *testing.T) {
	of := func(url string) winnow.Summarizer { return NewSummarizer(*clientOf(url), "gpt-5-mini", 300) }
	const said = `{"type":"message","content":[{"type":"output_text","text":"## Goal\n"},{"type":"output_text","text":"Find the bug."}]}`
	adaptertest.CheckSummarizer(t, of, `{"status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[]},`+said+`]}`, []string{
		`{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[` + said + `]}`,
		`{"status":"failed","output":[]}`,
		`{"status":"completed","output":[{"type":"function_call","call_id":"a","name":"x","arguments":"{}"}]}`,
		`{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"I cannot."}]}]}`,
	}, func(system, prompt string) map[string]any {
		return map[string]any{"model": "gpt-5-mini", "max_output_tokens": 300.0, "store": false, "instructions": system, "input": prompt}
	})
}

// TestErrors reads what the API refuses with through the SDK's own error.
func TestErrors(t *testing.T) {
	adaptertest.CheckErrors[*openai.Error](t, whole, []adaptertest.Refusal{
		{Status: 400, Body: `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorOverflow}},
		{Status: 400, Body: `{"error":{"message":"No tool output found for function call call_1.","type":"invalid_request_error","param":"input","code":null}}`, Want: winnow.ErrorInfo{}},
	})
}
