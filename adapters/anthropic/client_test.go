package anthropic

import (
	"context"
	"encoding/json"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

const answerJSON = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5","stop_reason":"tool_use","content":[
	{"type":"thinking","thinking":"Hm.","signature":"c2ln"},
	{"type":"text","text":"I look.","citations":null},
	{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"a.go","n":1}},
	{"type":"future","x":1}],
	"usage":{"input_tokens":10,"cache_read_input_tokens":200,"cache_creation_input_tokens":30,"output_tokens":4,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20}}}`

func TestResponse(t *testing.T) {
	client := clientOf(adaptertest.Answers(t, answerJSON))
	answer, err := client.Messages.New(context.Background(), sdk.MessageNewParams{MaxTokens: 1})
	require.NoError(t, err)
	m := Response(answer)
	assert.Equal(t, winnow.Message{
		ID: "msg_1", Role: winnow.RoleAssistant, StopReason: "tool_use",
		Usage: &winnow.Usage{Input: 10, CacheRead: 200, CacheWrite: 30, LongWrite: 20, Output: 4},
		Parts: []winnow.Part{
			{Kind: winnow.KindThinking, Text: "Hm.", Signature: "c2ln"},
			{Text: "I look."},
			{Kind: winnow.KindToolCall, ID: "toolu_1", Name: "read", Arguments: json.RawMessage(`{"n":1,"path":"a.go"}`)},
			{Kind: winnow.KindOpaque, Bytes: len(`{"type":"future","x":1}`)},
		},
	}, adaptertest.Bare(m))
	question := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "q"}}}
	assert.Equal(t, jsonOf(t, answer.ToParam()), jsonOf(t, Export([]winnow.Message{question, m})[1]), "it is sent back as the SDK would")
}

func TestSummarizer(t *testing.T) {
	answer := func(stop string) string {
		return `{"role":"assistant","stop_reason":"` + stop + `","content":[{"type":"thinking","thinking":"no","signature":"x"},{"type":"text","text":"## Goal\n"},{"type":"text","text":"Find the bug."}]}`
	}
	of := func(url string) winnow.Summarizer { return NewSummarizer(*clientOf(url), "claude-haiku-4-5", 300) }
	bad := []string{answer("max_tokens"), answer("tool_use"), answer("refusal"), answer("pause_turn"), answer("model_context_window_exceeded"), answer("")}
	adaptertest.CheckSummarizer(t, of, answer("end_turn"), bad, func(system, prompt string) map[string]any {
		return map[string]any{
			"model": "claude-haiku-4-5", "max_tokens": 300.0,
			"system":   []any{map[string]any{"type": "text", "text": system}},
			"messages": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": prompt}}}},
		}
	})
}

// TestErrors reads what the API refuses with through the SDK's own error.
func TestErrors(t *testing.T) {
	adaptertest.CheckErrors[*sdk.Error](t, whole, []adaptertest.Refusal{
		{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 215000 tokens > 200000 maximum"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 215000, Limit: 200000}},
		{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 190000 + 20000 > 200000, decrease input length or ` + "`max_tokens`" + ` and try again"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 210000, Limit: 200000}},
		{Status: 413, Body: `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorBytes}},
		{Status: 429, Body: `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 50,000 input tokens per minute"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorRateLimit}},
		{Status: 529, Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorOverloaded}},
		{Status: 401, Body: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorAuth}},
		{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: unexpected ` + "`tool_use_id`" + ` found in ` + "`tool_result`" + ` blocks: a"}}`, Want: winnow.ErrorInfo{}},
	})
	url, _ := adaptertest.Server(t, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 215000 tokens > 200000 maximum"}}`)
	_, err := whole(t.Context(), url, nil)
	var typed *sdk.Error
	require.ErrorAs(t, err, &typed)
	typed.Request, typed.Response = nil, nil // Error panics then
	assert.Equal(t, winnow.ErrorOverflow, winnow.ClassifyError(err).Class, "read from a log")
}
